// An app on a person's machine, as both TypeScript SDKs ask about it (their `OAuthClientProvider`): what it is called, what
// it keeps, and the page to which people are led back. See README.md.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

export class AppOnThisMachine {
  #kept = {};
  #verifier;
  #state;
  #answers = [];
  #waiting = [];

  /** `redirect_uris` are what it registers, where these are others than the one it uses. */
  static async start({ name, document, redirect_uris, host = "127.0.0.1" }) {
    const app = new AppOnThisMachine();
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url, "http://localhost");
      if (pathname !== "/callback") return response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/plain" }).end("Back in the app.");
      app.#come(searchParams);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    app.close = () => server.close() && server.closeAllConnections();
    app.redirectUrl = `http://${host}:${server.address().port}/callback`;
    app.clientMetadataUrl = document ?? undefined;
    app.clientMetadata = {
      client_name: name,
      redirect_uris: redirect_uris ?? [app.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...(redirect_uris && { application_type: "web" }),
    };
    return app;
  }

  state() {
    this.#state = randomUUID();
    return this.#state;
  }
  clientInformation() {
    return this.#kept.client;
  }
  saveClientInformation(client) {
    this.#kept.client = client;
  }
  tokens() {
    return this.#kept.tokens;
  }
  saveTokens(tokens) {
    this.#kept.tokens = tokens;
  }
  saveDiscoveryState(discovery) {
    this.#kept.discovery = discovery;
  }
  discoveryState() {
    return this.#kept.discovery;
  }
  saveCodeVerifier(verifier) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
  redirectToAuthorization(url) {
    process.stdout.write(`${JSON.stringify({ open: String(url) })}\n`);
  }
  invalidateCredentials(scope) {
    if (scope === "all") this.#kept = {};
    else delete this.#kept[scope];
  }

  #come(answer) {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(answer);
    else this.#answers.push(answer);
  }

  /** The parameters with which the person was led back. */
  async answer() {
    const answer = this.#answers.shift() ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
    if (answer.get("state") !== this.#state) throw new Error("the state is not the one that was sent");
    if (answer.has("error")) throw new Error(`the person was led back with ${answer.get("error")}`);
    return answer;
  }

  /** What it holds, and under which id. */
  held() {
    const { client, tokens } = this.#kept;
    return { client: client.client_id, access: tokens.access_token, refresh: tokens.refresh_token, scope: tokens.scope };
  }

  /** Lets the access token be one whose time is over. */
  runOut() {
    this.#kept.tokens = { ...this.#kept.tokens, access_token: `${this.#kept.tokens.access_token}x` };
    return null;
  }

  /** Lets the server not know it any more. */
  loseRegistration() {
    this.#kept.client = { ...this.#kept.client, client_id: randomUUID() };
    return this.runOut();
  }
}
