// The official TypeScript client, version 2, pinned to the revision without a handshake.

import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { drive, target } from "./driver.mjs";

const { stdio, url, app, options } = await target();
const client = new Client(
  { name: "typescript-v2", version: "1.0.0" },
  { versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
await drive(client, {
  transport: () => (stdio ? new StdioClientTransport(stdio) : new StreamableHTTPClientTransport(url, options)),
  revision: () => client.getNegotiatedProtocolVersion(),
  app,
  isRefusal: (error) => error instanceof UnauthorizedError,
  finish: (transport, answer) => transport.finishAuth(answer),
});
