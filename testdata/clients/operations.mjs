// What every client in JavaScript is made to do, and how it tells the outcome. A driver gives `tell` a session: `version` is
// the protocol's version that was agreed upon, and each method is an operation that its client offers. What it does not have
// is left out. One JSON object on stdout, `passed` or what went wrong, as `rmcp-client` of `crates/everything-mcp` tells it.

import { deepStrictEqual as same, ok } from 'node:assert';
import { readFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';

const PATIENCE = 30_000;
// Between two looks at what cannot be awaited.
const LOOK = 20;

export async function tell(name, era, session) {
    const told = { client: `${name} ${installed(name)}, ${era} era` };
    if (session.version && session.version < '2026' !== (era === 'older')) throw new Error(`${name} speaks ${session.version}`);
    for (const [operation, [method, work]] of Object.entries(OPERATIONS)) {
        if (!session[method]) continue;
        told[operation] = await Promise.race([
            work(session).then(() => 'passed', error => `${error}`),
            after(PATIENCE, 'too late', { ref: false }),
        ]);
    }
    console.log(JSON.stringify(told));
}

// Its version, as it is installed beside the driver.
function installed(name) {
    return JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;
}

// The name under which what a server calls so is shown.
export function named(names, own) {
    const found = names.filter(name => name === own || name.endsWith(`_${own}`));
    ok(found.length === 1, `${own} is not one of ${names}`);
    return found[0];
}

// The address under which what a server has at this one is shown.
export function addressed(uris, own) {
    const found = uris.filter(uri => uri.endsWith(own));
    ok(found.length === 1, `${own} is not one of ${uris}`);
    return found[0];
}

// The text of a tool's result, and whether it says that it failed.
const called = async (session, own, args = {}) => session.call(named(await session.tools(), own), args);

async function until(session, state) {
    while ((await called(session, 'waits'))[0] !== state) await after(LOOK);
}

async function list(session) {
    const names = await session.tools();
    ok(names.length > 20, `${names}`);
}

async function call(session) {
    same(await called(session, 'echo', { message: 'grüße' }), ['grüße', false]);
}

async function error(session) {
    const [text, failed] = await called(session, 'test_error_handling');
    ok(failed && text.includes('intentionally'), text);
}

async function progress(session) {
    const heard = [];
    await session.progress(named(await session.tools(), 'test_tool_with_progress'), heard);
    while (heard.length < 3) await after(LOOK);
    same(heard, [[0, 100], [50, 100], [100, 100]]);
}

async function cancel(session) {
    const name = named(await session.tools(), 'wait');
    await session.cancel(name, { ms: 600_000 }, () => until(session, 'waiting 1 cancelled 0'));
    await until(session, 'waiting 0 cancelled 1');
}

async function resource(session) {
    same(await session.resource('test://static-text'), 'This is the content of the static text resource.');
}

async function prompt(session) {
    const text = await session.prompt('test_prompt_with_arguments', { arg1: 'a', arg2: 'b' });
    same(text, "Prompt with arguments: arg1='a', arg2='b'");
}

// The method that a session has when its client offers the operation.
const OPERATIONS = {
    list: ['tools', list],
    call: ['call', call],
    error: ['call', error],
    progress: ['progress', progress],
    cancel: ['cancel', cancel],
    resource: ['resource', resource],
    prompt: ['prompt', prompt],
};

// A session of a client on the official SDK, whose two generations are used alike.
export class Session {
    constructor(client, version) {
        this.client = client;
        this.version = version;
    }

    request(params, options) {
        return this.client.callTool(params, options);
    }

    async tools() {
        return (await this.client.listTools()).tools.map(tool => tool.name);
    }

    async call(name, args) {
        const result = await this.request({ name, arguments: args });
        return [result.content[0].text, result.isError === true];
    }

    async progress(name, heard) {
        const onprogress = ({ progress, total }) => heard.push([progress, total]);
        await this.request({ name, arguments: {} }, { onprogress });
    }

    async cancel(name, args, waits) {
        const stop = new AbortController();
        const ended = this.request({ name, arguments: args }, { signal: stop.signal }).catch(() => {});
        await waits();
        stop.abort('no longer needed');
        await ended;
    }

    async resource(own) {
        const uri = addressed((await this.client.listResources()).resources.map(resource => resource.uri), own);
        return (await this.client.readResource({ uri })).contents[0].text;
    }

    async prompt(own, args) {
        const name = named((await this.client.listPrompts()).prompts.map(prompt => prompt.name), own);
        return (await this.client.getPrompt({ name, arguments: args })).messages[0].content.text;
    }
}
