// Tests of pages for someone who is signed in.

import { execFileSync } from "node:child_process";
import { request as requests } from "@playwright/test";
import { expect, test as base } from "./fixtures.ts";

export * from "./fixtures.ts";

/** A new link that signs in, from the command that a person would run beside the server. */
export function signInLink(): string {
  const command = process.env.END2END_SIGN_IN_LINK;
  if (!command) throw new Error("END2END_SIGN_IN_LINK is not set: run the tests by scripts/test-end2end.sh, which sets it");
  return execFileSync(command, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

type State = Awaited<ReturnType<Awaited<ReturnType<typeof requests.newContext>>["storageState"]>>;

/** A test whose browser is signed in. All tests of a worker are one session, as tabs of one browser would be. */
export const test = base.extend<{ storageState: State }, { session: State }>({
  session: [
    async ({}, use) => {
      const visitor = await requests.newContext();
      const response = await visitor.get(signInLink(), { maxRedirects: 0 });
      expect(response.status()).toBe(303);
      await use(await visitor.storageState());
      await visitor.dispose();
    },
    { scope: "worker" },
  ],
  storageState: ({ session }, use) => use(session),
});

/** Waits until the wasm has taken over the page. */
export async function alive(page: import("@playwright/test").Page) {
  await expect(page.locator("html[data-copies]")).toBeAttached();
}

/** A text that no other test uses. */
export function unique(text: string): string {
  // It ends in a digit, so that no stemmer shortens it.
  return `${text} ${Math.random().toString(36).slice(2, 8)}7`;
}

/** Calls a tool of the MCP endpoint as a script would; gives the HTTP status and the answer. */
export async function callTool(token: string, name: string, args: object) {
  return call(token, "tools/call", { name, arguments: args });
}

/** The same for any method. */
export async function call(token: string, method: string, params: object = {}) {
  const client = await requests.newContext();
  const response = await client.post(`${process.env.END2END_URL}/mcp`, {
    headers: { authorization: `Bearer ${token}`, accept: "application/json, text/event-stream" },
    data: { jsonrpc: "2.0", id: 1, method, params },
  });
  const status = response.status();
  const body = await response.json().catch(() => null);
  await client.dispose();
  return { status, result: body?.result, body };
}
