// Takes pictures of every page into screenshots/, to be looked at: light and dark, wide and narrow, in both languages.
//
//     scripts/screenshots.sh              # all pages
//     scripts/screenshots.sh tokens       # those whose names begin with "tokens"

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { chromium, request } from "@playwright/test";
import { launchOptions } from "./browser.mjs";

const baseURL = process.env.END2END_URL;
if (!baseURL) throw new Error("END2END_URL is not set: run scripts/screenshots.sh, which starts a server and sets it");

const alive = (page) => page.locator("html[data-copies]").waitFor();
/** Opens the records of these places in the list. */
const open = (...places) => async (page) => {
  await alive(page);
  for (const place of places) await page.locator("details.record > summary").nth(place).click();
};

/** Opens the memory whose row holds this text. */
const openMemory = async (page, text) => {
  await page.locator("html[data-alive]").waitFor();
  await page.locator(".memory-row").filter({ hasText: text }).locator("h3 a").click();
  await page.locator(".memory-text").waitFor();
};

/** Opens the record of an app, and the form in it. */
function openApp(name, andForm) {
  return async (page) => {
    await alive(page);
    const record = page.locator("details.record").filter({ has: page.locator("h3", { hasText: name }) });
    await record.locator("> summary").click();
    if (andForm) await record.locator(".change > summary").click();
  };
}

/** Goes to the page of what an app saw. */
function openSeen(name) {
  return async (page) => {
    await openApp(name)(page);
    await page.locator(".record[open] a[href^='/apps/']").click();
    await page.locator(".way-back").waitFor();
    await alive(page);
  };
}

/** Where an app sends a person that asks to be let in, once it is known. */
function ask(name) {
  return () => apps.get(name).authorize;
}

// `prepare` brings the page into the state to be shown. Pages of someone who is signed in are shown `before` there is
// anything on them, and after.
const pages = [
  { name: "welcome", path: "/", prepare: alive },
  {
    name: "welcome-loading",
    path: "/",
    prepare: async (page) => {
      await page.clock.install();
      await page.route("**/api/server_status*", (route) => route.fulfill({ json: "model_loading" }));
      await page.reload();
      await alive(page);
      await page.clock.runFor("00:31");
      await page.locator("[data-state=waiting]").waitFor();
    },
  },
  { name: "sign-in", path: "/sign-in?next=/tokens" },
  { name: "sign-in-problem", path: "/sign-in?problem=link" },
  { name: "not-found", path: "/no/such/page" },
  { name: "offline", path: "/offline" },
  { name: "memories-empty", path: "/memories", signedIn: true, before: true, prepare: alive },
  { name: "memories", path: "/memories", signedIn: true, prepare: alive },
  {
    name: "memories-selected",
    path: "/memories",
    signedIn: true,
    prepare: async (page) => {
      await alive(page);
      for (const place of [1, 2]) await page.locator(".memory-row input").nth(place).check();
      await page.locator(".bulk-change summary").click();
    },
  },
  {
    name: "memories-search",
    path: "/memories?q=where+does+Ada+like+to+sit",
    signedIn: true,
    prepare: async (page) => {
      await alive(page);
      await page.locator(".why summary").first().click();
    },
  },
  { name: "memories-nothing", path: "/memories?q=zzzzqqqq&namespace=work", signedIn: true, prepare: alive },
  { name: "memories-error", path: "/memories?from=yesterday", signedIn: true, prepare: alive },
  { name: "memory", path: "/memories?namespace=work", signedIn: true, prepare: (page) => openMemory(page, "Release checklist") },
  {
    name: "memory-edit",
    path: "/memories?namespace=work",
    signedIn: true,
    prepare: async (page) => {
      await openMemory(page, "Release checklist");
      await page.locator(".detail [data-key=e]").click();
      await page.locator("#memory-content").waitFor();
    },
  },
  {
    name: "memory-history",
    path: "/memories?namespace=personal",
    signedIn: true,
    prepare: async (page) => {
      await openMemory(page, "window seats");
      await page.locator(".detail header a[href*=history]").click();
      await page.locator(".state").first().waitFor();
    },
  },
  { name: "memory-new", path: "/memories/new", signedIn: true, prepare: alive },
  { name: "memory-none", path: "/memories/00000000-0000-7000-8000-000000000000", signedIn: true, prepare: alive },
  { name: "trash-empty", path: "/trash", signedIn: true, before: true, prepare: alive },
  { name: "trash", path: "/trash", signedIn: true, prepare: alive },
  { name: "namespaces-empty", path: "/namespaces", signedIn: true, before: true, prepare: alive },
  { name: "namespaces", path: "/namespaces", signedIn: true, prepare: open(1) },
  {
    name: "namespaces-error",
    path: "/namespaces",
    signedIn: true,
    prepare: async (page) => {
      await page.locator("#new-name").fill("work");
      await page.locator("button.button-main").click();
      await page.locator(".fault").waitFor();
      await alive(page);
    },
  },
  { name: "apps-empty", path: "/apps", signedIn: true, before: true, prepare: alive },
  { name: "apps", path: "/apps", signedIn: true, prepare: alive },
  { name: "apps-open", path: "/apps", signedIn: true, prepare: openApp("Notes on the desktop", true) },
  { name: "apps-token", path: "/apps", signedIn: true, prepare: openApp("Nightly backup") },
  { name: "apps-ended", path: "/apps", signedIn: true, prepare: openApp("Old script") },
  { name: "app", path: "/apps", signedIn: true, prepare: openSeen("Notes on the desktop") },
  { name: "app-nothing", path: "/apps", signedIn: true, prepare: openSeen("Old script") },
  { name: "app-none", path: "/apps/00000000-0000-7000-8000-000000000000", signedIn: true, prepare: alive },
  { name: "consent-verified", path: ask("Travel planner"), signedIn: true, prepare: alive },
  { name: "consent", path: ask("Recipe box"), signedIn: true, prepare: alive },
  {
    name: "consent-error",
    path: ask("Recipe box"),
    signedIn: true,
    prepare: async (page) => {
      await page.locator("input.opens").check();
      await page.locator("button[value=allow]").click();
      await page.locator(".fault").waitFor();
      await alive(page);
    },
  },
  { name: "consent-again", path: ask("Notes on the desktop"), signedIn: true, prepare: alive },
  { name: "consent-over", path: "/consent?request=nonsense", signedIn: true, prepare: alive },
  { name: "tokens-empty", path: "/tokens", signedIn: true, before: true, prepare: alive },
  { name: "tokens", path: "/tokens", signedIn: true, prepare: open(0) },
  {
    name: "tokens-created",
    path: "/tokens",
    signedIn: true,
    prepare: async (page) => {
      await page.locator("#token-name").fill("Laptop");
      await page.locator(".fields button").click();
      await page.locator(".created").waitFor();
      await alive(page);
    },
  },
  {
    name: "tokens-error",
    path: "/tokens",
    signedIn: true,
    prepare: async (page) => {
      await page.locator("#token-name").fill("CI");
      await page.locator("input.opens").check();
      await page.locator(".fields button").click();
      await page.locator(".fault").waitFor();
      await alive(page);
    },
  },
  { name: "connect-empty", path: "/connect", signedIn: true, before: true, prepare: alive },
  { name: "connect", path: "/connect", signedIn: true, prepare: open(0, 3) },
  { name: "settings", path: "/settings?saved", signedIn: true, prepare: alive },
  {
    name: "settings-error",
    path: "/settings",
    signedIn: true,
    prepare: async (page) => {
      await page.locator("#time-zone").fill("Atlantis");
      await page.locator("button.button-main").click();
      await page.locator(".fault").waitFor();
      await alive(page);
    },
  },
];
const viewports = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];

const memories = [
  ["personal", "Ada prefers window seats on trains, and aisle seats on flights of more than four hours.", ["travel"], "chat"],
  ["work", "Ada owns the billing service since March.", ["teams"]],
  ["work", "The release train leaves every second Tuesday at 14:00 UTC; the freeze begins the Friday before.", ["release"]],
  [
    "work",
    "# Release checklist\n\n1. Run `make test`\n2. Tag the release\n3. Watch the **error rate** for half an hour\n\n| step | owner |\n| --- | --- |\n| tag | Ada |\n| watch | Lin |\n\n```sh\ngit tag v1.2.3\n```\n\nMore in [the runbook](https://example.org/runbook).",
    ["release"],
    "https://example.org/runbook",
  ],
  ["home/garden", "The quince was planted in autumn 2024; prune it in late winter.", ["garden", "trees"]],
  ["personal", "Lin's birthday is on 3 May. She likes pour-over coffee and hates surprises.", ["people"]],
  ["personal", "我对花生过敏，但可以吃杏仁。", ["健康"]],
  ["读书", "《三体》读到第二部第三章，喜欢罗辑这个角色。", ["科幻"]],
  ["work", "Migrations are raw SQL, one file each, and never edited once they have landed.", ["database"], "cursor"],
  ["work", "The staging database is restored from production every Sunday night.", ["database"]],
  ["personal", "The spare key is with the neighbours on the second floor.", []],
  ["work", "Stand-up is at 9:30, and written on Fridays.", ["process"]],
  ["work", "An idea for the offsite: a day without laptops.", []],
  ["personal", "Try the new bakery at the station.", []],
];

const apps = new Map();

/** Lets an app register that is on this machine. */
async function register(client_name) {
  const redirect_uri = "http://127.0.0.1:33418/callback";
  const app = await (await anyone.post("/register", { data: { client_name, redirect_uris: [redirect_uri] } })).json();
  return known(client_name, app.client_id, redirect_uri);
}

/** Serves the document of an app that is on the web. */
function publish(client_name) {
  const [client_id, redirect_uri] = ["https://travel.example/client.json", "https://travel.example/back"];
  const document = JSON.stringify({ client_id, client_name, redirect_uris: [redirect_uri] });
  const server = createServer((_, response) => response.end(document)).listen(new URL(process.env.END2END_DOCUMENTS).port);
  server.unref();
  return known(client_name, client_id, redirect_uri);
}

function known(client_name, client_id, redirect_uri) {
  const verifier = "v".repeat(43);
  const query = new URLSearchParams({
    response_type: "code",
    client_id,
    redirect_uri,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state: "s",
    resource: `${baseURL}/mcp`,
  });
  const token = async (code) => {
    const form = { grant_type: "authorization_code", code, client_id, redirect_uri, code_verifier: verifier };
    return (await (await anyone.post("/token", { form })).json()).access_token;
  };
  apps.set(client_name, { authorize: `/authorize?${query}`, token });
  return apps.get(client_name);
}

/** Lets an app in; gives its access token. */
async function letIn(person, name, grants) {
  const app = await register(name);
  const asked = await person.get(app.authorize);
  const id = new URL(asked.url()).searchParams.get("request");
  const fields = new URLSearchParams([["request", id], ["answer", "allow"], ["days", "30"], ...grants]);
  const answered = await person.post("/consent/answer", {
    data: fields.toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
    maxRedirects: 0,
  });
  return app.token(new URL(answered.headers().location).searchParams.get("code"));
}

/** Someone who lets apps in, of which one is paused, and one is ended. */
async function connect(person, send) {
  const some = [["can_write", "true"], ["namespaces", "chosen"], ["names", "work"], ["names", "home/garden"]];
  const token = await letIn(person, "Notes on the desktop", some);
  await letIn(person, "Reading list", [["can_write", "false"], ["namespaces", "all"]]);
  await register("Recipe box");
  publish("Travel planner");
  await send("/tokens", { call: "/api/create_api_token", name: "Old script", can_write: "false", all_namespaces: "true", days: "" });
  const { items } = await (await person.get("/api/list_apps")).json();
  const id = (name) => items.find((app) => app.name === name).id;
  await send("/apps", { call: "/api/pause_app", then: "/apps", id: id("Reading list"), paused: "true" });
  await send("/apps", { call: "/api/revoke_app", then: "/apps", id: id("Old script") });
  return token;
}

/** What someone has after some weeks. */
async function live(person) {
  const send = (path, form) => person.post(path, { form, headers: { accept: "text/html" }, maxRedirects: 0 });
  for (const name of ["work", "home/garden", "读书"]) await send("/namespaces", { call: "/api/create_namespace", then: "/namespaces", name });
  await send("/namespaces", { call: "/api/share_namespace", then: "/namespaces", name: "home/garden", shared: "true" });
  for (const [name, can_write, days] of [
    ["Nightly backup", "false", "365"],
    ["Cursor on the laptop", "true", "90"],
  ]) {
    await send("/tokens", { call: "/api/create_api_token", name, can_write, all_namespaces: "true", days });
  }
  const client = await request.newContext({ extraHTTPHeaders: { accept: "application/json, text/event-stream" } });
  let token = process.env.END2END_KEY;
  const call = (method, params) =>
    client.post(`${baseURL}/mcp`, {
      headers: { authorization: `Bearer ${token}` },
      data: { jsonrpc: "2.0", id: 1, method, params },
    });
  for (const name of ["claude-code", "cursor-vscode", "nightly.py"]) {
    await call("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name, version: "1" } });
  }
  const tool = async (name, args) => (await (await call("tools/call", { name, arguments: args })).json()).result?.structuredContent;
  const stored = [];
  for (const [namespace, content, tags, source] of memories) {
    stored.push(await tool("remember", { namespace, content, tags, ...(source && { source }) }));
  }
  await tool("update", { id: stored[0].id, content: `${memories[0][1]} Never the middle.`, tags: ["travel", "trains"] });
  await tool("remember", { namespace: "work", content: "Ada owns the billing service since April.", supersedes: [stored[1].id] });
  await tool("forget", { ids: stored.slice(-2).map(({ id }) => id) });

  token = await connect(person, send);
  await call("resources/list", {});
  await tool("recall", { query: "when does the release train leave?" });
  await tool("list_memories", { namespace: "work" });
  const noted = await tool("remember", { namespace: "work", content: "The offsite is in Lisbon, from 12 to 14 May." });
  await tool("get_memory", { id: noted.id });
  const mistaken = await tool("remember", { namespace: "work", content: "Lisbon is in Spain." });
  await tool("forget", { ids: [mistaken.id] });
  await tool("recall", { query: "where do we meet in May, and who has been asked to bring the whiteboard and the good pens this time?" });
  await client.dispose();
}

const folder = new URL("screenshots/", import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch(launchOptions);
// Forms are taken from the own pages alone.
const anyone = await request.newContext({ baseURL });
const person = await request.newContext({ baseURL, extraHTTPHeaders: { origin: baseURL } });
await person.get(execFileSync(process.env.END2END_SIGN_IN_LINK, { encoding: "utf8" }).trim(), { maxRedirects: 0 });
const session = await person.storageState();

async function take({ name, path, signedIn, prepare }) {
  for (const locale of ["en", "zh-CN"]) {
    for (const colorScheme of ["light", "dark"]) {
      for (const viewport of viewports) {
        const context = await browser.newContext({
          baseURL,
          viewport,
          colorScheme,
          locale,
          deviceScaleFactor: 2,
          serviceWorkers: "block",
          storageState: signedIn ? session : undefined,
        });
        const page = await context.newPage();
        await page.goto(typeof path === "string" ? path : path());
        await prepare?.(page);
        const file = `${name}-${locale}-${colorScheme}-${viewport.width}.png`;
        await page.screenshot({ path: `${folder}${file}`, fullPage: true, animations: "disabled" });
        await context.close();
      }
    }
  }
  console.log(`${name}: done`);
}

const wanted = pages.filter(({ name }) => name.startsWith(process.argv[2] ?? ""));
for (const page of wanted.filter(({ before }) => before)) await take(page);
if (wanted.some(({ signedIn, before }) => signedIn && !before)) await live(person);
for (const page of wanted.filter(({ before }) => !before)) await take(page);
await browser.close();
await person.dispose();
await anyone.dispose();
