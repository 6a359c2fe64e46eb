"""The official SDK for Python, 2.x. `mcp_2.py older|newer http URL`, or `… stdio COMMAND ARG…`."""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters

from operations import addressed, cancel_task, named, tell


class Session:
    def __init__(self, client):
        self.client, self.version = client, client.protocol_version

    async def tools(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, name, arguments):
        result = await self.client.call_tool(name, arguments)
        return result.content[0].text, result.is_error

    async def progress(self, name, heard):
        async def hear(done, total, _):
            heard.append((done, total))

        await self.client.call_tool(name, {}, progress_callback=hear)

    cancel = cancel_task

    async def resource(self, own):
        listed = (await self.client.list_resources()).resources
        uri = addressed([resource.uri for resource in listed], own)
        return (await self.client.read_resource(uri)).contents[0].text

    async def prompt(self, own, arguments):
        listed = (await self.client.list_prompts()).prompts
        name = named([prompt.name for prompt in listed], own)
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text


async def main(era, kind, first, *rest):
    command = StdioServerParameters(command=first, args=list(rest), env=dict(os.environ))
    mode = "legacy" if era == "older" else "auto"
    async with Client(first if kind == "http" else command, mode=mode) as client:
        await tell("mcp", era, Session(client))


asyncio.run(main(*sys.argv[1:]))
