"""The OpenAI Agents SDK's half that speaks to MCP servers. `openai_agents.py newer http URL`, or `… stdio COMMAND ARG…`."""

import asyncio
import os
import sys

from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

from operations import PATIENCE, addressed, cancel_task, named, tell


class Session:
    def __init__(self, server):
        self.server, self.version = server, server.session.protocol_version

    async def tools(self):
        return [tool.name for tool in await self.server.list_tools()]

    async def call(self, name, arguments):
        result = await self.server.call_tool(name, arguments)
        return result.content[0].text, result.is_error

    cancel = cancel_task

    async def resource(self, own):
        listed = (await self.server.list_resources()).resources
        uri = addressed([resource.uri for resource in listed], own)
        return (await self.server.read_resource(uri)).contents[0].text

    async def prompt(self, own, arguments):
        listed = (await self.server.list_prompts()).prompts
        name = named([prompt.name for prompt in listed], own)
        return (await self.server.get_prompt(name, arguments)).messages[0].content.text


async def main(era, kind, first, *rest):
    if kind == "http":
        place = {"url": first}
        one = MCPServerStreamableHttp(place, client_session_timeout_seconds=PATIENCE)
        another = MCPServerStreamableHttp(place, client_session_timeout_seconds=PATIENCE)
        async with one, another:
            session = Session(one)
            session.watcher = Session(another)
            await tell("openai-agents", era, session)
    else:
        place = {"command": first, "args": list(rest), "env": dict(os.environ)}
        async with MCPServerStdio(place, client_session_timeout_seconds=PATIENCE) as server:
            await tell("openai-agents", era, Session(server))


asyncio.run(main(*sys.argv[1:]))
