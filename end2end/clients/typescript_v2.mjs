// The official TypeScript client, version 2, pinned to the revision without a handshake.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { drive, target } from "./driver.mjs";

const { stdio, url, options } = target();
const transport = stdio ? new StdioClientTransport(stdio) : new StreamableHTTPClientTransport(url, options);
const client = new Client(
  { name: "typescript-v2", version: "1.0.0" },
  { versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
await client.connect(transport);
await drive(client, () => client.getNegotiatedProtocolVersion());
