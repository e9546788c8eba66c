// The official TypeScript SDK, version 1: the revisions with a handshake.

import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { drive, target } from "./driver.mjs";

const { stdio, url, app, options } = await target();
const client = new Client({ name: "typescript-v1", version: "1.0.0" });
let revision;
await drive(client, {
  transport() {
    const transport = stdio ? new StdioClientTransport(stdio) : new StreamableHTTPClientTransport(url, options);
    const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = (version) => {
      revision = version;
      setProtocolVersion?.(version);
    };
    return transport;
  },
  revision: () => revision,
  app,
  isRefusal: (error) => error instanceof UnauthorizedError,
  finish: (transport, answer) => transport.finishAuth(answer.get("code")),
});
