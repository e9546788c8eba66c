// The official TypeScript SDK, version 1: the revisions with a handshake.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { drive, target } from "./driver.mjs";

const { stdio, url, options } = target();
const transport = stdio ? new StdioClientTransport(stdio) : new StreamableHTTPClientTransport(url, options);
const client = new Client({ name: "typescript-v1", version: "1.0.0" });
let revision;
const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  revision = version;
  setProtocolVersion?.(version);
};
await client.connect(transport);
await drive(client, () => revision);
