"""LangChain's adapters, which make LangChain's own tools, messages and blobs of what a server has.
`langchain_tools.py older http URL`, or `… stdio COMMAND ARG…`."""

import asyncio
import os
import sys

from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.prompts import load_mcp_prompt
from langchain_mcp_adapters.resources import load_mcp_resources
from langchain_mcp_adapters.tools import load_mcp_tools

from operations import addressed, named, tell


class Session:
    def __init__(self, session, version, callbacks, heard):
        self.session, self.version, self.callbacks, self.heard = session, version, callbacks, heard

    async def loaded(self):
        return await load_mcp_tools(self.session, callbacks=self.callbacks, handle_tool_errors=True)

    async def tools(self):
        return [tool.name for tool in await self.loaded()]

    async def call(self, name, arguments):
        tool = next(tool for tool in await self.loaded() if tool.name == name)
        message = await tool.ainvoke({"type": "tool_call", "id": "1", "name": name, "args": arguments})
        return message.content[0]["text"], message.status == "error"

    async def progress(self, name, heard):
        self.heard.append(heard)
        await self.call(name, {})

    async def resource(self, own):
        listed = (await self.session.list_resources()).resources
        uri = addressed([resource.uri for resource in listed], own)
        return (await load_mcp_resources(self.session, uris=uri))[0].as_string()

    async def prompt(self, own, arguments):
        # The adapters list no prompts.
        listed = (await self.session.list_prompts()).prompts
        name = named([prompt.name for prompt in listed], own)
        return (await load_mcp_prompt(self.session, name, arguments=arguments))[0].content


async def main(era, kind, first, *rest):
    heard = []

    async def hear(done, total, message, context):
        for each in heard:
            each.append((done, total))

    callbacks = Callbacks(on_progress=hear)
    if kind == "http":
        place = {"transport": "http", "url": first}
    else:
        place = {"transport": "stdio", "command": first, "args": list(rest), "env": dict(os.environ)}
    client = MultiServerMCPClient({"kitbag": place}, callbacks=callbacks)
    async with client.session("kitbag", auto_initialize=False) as session:
        agreed = (await session.initialize()).protocolVersion
        await tell("langchain-mcp-adapters", era, Session(session, agreed, callbacks, heard))


asyncio.run(main(*sys.argv[1:]))
