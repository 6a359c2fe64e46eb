#!/usr/bin/env python3
"""Lets the providers' own SDKs read the replies of a model server, streamed and whole.

Takes the server's address; asks it once by each SDK and in each way. Prints one line of JSON for each: what the SDK
understood, in the same words for all: text, calls with their arguments, and tokens.
"""

import json
import sys

import ollama
from anthropic import Anthropic
from google.genai import Client as Gemini
from openai import OpenAI

HELLO = [{"role": "user", "content": "hello"}]
ASK = {"model": "scripted", "messages": HELLO}


def told(sdk, way, text, calls, tokens, **more):
    calls = [[name, json.loads(given) if isinstance(given, str) else given] for name, given in calls]
    print(json.dumps({"sdk": sdk, "way": way, "text": text, "calls": calls, "tokens": tokens, **more}))


def chat(url):
    client = OpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0)
    whole = client.chat.completions.create(**ASK)
    message, usage = whole.choices[0].message, whole.usage
    calls = [(call.function.name, call.function.arguments) for call in message.tool_calls]
    told("openai", "whole", message.content, calls, [usage.prompt_tokens, usage.completion_tokens])
    with client.chat.completions.stream(**ASK, stream_options={"include_usage": True}) as stream:
        whole = stream.get_final_completion()
    message, usage = whole.choices[0].message, whole.usage
    calls = [(call.function.name, call.function.arguments) for call in message.tool_calls]
    told("openai", "streamed", message.content, calls, [usage.prompt_tokens, usage.completion_tokens])


def responses(url):
    client = OpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0)
    ask = {"model": "scripted", "input": "hello"}
    with client.responses.stream(**ask) as stream:
        streamed = stream.get_final_response()
    for way, whole in ("whole", client.responses.create(**ask)), ("streamed", streamed):
        calls = [(item.name, item.arguments) for item in whole.output if item.type == "function_call"]
        usage = whole.usage
        spaces = [item.namespace for item in whole.output if item.type == "function_call"]
        tokens = [usage.input_tokens, usage.output_tokens]
        told("openai-responses", way, whole.output_text, calls, tokens, namespaces=spaces)


def anthropic(url):
    client = Anthropic(api_key="none", base_url=url, max_retries=0)
    with client.messages.stream(**ASK, max_tokens=100) as stream:
        streamed = stream.get_final_message()
    for way, whole in ("whole", client.messages.create(**ASK, max_tokens=100)), ("streamed", streamed):
        text = "".join(block.text for block in whole.content if block.type == "text")
        calls = [(block.name, block.input) for block in whole.content if block.type == "tool_use"]
        told("anthropic", way, text, calls, [whole.usage.input_tokens, whole.usage.output_tokens])


def gemini(url):
    client = Gemini(api_key="none", http_options={"base_url": url})
    ask = {"model": "scripted", "contents": "hello"}
    whole = [client.models.generate_content(**ask)]
    for way, pieces in ("whole", whole), ("streamed", list(client.models.generate_content_stream(**ask))):
        parts = [part for piece in pieces for part in piece.candidates[0].content.parts or []]
        text = "".join(part.text for part in parts if part.text and not part.thought)
        calls = [(part.function_call.name, part.function_call.args) for part in parts if part.function_call]
        usage = pieces[-1].usage_metadata
        told("gemini", way, text, calls, [usage.prompt_token_count, usage.candidates_token_count])


def local(url):
    client = ollama.Client(host=url)
    for way, pieces in ("whole", [client.chat(**ASK)]), ("streamed", list(client.chat(**ASK, stream=True))):
        text = "".join(piece.message.content or "" for piece in pieces)
        calls = [call.function for piece in pieces for call in piece.message.tool_calls or []]
        calls = [(call.name, dict(call.arguments)) for call in calls]
        told("ollama", way, text, calls, [pieces[-1].prompt_eval_count, pieces[-1].eval_count])


if __name__ == "__main__":
    for ask_by in chat, responses, anthropic, gemini, local:
        ask_by(sys.argv[1])
