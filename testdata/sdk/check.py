#!/usr/bin/env python3
"""Checks emitted tool definitions against the typed request models of the providers' own SDKs.

Nothing is sent. Usage:

    pip install -r requirements.txt
    check.py <provider> <file>...     # openai, openai-responses, anthropic, gemini, gemini-openapi
    check.py <folder>                 # every *.<provider>.json in it

A file holds the value of the provider's `tools` field.
"""

import json
import pathlib
import sys
from importlib.metadata import version

from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict, get_type_hints


def strict(typed):
    """The same TypedDict, refusing keys it does not have; nested ones as they are."""
    made = TypedDict(typed.__name__, dict(get_type_hints(typed, include_extras=True)), total=False)
    made.__required_keys__ = typed.__required_keys__
    return with_config(ConfigDict(extra="forbid"))(made)


def adapters():
    from anthropic.types import ToolParam
    from google.genai.types import Tool
    from openai.types.chat import ChatCompletionFunctionToolParam
    from openai.types.responses import FunctionToolParam
    from openai.types.shared_params import FunctionDefinition

    chat, function = TypeAdapter(ChatCompletionFunctionToolParam), TypeAdapter(strict(FunctionDefinition))
    flat, flat_keys = TypeAdapter(FunctionToolParam), TypeAdapter(strict(FunctionToolParam))
    block, block_keys = TypeAdapter(ToolParam), TypeAdapter(strict(ToolParam))

    def openai(tool):
        chat.validate_python(tool)
        function.validate_python(tool["function"])

    def responses(tool):
        flat.validate_python(tool)
        flat_keys.validate_python(tool)

    def anthropic(tool):
        block.validate_python(tool)
        block_keys.validate_python(tool)

    def gemini(tool):
        # Pydantic models that forbid what they do not know, all the way down for `parameters`.
        made = Tool.model_validate(tool)
        assert len(made.function_declarations) == len(tool["functionDeclarations"])
        for declared in made.function_declarations:
            assert declared.name and not (declared.parameters and declared.parameters_json_schema)

    return {
        "openai": openai,
        "openai-responses": responses,
        "anthropic": anthropic,
        "gemini": gemini,
        "gemini-openapi": gemini,
    }


def main(args):
    checks = adapters()
    if len(args) == 1:
        files = sorted(pathlib.Path(args[0]).glob("*.json"))
        work = [(path.name.split(".")[-2], path) for path in files]
    else:
        work = [(args[0], pathlib.Path(path)) for path in args[1:]]
    failed = count = 0
    for provider, path in work:
        if provider not in checks:
            continue
        for tool in json.loads(path.read_text()):
            count += len(tool.get("functionDeclarations", [0]))
            try:
                checks[provider](tool)
            except Exception as error:  # noqa: BLE001
                failed += 1
                print(f"{path.name}: {json.dumps(tool)[:200]}\n  {error}", file=sys.stderr)
    names = ", ".join(f"{name} {version(name)}" for name in ("openai", "anthropic", "google-genai"))
    print(f"{count} definitions in {len(work)} files, {failed} refused ({names})")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
