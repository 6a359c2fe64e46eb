// The official SDK for TypeScript, 1.x. `sdk_1.mjs older http URL`, or `… stdio COMMAND ARG…`.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { Session, tell } from './operations.mjs';

class Sdk1 extends Session {
    request(params, options) {
        return this.client.callTool(params, undefined, options);
    }
}

const [era, kind, first, ...rest] = process.argv.slice(2);
const transport =
    kind === 'http'
        ? new StreamableHTTPClientTransport(new URL(first))
        : new StdioClientTransport({ command: first, args: rest, env: process.env });
const client = new Client({ name: 'sdk-1', version: '1' });
// What was agreed upon is told to the transport alone.
let version;
const tellTransport = transport.setProtocolVersion;
transport.setProtocolVersion = agreed => {
    version = agreed;
    tellTransport?.call(transport, agreed);
};
await client.connect(transport);
await tell('@modelcontextprotocol/sdk', era, new Sdk1(client, version));
await client.close();
// What came too late may still go on.
process.exit();
