"""FastMCP's client, 4.x. `fastmcp_4.py older|newer http URL`, or `… stdio COMMAND ARG…`."""

import asyncio
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from operations import addressed, cancel_task, named, tell


class Session:
    def __init__(self, client):
        self.client, self.version = client, client.protocol_version

    async def tools(self):
        return [tool.name for tool in await self.client.list_tools()]

    async def call(self, name, arguments):
        result = await self.client.call_tool(name, arguments, raise_on_error=False)
        return result.content[0].text, result.is_error

    async def progress(self, name, heard):
        async def hear(done, total, _):
            heard.append((done, total))

        await self.client.call_tool(name, {}, progress_handler=hear)

    cancel = cancel_task

    async def resource(self, own):
        uri = addressed([resource.uri for resource in await self.client.list_resources()], own)
        return (await self.client.read_resource(uri))[0].text

    async def prompt(self, own, arguments):
        name = named([prompt.name for prompt in await self.client.list_prompts()], own)
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text


async def main(era, kind, first, *rest):
    target = first if kind == "http" else StdioTransport(first, list(rest), env=dict(os.environ))
    mode = "legacy" if era == "older" else "auto"
    async with Client(target, mode=mode) as client:
        await tell("fastmcp-slim", era, Session(client))


asyncio.run(main(*sys.argv[1:]))
