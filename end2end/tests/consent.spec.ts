import { app as startApp } from "../apps.ts";
import { alive, audit, callTool, expect, fits, layoutShift, signInLink, test as base, unique } from "../signed-in.ts";

type App = Awaited<ReturnType<typeof startApp>>;

const test = base.extend<{ app: App }>({
  app: async ({}, use) => {
    const app = await startApp(unique("Ladder"));
    await use(app);
    await app.close();
  },
});

const allow = { name: "Let in", exact: true };
const deny = { name: "Don’t let in", exact: true };

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("an app is let in, reads, and is listed with what it saw", async ({ page, app, baseURL }) => {
      await app.ask(page);
      await expect(page).toHaveURL(/\/consent\?request=/);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(`Let ${app.name} in?`);
      await expect(page.locator(".consent")).toContainText("unverified");
      await expect(page.locator(".consent")).toContainText("127.0.0.1");
      await expect(page.locator(".consent .note")).toContainText("any program could call itself by this name");
      await page.getByRole("button", allow).click();

      const answer = await app.answer(page);
      expect(answer.get("state")).toBe(app.state);
      expect(answer.get("iss")).toBe(baseURL);
      const token = await app.token(answer.get("code") ?? "");
      expect((await callTool(token, "list_memories", {})).status).toBe(200);

      await page.goto("/apps");
      const record = page.locator("details.record").filter({ has: page.getByRole("heading", { name: app.name, exact: true }) });
      await record.locator("> summary").click();
      await expect(record.locator("> summary")).toContainText("unverified");
      await expect(record.locator("dl").first()).toContainText("127.0.0.1");
      await record.getByRole("button", { name: "Pause" }).click();
      expect((await callTool(token, "list_memories", {})).status).not.toBe(200);
      await record.locator("> summary").click();
      await record.getByRole("button", { name: "End access" }).click();
      await expect(page.getByRole("region", { name: "Ended or expired" }).getByRole("heading", { name: app.name })).toBeVisible();
      expect((await callTool(token, "list_memories", {})).status).toBe(401);
    });

    test("an app that is not let in is told so, and gets nothing", async ({ page, app }) => {
      await app.ask(page);
      await page.getByRole("button", deny).click();
      const answer = await app.answer(page);
      expect(answer.get("error")).toBe("access_denied");
      expect(answer.get("state")).toBe(app.state);
      expect(answer.has("code")).toBe(false);
    });

    test("what was decided is kept, and filled in when the app asks again", async ({ page, app }) => {
      const namespace = unique("only").replace(" ", "-");
      await page.goto("/namespaces");
      await page.getByLabel("Name", { exact: true }).fill(namespace);
      await page.getByRole("button", { name: "Create" }).click();

      await app.ask(page);
      await page.getByRole("radio", { name: /^read Recall/ }).check();
      await page.getByRole("radio", { name: "only these" }).check();
      await page.getByRole("checkbox", { name: namespace }).check();
      await page.getByLabel("For", { exact: true }).selectOption("7");
      await page.getByRole("button", allow).click();
      const token = await app.token((await app.answer(page)).get("code") ?? "");
      const stored = await callTool(token, "remember", { content: "Not to be kept.", namespace });
      expect(stored.status === 403 || stored.result?.isError === true).toBe(true);

      await app.ask(page);
      await expect(page.locator(".consent")).toContainText("You let it in just now.");
      await expect(page.getByRole("radio", { name: /^read Recall/ })).toBeChecked();
      await expect(page.getByRole("radio", { name: "only these" })).toBeChecked();
      await expect(page.getByRole("checkbox", { name: namespace })).toBeChecked();
      await expect(page.getByRole("checkbox", { name: "and those that are made later" })).not.toBeChecked();
      await expect(page.getByLabel("For", { exact: true })).toHaveValue("7");
    });

    test("no namespace chosen is told beside the namespaces", async ({ page, app }) => {
      await app.ask(page);
      await page.getByRole("radio", { name: "only these" }).check();
      await page.getByRole("button", allow).click();
      await expect(page).toHaveURL(/problem=namespaces/);
      await expect(page.getByRole("group", { name: "In", exact: true })).toContainText("Choose at least one namespace");
      await expect(page.getByRole("radio", { name: "only these" })).toBeChecked();
      await page.getByRole("radio", { name: "all namespaces" }).check();
      await page.getByRole("button", allow).click();
      expect((await app.answer(page)).has("code")).toBe(true);
    });
  });
}

test("the keyboard lets nobody in by mistake", async ({ page, app }) => {
  await app.ask(page);
  await page.getByRole("radio", { name: "all namespaces" }).focus();
  await page.keyboard.press("Enter");
  expect((await app.answer(page)).get("error")).toBe("access_denied");
});

test("whoever is not signed in signs in first, and comes back", async ({ browser, app }) => {
  const visitor = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const page = await visitor.newPage();
  await page.goto(app.authorize());
  await expect(page).toHaveURL(/\/sign-in\?next=/);
  await page.getByLabel("Sign-in link").fill(signInLink());
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(`Let ${app.name} in?`);
  await page.getByRole("button", { name: "Sign in as someone else" }).click();
  await expect(page).toHaveURL(/\/sign-in\?next=.*consent/);
  await visitor.close();
});

test("another browser can neither see the request nor answer it", async ({ page, browser, app, baseURL }) => {
  await app.ask(page);
  const link = page.url();
  const visitor = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const other = await visitor.newPage();
  await other.goto(signInLink());
  const response = await other.goto(link);
  expect(response?.status()).toBe(404);
  await expect(other.getByRole("heading", { level: 1 })).toHaveText("This request is over");
  expect(await other.content()).not.toContain(app.name);
  await visitor.close();
  // Here it waits still.
  await page.reload();
  await expect(page.getByRole("button", allow)).toBeVisible();
  expect(link.startsWith(`${baseURL}/consent?`)).toBe(true);
});

test("a request that is over or never was is a calm page", async ({ page, app }) => {
  await app.ask(page);
  const link = page.url();
  await page.getByRole("button", deny).click();
  await app.answer(page);
  for (const address of [link, "/consent?request=nonsense", "/consent"]) {
    const response = await page.goto(address);
    expect(response?.status()).toBe(404);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("This request is over");
  }
  await audit(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
});

test("the page's forms lead to the app and nowhere else", async ({ page, app, request }) => {
  await app.ask(page);
  const policy = (await page.reload())?.headers()["content-security-policy"] ?? "";
  expect(policy).toContain(`form-action 'self' http://127.0.0.1:${app.port};`);
  expect(policy).toContain("frame-ancestors 'none'");
  const other = await request.get("/tokens");
  expect(other.headers()["content-security-policy"]).toContain("form-action 'self';");
});

test("what an app calls itself is text", async ({ page }) => {
  const rude = await startApp(`<b>Rude</b>\u202e "app" ${"x".repeat(60)}`);
  await rude.ask(page);
  await expect(page.getByRole("heading", { level: 1 })).toContainText(`Let <b>Rude</b> "app" xxx`);
  await expect(page).toHaveTitle(/^Let <b>Rude<\/b> "app" x+ in\? · polymnemo$/);
  expect(await page.content()).not.toContain("\u202e");
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
  await rude.close();
});

test("has no accessibility faults, fits a phone and stands still", async ({ page, app }) => {
  await app.ask(page);
  expect(await layoutShift(page)).toBeLessThan(0.02);
  await page.getByRole("radio", { name: "only these" }).check();
  await audit(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
  await alive(page);
});

test.describe("in Chinese", () => {
  test.use({ locale: "zh-CN" });

  test("the page says it all", async ({ page, app }) => {
    await app.ask(page);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(`允许 ${app.name} 访问？`);
    await expect(page.getByRole("button", { name: "不允许" })).toBeVisible();
  });
});
