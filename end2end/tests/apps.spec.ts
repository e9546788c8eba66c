import { alive, audit, call, callTool, expect, fits, layoutShift, test, unique } from "../signed-in.ts";
import type { Page } from "@playwright/test";

const key = process.env.END2END_KEY ?? "";

/** Makes a token as the page of the tokens does. */
async function token(page: Page, name: string, write = true) {
  await page.goto("/tokens");
  await page.getByLabel("Name", { exact: true }).fill(name);
  if (write) await page.getByLabel("read and write").check();
  await page.getByRole("button", { name: "Create token" }).click();
  return await page.locator("figure code").first().innerText();
}

/** The record of what has this name, opened. */
async function open(page: Page, name: string) {
  const record = page.locator("details.record").filter({ has: page.getByRole("heading", { name, exact: true }) });
  if ((await record.getAttribute("open")) === null) await record.locator("> summary").click();
  return record;
}

/** The page of what an app saw, with at least so many calls on it: they are noted just after the client has its answer. */
async function seen(page: Page, name: string, calls: number) {
  await page.goto("/apps");
  const record = await open(page, name);
  await record.getByRole("link", { name: "What it saw and did" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
  await expect(async () => {
    await page.reload();
    expect(await page.locator(".calls > li").count()).toBeGreaterThanOrEqual(calls);
  }).toPass();
}

const settingsKey = (page: Page) =>
  page.locator("details.record").filter({ has: page.locator("summary", { hasText: "Key of the server’s settings" }) });

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a token is paused, goes on and ends, each from the very next call on", async ({ page }) => {
      const name = unique("Paused");
      const secret = await token(page, name);
      const recall = () => callTool(secret, "list_memories", {});
      expect((await recall()).status).toBe(200);

      await page.goto("/apps");
      let record = await open(page, name);
      await expect(record.locator("> summary")).toContainText("API token");
      await expect(record.locator("> summary")).toContainText("all namespaces");
      await expect(record.locator("dl").first()).toContainText("active");
      await record.getByRole("button", { name: "Pause" }).click();
      await expect(page).toHaveURL("/apps");
      await expect(record.locator("> summary")).toContainText("paused");
      expect((await recall()).status).not.toBe(200);
      await page.goto("/tokens");
      await expect((await open(page, name)).locator("> summary")).toContainText("Paused");

      await page.goto("/apps");
      record = await open(page, name);
      await record.getByRole("button", { name: "Let it go on" }).click();
      await expect(record.locator("> summary")).not.toContainText("paused");
      expect((await recall()).status).toBe(200);

      await open(page, name);
      await record.getByRole("button", { name: "End access" }).click();
      const ended = page.getByRole("region", { name: "Ended or expired" });
      await expect(ended.getByRole("heading", { name, exact: true })).toBeVisible();
      expect((await recall()).status).toBe(401);
      record = await open(page, name);
      await expect(record.locator("dl").first()).toContainText("ended");
      await expect(record.getByRole("button")).toHaveCount(0);
    });

    test("what it saw is listed, the latest first, and what is gone is told", async ({ page }) => {
      const name = unique("Watched");
      const secret = await token(page, name);
      const text = unique("The ladder is behind the shed");
      const { result } = await callTool(secret, "remember", { content: text, namespace: unique("seen").replace(" ", "-") });
      await callTool(secret, "recall", { query: `where is the ladder of ${name}?` });
      await callTool(secret, "get_memory", { id: result.structuredContent.id });
      await call(secret, "resources/list");
      await seen(page, name, 4);

      const calls = page.locator(".calls > li");
      await expect(calls.filter({ hasText: `searched for “where is the ladder of ${name}?”` })).toHaveCount(1);
      await expect(calls.filter({ hasText: "looked at the namespaces" })).toHaveCount(1);
      await expect(calls.filter({ hasText: "stored" })).toHaveCount(1);
      const read = calls.filter({ has: page.locator(".did", { hasText: /^read$/ }) });
      const link = read.getByRole("link", { name: text });
      await expect(link).toHaveAttribute("href", `/memories/${result.structuredContent.id}`);

      await callTool(secret, "forget", { ids: [result.structuredContent.id] });
      await seen(page, name, 5);
      await expect(read).toContainText("no longer there");
      await expect(read.getByRole("link")).toHaveCount(0);
    });

    test("the key of the settings is changed, and can't be ended here", async ({ page }) => {
      await callTool(key, "list_memories", {});
      await page.goto("/apps");
      const record = settingsKey(page);
      await record.locator("> summary").click();
      await expect(record.getByRole("button", { name: "End access" })).toHaveCount(0);
      await record.getByText("Change what it may do").click();
      await record.getByRole("radio", { name: "only these" }).check();
      for (const box of await record.getByRole("checkbox").all()) await box.uncheck();
      await record.getByRole("button", { name: "Save" }).click();

      // Refused: told beside the namespaces, with the form open and as it was sent. Nothing has changed.
      await expect(record).toHaveAttribute("open");
      await expect(record.getByRole("group", { name: "In", exact: true })).toContainText("Choose at least one namespace");
      await expect(record.getByRole("radio", { name: "only these" })).toBeChecked();
      await record.getByRole("radio", { name: "all namespaces" }).check();
      await record.getByRole("button", { name: "Save" }).click();
      await expect(page).toHaveURL("/apps");
      await expect(record.locator("> summary")).toContainText("reads and writes");
      await expect(record.locator("> summary")).toContainText("all namespaces");
    });
  });
}

test("an answer of many memories is folded", async ({ page }) => {
  const name = unique("Many");
  const secret = await token(page, name);
  const namespace = unique("many").replace(" ", "-");
  for (const count of [1, 2, 3, 4, 5, 6]) {
    await callTool(secret, "remember", { content: unique(`Pot ${count} holds basil.`), namespace });
  }
  await callTool(secret, "list_memories", { namespace });
  await seen(page, name, 7);
  const listed = page.locator(".calls > li").filter({ hasText: "listed" });
  await expect(listed.getByRole("link")).toHaveCount(0);
  await listed.getByText("6 memories").click();
  await expect(listed.getByRole("link")).toHaveCount(6);
});

test("a long list of calls goes on, page by page", async ({ page }) => {
  const name = unique("Busy");
  const secret = await token(page, name);
  for (let count = 0; count < 52; count += 1) await callTool(secret, "list_memories", { limit: 1 });
  await seen(page, name, 50);
  await expect(page.locator(".meta").first()).toContainText("52 calls");
  await alive(page);
  await page.getByRole("link", { name: "Next page" }).click();
  await expect(page.locator(".calls > li")).toHaveCount(2);
  await alive(page);
  await page.getByRole("link", { name: "First page" }).click();
  await expect(page.locator(".calls > li")).toHaveCount(50);
});

test("what an app writes is text, in one line", async ({ page }) => {
  const name = unique("Rude");
  const secret = await token(page, name);
  const markup = `<img src=x onerror="document.title='gone'">`;
  const sign = unique("sign");
  await callTool(secret, "remember", { content: `${markup}\u202e ${sign}\n\nsecond ${"long ".repeat(100)}` });
  await callTool(secret, "recall", { query: `${markup} \u202e${sign} ${"long ".repeat(60)}` });
  await seen(page, name, 2);
  await expect(page).toHaveTitle(`${name} · polymnemo`);
  await expect(page.locator(".did").first()).toContainText(`${markup} ${sign}`);
  await expect(page.locator(".calls > li img")).toHaveCount(0);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
  const heights = await page.locator(".call").evaluateAll((calls) => calls.map((call) => call.clientHeight));
  expect(Math.max(...heights)).toBeLessThan(32);
});

test("an app that is not there, or someone else's, is a calm page", async ({ page }) => {
  for (const id of ["00000000-0000-7000-8000-000000000000", "nonsense"]) {
    const response = await page.goto(`/apps/${id}`);
    expect(response?.status()).toBe(404);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("There is no such app");
  }
  await audit(page);
  await alive(page);
  await page.getByRole("link", { name: "All apps" }).click();
  await expect(page).toHaveURL("/apps");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Apps");
});

test("one that has done nothing yet says so", async ({ page }) => {
  const name = unique("Idle");
  await token(page, name);
  await page.goto("/apps");
  const record = await open(page, name);
  await expect(record.locator("> summary")).toContainText("never used");
  await record.getByRole("link", { name: "What it saw and did" }).click();
  await expect(page.getByRole("heading", { name: "Nothing yet" })).toBeVisible();
  await audit(page);
});

test("has no accessibility faults, fits a phone and stands still", async ({ page }) => {
  const name = unique("Seen");
  const secret = await token(page, name);
  await callTool(secret, "remember", { content: unique("The well is dry in August.") });
  await callTool(secret, "recall", { query: unique("well") });
  await callTool(key, "list_memories", {});
  await page.goto("/apps");
  expect(await layoutShift(page)).toBeLessThan(0.02);
  await open(page, name);
  await settingsKey(page).locator("> summary").click();
  await settingsKey(page).getByText("Change what it may do").click();
  await settingsKey(page).getByRole("radio", { name: "only these" }).check();
  await audit(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
  await seen(page, name, 2);
  await audit(page);
  await fits(page);
});

test.describe("in Chinese", () => {
  test.use({ locale: "zh-CN" });

  test("the list says it all", async ({ page }) => {
    await callTool(key, "list_memories", {});
    await page.goto("/apps");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("应用");
    await expect(page.getByRole("link", { name: "应用", exact: true })).toHaveAttribute("aria-current", "page");
    await expect(page.getByRole("heading", { name: "服务器设置中的密钥" })).toBeVisible();
  });
});

test("strangers are led to the sign-in page, and back", async ({ browser }) => {
  const page = await browser.newPage({ storageState: { cookies: [], origins: [] } });
  await page.goto("/apps/00000000-0000-7000-8000-000000000000");
  await expect(page).toHaveURL("/sign-in?next=/apps/00000000-0000-7000-8000-000000000000");
  await page.close();
});
