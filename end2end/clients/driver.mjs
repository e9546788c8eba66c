// What both TypeScript clients share: requests as JSON lines in, answers as JSON lines out. See README.md.

import { createInterface } from "node:readline";
import { AppOnThisMachine } from "./app_on_this_machine.mjs";

/** The server to connect to: a command for stdio, or a URL with a key, or with an app that people let in. */
export async function target() {
  const { MCP_COMMAND, MCP_URL, MCP_KEY, MCP_APP } = process.env;
  if (MCP_COMMAND) {
    const [command, ...args] = JSON.parse(MCP_COMMAND);
    return { stdio: { command, args, env: process.env } };
  }
  const url = new URL(MCP_URL);
  if (MCP_APP) {
    const app = await AppOnThisMachine.start(JSON.parse(MCP_APP));
    return { url, app, options: { authProvider: app } };
  }
  return { url, options: { requestInit: { headers: { Authorization: `Bearer ${MCP_KEY}` } } } };
}

/**
 * Connects, and answers requests until the input ends. `transport` makes a transport, `revision` tells which one was
 * negotiated. An app that is not let in (any more) leads the person to where they decide, and tries again: `isRefusal` knows
 * the error of that, `finish` hands the answer of the person to the transport.
 */
export async function drive(client, { transport, revision, app, isRefusal, finish }) {
  let current = transport();
  const letIn = async (attempt, renew) => {
    try {
      return await attempt();
    } catch (error) {
      if (!app || !isRefusal(error)) throw error;
      await finish(current, await app.answer());
      if (renew) current = transport();
      return await attempt();
    }
  };
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
    tokens: () => app.held(),
    run_out: () => app.runOut(),
    lose_registration: () => app.loseRegistration(),
  };
  const reply = (reply) => process.stdout.write(`${JSON.stringify(reply)}\n`);
  const failed = (error) => reply({ error: { code: error.code ?? null, message: String(error.message ?? error) } });
  try {
    await letIn(() => client.connect(current), true);
  } catch (error) {
    app?.close();
    return failed(error);
  }
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    try {
      reply({ answer: await letIn(() => actions[request.do](request)) });
    } catch (error) {
      failed(error);
    }
  }
  app?.close();
  await client.close();
}
