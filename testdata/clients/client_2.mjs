// The official SDK for TypeScript, 2.x. `client_2.mjs older|newer http URL`, or `… stdio COMMAND ARG…`.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { Session, tell } from './operations.mjs';

const [era, kind, first, ...rest] = process.argv.slice(2);
const transport =
    kind === 'http'
        ? new StreamableHTTPClientTransport(new URL(first))
        : new StdioClientTransport({ command: first, args: rest, env: process.env });
const versionNegotiation = { mode: era === 'older' ? 'legacy' : 'auto' };
const client = new Client({ name: 'client-2', version: '1' }, { versionNegotiation });
await client.connect(transport);
await tell('@modelcontextprotocol/client', era, new Session(client, client.getNegotiatedProtocolVersion()));
await client.close();
// What came too late may still go on.
process.exit();
