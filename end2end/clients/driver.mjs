// What both TypeScript clients share: requests as JSON lines in, answers as JSON lines out. See README.md.

import { createInterface } from "node:readline";

/** The server to connect to: a command for stdio, or a URL and a key. */
export function target() {
  const { MCP_COMMAND, MCP_URL, MCP_KEY } = process.env;
  if (MCP_COMMAND) {
    const [command, ...args] = JSON.parse(MCP_COMMAND);
    return { stdio: { command, args, env: process.env } };
  }
  return { url: new URL(MCP_URL), options: { requestInit: { headers: { Authorization: `Bearer ${MCP_KEY}` } } } };
}

/** Answers requests until the input ends. `revision` tells which one was negotiated. */
export async function drive(client, revision) {
  const actions = {
    about: async () => ({
      revision: revision(),
      name: client.getServerVersion()?.name,
      instructions: client.getInstructions(),
    }),
    tools: async () => (await client.listTools()).tools,
    call: async ({ name, arguments: given }) => {
      const result = await client.callTool({ name, arguments: given });
      const text = result.content.filter((part) => part.type === "text").map((part) => part.text);
      return { text: text.join("\n"), structured: result.structuredContent, failed: Boolean(result.isError) };
    },
    read: async ({ uri }) => (await client.readResource({ uri })).contents[0].text,
    complete: async ({ value }) => {
      const ref = { type: "ref/resource", uri: "memory://{namespace}" };
      return (await client.complete({ ref, argument: { name: "namespace", value } })).completion.values;
    },
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    let reply;
    try {
      reply = { answer: await actions[request.do](request) };
    } catch (error) {
      reply = { error: { code: error.code ?? null, message: String(error.message ?? error) } };
    }
    process.stdout.write(`${JSON.stringify(reply)}\n`);
  }
  await client.close();
}
