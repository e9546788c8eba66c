// Runs the suite's tests of an authorization server against the server at END2END_URL, and does what they ask a person for:
// opens the address that they print, and lets them in by a real browser. See run.sh.
//
//   node authorization.mjs CALLBACK_PORT REPORTS

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Person } from "../person.mjs";

const [port, reports] = process.argv.slice(2);
const issuer = process.env.END2END_URL;
const suite = new URL("node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url).pathname;

// The suite has no way to register by itself.
const registered = await fetch(`${issuer}/register`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ client_name: "Conformance suite", redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
});
const { client_id } = await registered.json();

const given = ["--url", issuer, "--client-id", client_id, "--resource", `${issuer}/mcp`, "-p", port, "-o", reports];
const running = spawn(process.execPath, [suite, "authorization", ...given], { stdio: ["ignore", "pipe", "inherit"] });
const ended = new Promise((resolve) => running.on("close", resolve));
const person = await Person.start();
for await (const line of createInterface({ input: running.stdout })) {
  console.log(line);
  if (line.startsWith(`${issuer}/authorize?`)) {
    await person.decide(line).catch((error) => {
      console.log(`the person could not decide: ${error.message}`);
      running.kill();
    });
  }
}
await person.close();
process.exitCode = (await ended) ?? 1;
