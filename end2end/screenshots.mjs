// Takes pictures of every page into screenshots/, to be looked at: light and dark, wide and narrow, in both languages.
//
//     scripts/screenshots.sh              # all pages
//     scripts/screenshots.sh tokens       # those whose names begin with "tokens"

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
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
  const client = await request.newContext({
    extraHTTPHeaders: { authorization: `Bearer ${process.env.END2END_KEY}`, accept: "application/json, text/event-stream" },
  });
  const call = (method, params) => client.post(`${baseURL}/mcp`, { data: { jsonrpc: "2.0", id: 1, method, params } });
  for (const name of ["claude-code", "cursor-vscode", "nightly.py"]) {
    await call("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name, version: "1" } });
  }
  for (const [namespace, content] of [
    ["work", "The release train leaves every second Tuesday."],
    ["work", "Ada owns the billing service since March."],
    ["home/garden", "The quince was planted in autumn 2024."],
    ["读书", "《三体》读到第二部。"],
  ]) {
    await call("tools/call", { name: "remember", arguments: { content, namespace } });
  }
  await client.dispose();
}

const folder = new URL("screenshots/", import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch(launchOptions);
const person = await request.newContext({ baseURL });
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
        await page.goto(path);
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
