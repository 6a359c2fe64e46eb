"""The official SDK for Python, 1.x. `mcp_1.py older http URL`, or `… stdio COMMAND ARG…`."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl

from operations import addressed, named, tell


@asynccontextmanager
async def streams(kind, target):
    if kind == "http":
        async with streamable_http_client(target[0]) as (read, write, _):
            yield read, write
    else:
        command = StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
        async with stdio_client(command) as both:
            yield both


class Session:
    def __init__(self, session, version):
        self.session, self.version = session, version

    async def tools(self):
        return [tool.name for tool in (await self.session.list_tools()).tools]

    async def call(self, name, arguments):
        result = await self.session.call_tool(name, arguments)
        return result.content[0].text, result.isError

    async def progress(self, name, heard):
        async def hear(done, total, _):
            heard.append((done, total))

        await self.session.call_tool(name, {}, progress_callback=hear)

    async def cancel(self, name, arguments, waits):
        # It has the notification, and leaves it to its user to know the id: requests are counted.
        numbers = []

        async def begin():
            numbers.append(self.session._request_id)
            await self.call(name, arguments)

        task = asyncio.create_task(begin())
        await waits()
        params = types.CancelledNotificationParams(requestId=numbers[0], reason="no longer needed")
        await self.session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
        task.cancel()

    async def resource(self, own):
        listed = (await self.session.list_resources()).resources
        uri = addressed([resource.uri for resource in listed], own)
        return (await self.session.read_resource(AnyUrl(uri))).contents[0].text

    async def prompt(self, own, arguments):
        listed = (await self.session.list_prompts()).prompts
        name = named([prompt.name for prompt in listed], own)
        return (await self.session.get_prompt(name, arguments)).messages[0].content.text


async def main(era, kind, *target):
    async with streams(kind, list(target)) as (read, write), ClientSession(read, write) as session:
        agreed = (await session.initialize()).protocolVersion
        await tell("mcp", era, Session(session, agreed))


asyncio.run(main(*sys.argv[1:]))
