// What the tests of the consent page share: an app that registers, asks to be let in, and waits for the answer.

import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { request as requests, type Page } from "@playwright/test";
import { answersElsewhere } from "./fixtures.ts";
import { expect } from "./signed-in.ts";

const base = process.env.END2END_URL ?? "";

/** An app on this machine, with a page to which the browser is led back. */
export async function app(name: string) {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end("<!doctype html><html lang=en><title>Back</title><link rel=icon href=data:,><p>Back in the app.</p></html>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const redirectUri = `http://127.0.0.1:${port}/callback`;
  const client = await requests.newContext({ baseURL: base });
  const registered = await client.post("/register", {
    data: { client_name: name, redirect_uris: [redirectUri], token_endpoint_auth_method: "none" },
  });
  expect(registered.status(), await registered.text()).toBe(201);
  const { client_id: clientId } = await registered.json();
  const verifier = randomBytes(32).toString("base64url");
  const state = randomBytes(8).toString("base64url");
  /** Where the app sends the person. */
  const authorize = (more: Record<string, string> = {}) => {
    const query = new URLSearchParams({
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      state,
      resource: `${base}/mcp`,
      ...more,
    });
    return `/authorize?${query}`;
  };
  return {
    name,
    port,
    state,
    authorize,
    /** Sends the person of this page to the server, as an app does. */
    async ask(page: Page, more: Record<string, string> = {}) {
      answersElsewhere(page, redirectUri);
      await page.goto(authorize(more));
    },
    /** What the server told the app, once the browser is back there. */
    async answer(page: Page) {
      await page.waitForURL(`${redirectUri}?*`);
      return new URL(page.url()).searchParams;
    },
    /** An access token for a code. */
    async token(code: string) {
      const response = await client.post("/token", {
        form: { grant_type: "authorization_code", code, client_id: clientId, redirect_uri: redirectUri, code_verifier: verifier },
      });
      expect(response.status(), await response.text()).toBe(200);
      return (await response.json()).access_token as string;
    },
    async close() {
      await client.dispose();
      server.closeAllConnections();
      server.close();
    },
  };
}
