// The person of the stories: see README.md and ../person.mjs.

import { createInterface } from "node:readline";
import { Person } from "../person.mjs";

const person = await Person.start();
const actions = {
  decide: ({ url, answer }) => person.decide(url, answer),
  end: ({ app }) => person.end(app),
};
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let reply;
  try {
    reply = { answer: (await actions[request.do](request)) ?? null };
  } catch (error) {
    reply = { error: { code: null, message: String(error.message ?? error) } };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
await person.close();
