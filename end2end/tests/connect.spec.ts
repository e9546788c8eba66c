import { alive, audit, expect, fits, restore, test, unique, withhold } from "../signed-in.ts";
import { execFileSync } from "node:child_process";
import type { Page } from "@playwright/test";

const url = `${process.env.END2END_URL}/mcp`;
const key = process.env.END2END_KEY ?? "";

async function open(page: Page, name: string) {
  const record = page.locator("details.record").filter({ has: page.getByRole("heading", { name, exact: true }) });
  await record.locator("summary").click();
  return record;
}

/** Says hello to the server as a client of this name does. */
async function connect(client: string) {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: client, version: "1" } },
    }),
  });
  expect(response.status).toBe(200);
}

test("every client has its set-up with the real address, and a place for the token where it needs one", async ({ page }) => {
  await page.goto("/connect");
  for (const [client, place, token] of [
    ["Cursor", "url", undefined],
    ["Gemini CLI", "httpUrl", undefined],
    ["Any other client", "url", "Bearer YOUR_TOKEN"],
  ] as const) {
    const record = await open(page, client);
    const entry = JSON.parse(await record.locator("code").filter({ hasText: "{" }).first().innerText());
    expect(entry.mcpServers.polymnemo[place]).toBe(url);
    expect(entry.mcpServers.polymnemo.headers?.Authorization).toBe(token);
  }
  const vsCode = await open(page, "VS Code");
  const entry = JSON.parse(await vsCode.locator("pre code").innerText());
  expect(entry.servers.polymnemo.url).toBe(url);
  await expect((await open(page, "Claude Code")).locator("pre code")).toContainText(`polymnemo ${url}`);
  await expect((await open(page, "Claude Desktop")).locator("pre code")).toContainText(url);
  for (const client of ["Claude", "ChatGPT, Codex"]) {
    await expect((await open(page, client)).locator("pre code").first()).toHaveText(url);
  }
});

test("the command for scripts works as it is", async ({ page }) => {
  await page.goto("/connect");
  const record = await open(page, "curl and scripts");
  const command = (await record.locator("pre code").innerText()).replace("YOUR_TOKEN", key);
  const answer = JSON.parse(execFileSync("sh", ["-c", command], { encoding: "utf8" }));
  expect(answer.result.isError ?? false).toBe(false);
});

test("the instruction is copied as it is", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/connect");
  await alive(page);
  const block = page.locator("figure", { hasText: "polymnemo, which all my AI apps share" });
  await block.getByRole("button", { name: "Copy" }).click();
  await expect(block.getByRole("button", { name: "Copied" })).toBeVisible();
  await expect(block.locator("[role=status]")).toHaveText("Copied");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await block.locator("code").innerText());
});

test("a client that connects appears by itself, and an open record stays open", async ({ page }) => {
  const client = unique("cursor");
  await page.clock.install();
  await page.goto("/connect");
  await alive(page);
  const cursor = await open(page, "Cursor");
  await connect(client);
  // Who was here is noted after the answer, so the page may have to look once more.
  await expect(async () => {
    await page.clock.runFor("00:11");
    await expect(page.locator("#all-seen")).toContainText(client, { timeout: 1_000 });
  }).toPass();
  await expect(cursor.locator("summary")).toContainText("seen");
  await expect(cursor).toHaveAttribute("open");

  await withhold(page, "**/connect");
  await page.clock.runFor("00:11");
  await expect(page.locator("#all-seen")).toContainText(client);
  await restore(page, "**/connect");
});

test("a name that a client gives itself is text", async ({ page }) => {
  const client = unique(`<img src=x onerror="document.title='gone'">`);
  await connect(client);
  await page.goto("/connect");
  await expect(page.locator("#all-seen")).toContainText(client);
  await alive(page);
  await expect(page).toHaveTitle(/^Connect/);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("everything is there to be read and selected", async ({ page }) => {
    await page.goto("/connect");
    const record = await open(page, "Cursor");
    await expect(record.locator("pre code")).toBeVisible();
    await expect(page.getByRole("button", { name: "Copy" })).toHaveCount(0);
  });
});

test.describe("in Chinese", () => {
  test.use({ locale: "zh-CN" });

  test("so is the instruction", async ({ page }) => {
    await page.goto("/connect");
    await expect(page.locator("figure").last()).toContainText("长期记忆");
    await audit(page);
  });
});

test("has no accessibility faults and fits a phone", async ({ page }) => {
  await page.goto("/connect");
  for (const summary of await page.locator("details.record > summary").all()) await summary.click();
  await audit(page);
  for (const width of [320, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await fits(page);
  }
});

test("the connection can be tested from the page, and leaves nothing behind", async ({ page }) => {
  await page.goto("/connect");
  await page.getByRole("button", { name: "Test this connection" }).click();
  const report = page.locator(".test-report > li");
  await expect(page.getByText("Everything works as apps need it.")).toBeVisible();
  await expect(report).toHaveCount(16);
  await expect(report.filter({ hasText: "fails" })).toHaveCount(0);
  // The server reads no document from its own machine.
  await expect(report.filter({ hasText: "not tried" })).toHaveCount(1);
  await page.goto("/apps");
  await expect(page.getByText("polymnemo connection test")).toHaveCount(0);
});
