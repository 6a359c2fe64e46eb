#!/usr/bin/env python3
"""Gives emitted tool definitions to the providers' own SDKs.

Reads one request a line: {"label": …, "provider": …, "tools": …}, where `tools` is the value of the provider's
field of that name. Each is checked in two ways:

- the typed request models take it, and know every one of its keys;
- the client sends it in a request as it is.

Nothing leaves this process: a transport records what would be sent, and connecting is made impossible.
Prints one line of JSON with the counts; the first that were refused are told on stderr, and the exit code is 1.
"""

import json
import socket
import sys
from importlib.metadata import version

import httpx2
from anthropic import Anthropic
from anthropic.types import ToolParam
from anthropic.types.tool_param import InputSchemaTyped
from google.genai import Client as Gemini
from google.genai.types import Tool
from openai import OpenAI
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from openai.types.shared_params import FunctionDefinition
from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict, get_type_hints

NOWHERE = "http://127.0.0.1:9"
MOST_TOLD = 50
HELLO = [{"role": "user", "content": "hello"}]


def no_network(*_):
    raise OSError("something was sent")


socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = no_network


def closed(typed):
    """An adapter of the same TypedDict that refuses keys it does not have; nested ones as they are."""
    made = TypedDict(typed.__name__, dict(get_type_hints(typed, include_extras=True)), total=False)
    made.__required_keys__ = typed.__required_keys__
    return TypeAdapter(with_config(ConfigDict(extra="forbid"))(made))


class Recorder:
    """A connection that keeps the last request and gives back a canned answer."""

    def __init__(self):
        self.http = httpx2.Client(transport=httpx2.MockTransport(self.record))

    def record(self, request):
        self.sent = json.loads(request.content)
        return httpx2.Response(200, json=self.answer)

    def tools(self, answer, send):
        """The `tools` of the request that `send` makes."""
        self.sent, self.answer = None, answer
        send()
        return self.sent["tools"]


class OpenAiChat:
    models = TypeAdapter(ChatCompletionFunctionToolParam), closed(ChatCompletionFunctionToolParam)
    function = closed(FunctionDefinition)

    def __init__(self, recorder):
        client = OpenAI(api_key="none", base_url=NOWHERE, http_client=recorder.http, max_retries=0)
        self.create, self.recorder = client.chat.completions.create, recorder

    def type(self, tool):
        for model in self.models:
            model.validate_python(tool)
        self.function.validate_python(tool["function"])

    def send(self, tools):
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": []}
        return self.recorder.tools(answer, lambda: self.create(model="m", messages=HELLO, tools=tools))


class OpenAiResponses:
    models = TypeAdapter(FunctionToolParam), closed(FunctionToolParam)

    def __init__(self, recorder):
        client = OpenAI(api_key="none", base_url=NOWHERE, http_client=recorder.http, max_retries=0)
        self.create, self.recorder = client.responses.create, recorder

    def type(self, tool):
        for model in self.models:
            model.validate_python(tool)

    def send(self, tools):
        answer = {"id": "1", "object": "response", "created_at": 0, "model": "m", "output": []}
        return self.recorder.tools(answer, lambda: self.create(model="m", input="hello", tools=tools))


class AnthropicMessages:
    models = TypeAdapter(ToolParam), closed(ToolParam)
    # The model above takes any table as well, the API does not.
    schema = TypeAdapter(InputSchemaTyped)

    def __init__(self, recorder):
        client = Anthropic(api_key="none", base_url=NOWHERE, http_client=recorder.http, max_retries=0)
        self.create, self.recorder = client.messages.create, recorder

    def type(self, tool):
        for model in self.models:
            model.validate_python(tool)
        self.schema.validate_python(tool["input_schema"])

    def send(self, tools):
        answer = {"id": "1", "type": "message", "role": "assistant", "content": [], "model": "m"}
        answer |= {"stop_reason": "end_turn", "usage": {"input_tokens": 0, "output_tokens": 0}}
        ask = {"model": "m", "max_tokens": 1, "messages": HELLO, "tools": tools}
        return self.recorder.tools(answer, lambda: self.create(**ask))


class GeminiContent:
    def __init__(self, recorder):
        client = Gemini(api_key="none", http_options={"base_url": NOWHERE, "httpx_client": recorder.http})
        self.generate, self.recorder = client.models.generate_content, recorder

    def type(self, tool):
        # Models that forbid what they do not know, all the way down for `parameters`.
        for declared in Tool.model_validate(tool).function_declarations:
            assert declared.name and not (declared.parameters and declared.parameters_json_schema)

    def send(self, tools):
        config = {"tools": tools, "automatic_function_calling": {"disable": True}}
        ask = {"model": "m", "contents": "hello", "config": config}
        return [own_words(tool) for tool in self.recorder.tools({"candidates": []}, lambda: self.generate(**ask))]


def own_words(tool):
    """This SDK's spelling turned into ours: its API takes both."""
    for declared in tool["functionDeclarations"]:
        if "parameters_json_schema" in declared:
            declared["parametersJsonSchema"] = declared.pop("parameters_json_schema")
        if "parameters" in declared:
            declared["parameters"] = own_schema(declared["parameters"])
    return tool


def own_schema(schema):
    own = {}
    for keyword, value in schema.items():
        words = keyword.split("_")
        keyword = words[0] + "".join(word.capitalize() for word in words[1:])
        if keyword == "type":
            value = value.lower()
        elif keyword == "properties":
            value = {name: own_schema(inner) for name, inner in value.items()}
        elif keyword == "items":
            value = own_schema(value)
        elif keyword == "anyOf":
            value = [own_schema(inner) for inner in value]
        own[keyword] = value
    return own


def main():
    recorder = Recorder()
    gemini = GeminiContent(recorder)
    sdks = {
        "openai": OpenAiChat(recorder),
        "openai-responses": OpenAiResponses(recorder),
        "anthropic": AnthropicMessages(recorder),
        "gemini": gemini,
        "gemini-openapi": gemini,
    }
    counts = {"requests": 0, "definitions": 0, "refused": 0}

    def refuse(label, why, tool):
        counts["refused"] += 1
        if counts["refused"] <= MOST_TOLD:
            print(f"{label}: {why}\n  {json.dumps(tool)[:400]}", file=sys.stderr)

    for line in sys.stdin:
        request = json.loads(line)
        label, sdk, tools = request["label"], sdks[request["provider"]], request["tools"]
        counts["requests"] += 1
        for tool in tools:
            counts["definitions"] += len(tool.get("functionDeclarations", [tool]))
            try:
                sdk.type(tool)
            except Exception as error:  # noqa: BLE001
                refuse(label, error, tool)
        try:
            arrived = sdk.send(tools)
        except Exception as error:  # noqa: BLE001
            refuse(label, f"not sent: {error!r}", tools[0])
            continue
        given, arrived = flat(tools), flat(arrived)
        if len(arrived) != len(given):
            refuse(label, f"{len(given)} given, {len(arrived)} arrived", arrived)
        for own, came in zip(given, arrived):
            if own != came:
                refuse(label, f"arrived as {json.dumps(came)}", own)
    versions = {name: version(name) for name in ("openai", "anthropic", "google-genai")}
    print(json.dumps(counts | {"sdks": versions}))
    return 1 if counts["refused"] else 0


def flat(tools):
    """Each definition by itself."""
    return [one for tool in tools for one in tool.get("functionDeclarations", [tool])]


if __name__ == "__main__":
    sys.exit(main())
