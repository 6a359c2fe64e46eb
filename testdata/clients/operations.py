"""What every client in Python is made to do, and how it tells the outcome.

A driver gives `tell` a session: `version` is the protocol's version that was agreed upon, and each method is an operation
that its client offers. What it does not have is left out. One JSON object on stdout, `passed` or what went wrong, as
`rmcp-client` of `crates/everything-mcp` tells it.
"""

import asyncio
import json
from importlib.metadata import version

PATIENCE = 30
# Between two looks at what cannot be awaited.
LOOK = 0.02


async def tell(package, era, session):
    told = {"client": f"{package} {version(package)}, {era} era"}
    if (session.version < "2026") != (era == "older"):
        raise SystemExit(f"{package} speaks {session.version}")
    for name, operation in OPERATIONS.items():
        method, work = operation
        if not hasattr(session, method):
            continue
        try:
            async with asyncio.timeout(PATIENCE):
                await work(session)
            told[name] = "passed"
        except TimeoutError:
            told[name] = "too late"
        except Exception as error:  # whichever: it is told
            told[name] = repr(error)
    print(json.dumps(told, ensure_ascii=False), flush=True)


def check(good, *seen):
    if not good:
        raise AssertionError(*seen)


def named(names, own):
    """The name under which what a server calls so is shown."""
    found = [name for name in names if name == own or name.endswith(f"_{own}")]
    check(len(found) == 1, f"{own} is not one of {names}")
    return found[0]


async def called(session, own, **arguments):
    """The text of a tool's result, and whether it says that it failed."""
    return await session.call(named(await session.tools(), own), arguments)


async def list_tools(session):
    names = await session.tools()
    check(len(names) > 20, names)


async def call(session):
    text = await called(session, "echo", message="grüße")
    check(text == ("grüße", False), text)


async def error(session):
    text, failed = await called(session, "test_error_handling")
    check(failed and "intentionally" in text, text, failed)


async def progress(session):
    heard = []
    await session.progress(named(await session.tools(), "test_tool_with_progress"), heard)
    while len(heard) < 3:
        await asyncio.sleep(LOOK)
    # Each notification may have a task of its own.
    check(sorted(heard) == [(0, 100), (50, 100), (100, 100)], heard)


async def cancel(session):
    name = named(await session.tools(), "wait")

    async def waits():
        await until(session, "waiting 1 cancelled 0")

    await session.cancel(name, {"ms": 600_000}, waits)
    await until(session, "waiting 0 cancelled 1")


async def cancel_task(session, name, arguments, waits):
    """The way of clients that tell the server when the task of a call is cancelled."""
    task = asyncio.create_task(session.call(name, arguments))
    try:
        await waits()
    finally:
        task.cancel()
    await asyncio.wait([task])


async def until(session, state):
    # Some ask for one thing at a time.
    session = getattr(session, "watcher", session)
    while (await called(session, "waits"))[0] != state:
        await asyncio.sleep(LOOK)


async def resource(session):
    text = await session.resource("test://static-text")
    check(text == "This is the content of the static text resource.", text)


def addressed(uris, own):
    """The address under which what a server has at this one is shown."""
    found = [str(uri) for uri in uris if str(uri).endswith(own)]
    check(len(found) == 1, f"{own} is not one of {uris}")
    return found[0]


async def prompt(session):
    text = await session.prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
    check(text == "Prompt with arguments: arg1='a', arg2='b'", text)


# The method that a session has when its client offers the operation.
OPERATIONS = {
    "list": ("tools", list_tools),
    "call": ("call", call),
    "error": ("call", error),
    "progress": ("progress", progress),
    "cancel": ("cancel", cancel),
    "resource": ("resource", resource),
    "prompt": ("prompt", prompt),
}
