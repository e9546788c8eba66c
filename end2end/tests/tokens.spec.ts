import { alive, audit, callTool, expect, fits, test, unique } from "../signed-in.ts";
import type { Page } from "@playwright/test";

async function create(page: Page, name: string, options: { write?: boolean; namespace?: string; expires?: string } = {}) {
  await page.goto("/tokens");
  await page.getByLabel("Name", { exact: true }).fill(name);
  if (options.write) await page.getByLabel("read and write").check();
  if (options.namespace) {
    await page.getByRole("radio", { name: "only these" }).check();
    await page.getByLabel(options.namespace, { exact: true }).check();
  }
  if (options.expires) await page.getByLabel("It expires").selectOption(options.expires);
  await page.getByRole("button", { name: "Create token" }).click();
  await expect(page.getByRole("heading", { name: "Your new token" })).toBeVisible();
  return await page.locator("figure code").first().innerText();
}

/** The record of a token, opened. */
async function open(page: Page, name: string) {
  const record = page.locator("details.record").filter({ has: page.getByRole("heading", { name, exact: true }) });
  if ((await record.getAttribute("open")) === null) await record.locator("summary").click();
  return record;
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a token works until it is revoked, and not one call longer", async ({ page }) => {
      const name = unique("CI");
      const secret = await create(page, name, { write: true });
      expect(secret).toMatch(/^pmn_[\w-]{20,}$/);
      expect(page.url()).not.toContain("pmn_");
      const entry = JSON.parse(await page.locator("figure code").nth(1).innerText());
      expect(entry.mcpServers.polymnemo.url).toBe(`${process.env.END2END_URL}/mcp`);
      expect(entry.mcpServers.polymnemo.headers.Authorization).toBe(`Bearer ${secret}`);

      const stored = await callTool(secret, "remember", { content: unique("The build server is called Ada.") });
      expect(stored.status).toBe(200);
      expect(stored.result.isError ?? false).toBe(false);

      await page.getByRole("link", { name: "I have copied it" }).click();
      expect(await page.content()).not.toContain(secret);
      const record = await open(page, name);
      await expect(record.locator("summary")).toContainText("reads and writes");
      await expect(record.locator("summary")).toContainText("used just now");
      await record.getByRole("button", { name: "Revoke" }).click();
      await expect(page).toHaveURL("/tokens");
      const inactive = page.getByRole("region", { name: "No longer accepted" });
      await expect(inactive.getByRole("heading", { name, exact: true })).toBeVisible();

      const refused = await callTool(secret, "recall", { query: "build server" });
      expect(refused.status).toBe(401);
    });

    test("a name that is none is told beside it, and nothing typed is lost", async ({ page }) => {
      await page.goto("/tokens");
      const name = page.getByLabel("Name", { exact: true });
      await name.fill("   ");
      await page.getByLabel("read and write").check();
      await page.getByLabel("It expires").selectOption("30");
      await page.getByRole("button", { name: "Create token" }).click();
      await expect(name).toHaveAttribute("aria-invalid", "true");
      await expect(name).toBeFocused();
      const described = (await name.getAttribute("aria-describedby"))?.split(" ").at(-1);
      await expect(page.locator(`#${described}`)).toContainText("name is empty");
      await expect(page.getByLabel("read and write")).toBeChecked();
      await expect(page.getByLabel("It expires")).toHaveValue("30");
    });

    test("no namespace chosen is told beside the namespaces", async ({ page }) => {
      await page.goto("/tokens");
      await page.getByLabel("Name", { exact: true }).fill("Nowhere");
      await page.getByRole("radio", { name: "only these" }).check();
      await page.getByRole("button", { name: "Create token" }).click();
      await expect(page.getByRole("group", { name: "In", exact: true }).locator(".fault")).toContainText("choose 1 to");
      await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Nowhere");
    });
  });
}

test("a token that may read stores nothing", async ({ page }) => {
  const secret = await create(page, unique("reader"));
  const refused = await callTool(secret, "remember", { content: "Not to be kept." });
  expect(refused.status === 403 || refused.result?.isError === true).toBe(true);
  expect((await callTool(secret, "recall", { query: "anything" })).status).toBe(200);
});

test("a token for one namespace sees no other", async ({ page }) => {
  const marker = unique("The garden gate sticks");
  const all = await create(page, unique("all"), { write: true });
  await callTool(all, "remember", { content: marker });
  await page.goto("/namespaces");
  const namespace = unique("only");
  await page.getByLabel("Name", { exact: true }).fill(namespace);
  await page.getByRole("button", { name: "Create" }).click();
  const one = await create(page, unique("one"), { namespace });
  const found = await callTool(one, "list_memories", {});
  expect(JSON.stringify(found.result)).not.toContain(marker);
  expect(JSON.stringify((await callTool(all, "list_memories", {})).result)).toContain(marker);
});

test("a token expires when it was told to", async ({ page }) => {
  const name = unique("brief");
  await create(page, name, { expires: "30" });
  await page.getByRole("link", { name: "I have copied it" }).click();
  const record = await open(page, name);
  await expect(record.locator("dl")).toContainText("in 30 days");
});

test("the secret is copied by one press, and is nowhere when the page is left", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const secret = await create(page, unique("copied"));
  await alive(page);
  await page.locator("figure").first().getByRole("button", { name: "Copy" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);

  await page.getByRole("link", { name: "I have copied it" }).click();
  await page.goBack();
  await page.goto("/tokens");
  expect(await page.content()).not.toContain(secret);
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(stored).not.toContain("pmn_");
});

test("what is in a name is text", async ({ page }) => {
  const name = unique(`<img src=x onerror="document.title='gone'">`);
  await create(page, name);
  await page.getByRole("link", { name: "I have copied it" }).click();
  await expect(page.getByRole("heading", { name, exact: true })).toBeVisible();
  await expect(page).toHaveTitle(/^Tokens/);
});

test("has no accessibility faults and fits a phone", async ({ page }) => {
  const name = unique("seen");
  await create(page, name);
  await audit(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
  await page.getByRole("link", { name: "I have copied it" }).click();
  await open(page, name);
  await page.getByRole("radio", { name: "only these" }).check();
  await audit(page);
  await fits(page);
});

test("strangers are led to the sign-in page, and back", async ({ browser }) => {
  const page = await browser.newPage({ storageState: { cookies: [], origins: [] } });
  await page.goto("/tokens");
  await expect(page).toHaveURL("/sign-in?next=/tokens");
  await page.close();
});

test("a form that is sent after the session ended loses nothing", async ({ browser }) => {
  const visitor = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const page = await visitor.newPage();
  const { signInLink } = await import("../signed-in.ts");
  await page.goto(signInLink());
  await page.goto("/tokens");
  const name = unique("kept through it all");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await visitor.clearCookies();
  await page.getByRole("button", { name: "Create token" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("You are no longer signed in");
  await audit(page);

  const other = await visitor.newPage();
  await other.goto(signInLink());
  await page.getByRole("button", { name: "Send it again" }).click();
  await expect(page.getByRole("heading", { name: "Your new token" })).toContainText(name);
  await visitor.close();
});
