// MCP Inspector's command line, a process for each request. `inspector.mjs older|newer http URL`, or `… stdio COMMAND ARG…`.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { addressed, named, tell } from './operations.mjs';

const [era, kind, ...target] = process.argv.slice(2);
const COMMAND = fileURLToPath(
    new URL('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
);

// The result of one request, which is told also when a tool says that it failed.
function ask(method, ...words) {
    // What it starts gets little of its environment.
    const home = ['-e', `KITBAG_HOME=${process.env.KITBAG_HOME}`];
    const place = kind === 'http' ? ['--server-url', target[0], '--transport', 'http'] : [...target, ...home];
    const all = ['--cli', ...place, '--protocol-era', era === 'older' ? 'legacy' : 'modern', '--format', 'json'];
    return new Promise((found, failed) => {
        execFile(process.execPath, [COMMAND, ...all, '--method', method, ...words], (error, out, err) => {
            try {
                found(JSON.parse(out).result);
            } catch {
                failed(new Error(`${error} ${out} ${err}`));
            }
        });
    });
}

let names;
const session = {
    async tools() {
        return (names ??= (await ask('tools/list')).tools.map(tool => tool.name));
    },

    async call(name, args) {
        const result = await ask('tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args));
        return [result.content[0].text, result.isError === true];
    },

    async resource(own) {
        const uri = addressed((await ask('resources/list')).resources.map(resource => resource.uri), own);
        return (await ask('resources/read', '--uri', uri)).contents[0].text;
    },

    async prompt(own, args) {
        const name = named((await ask('prompts/list')).prompts.map(prompt => prompt.name), own);
        const pairs = Object.entries(args).map(([key, value]) => `${key}=${value}`);
        const prompt = await ask('prompts/get', '--prompt-name', name, '--prompt-args', ...pairs);
        return prompt.messages[0].content.text;
    },
};

await tell('@modelcontextprotocol/inspector', era, session);
