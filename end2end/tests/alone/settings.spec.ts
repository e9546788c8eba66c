// What is changed here concerns all pages of the person, so nothing else runs at the same time.

import { alive, audit, expect, fits, signInLink, test, unique } from "../../signed-in.ts";
import type { Page } from "@playwright/test";

test.describe.configure({ mode: "serial" });

async function save(page: Page, name = "Save") {
  await page.getByRole("button", { name, exact: true }).click();
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("the language is changed, on all pages, and back", async ({ page }) => {
      await page.goto("/settings");
      await page.getByLabel("中文").check();
      await save(page);
      await expect(page.locator("html")).toHaveAttribute("lang", "zh-Hans");
      await expect(page.locator("main").getByRole("status")).toHaveText("已保存。");
      await page.goto("/tokens");
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("令牌");
      await page.goto("/settings");
      await page.getByLabel("跟随浏览器").check();
      await save(page, "保存");
      await expect(page.locator("html")).toHaveAttribute("lang", "en");
      await expect(page.locator("main").getByRole("status")).toHaveText("Saved.");
      await expect(page.getByLabel("As the browser asks")).toBeChecked();
    });

    test("the theme is changed, whatever the system's is", async ({ page }) => {
      await page.emulateMedia({ colorScheme: "light" });
      await page.goto("/settings");
      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const light = javaScriptEnabled ? await background() : "";
      await page.getByLabel("Dark").check();
      await save(page);
      await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
      if (javaScriptEnabled) expect(await background()).not.toBe(light);
      await page.getByLabel("As the system is set").check();
      await save(page);
      await expect(page.locator("html:not([data-theme])")).toBeAttached();
    });

    test("a time zone that is none is told beside it, with all that was typed", async ({ page }) => {
      await page.goto("/settings");
      const zone = page.getByLabel("Time zone");
      await zone.fill("Atlantis/Deep");
      await page.getByLabel("Dark").check();
      await save(page);
      await expect(zone).toHaveValue("Atlantis/Deep");
      await expect(zone).toHaveAttribute("aria-invalid", "true");
      await expect(zone).toBeFocused();
      await expect(page.locator(".fault")).toContainText("Europe/Berlin");
      await expect(page.getByLabel("Dark")).toBeChecked();
      await page.goto("/settings");
      await expect(page.getByLabel("As the system is set")).toBeChecked();
    });
  });
}

test("times are shown in the zone that was chosen", async ({ page }) => {
  await page.goto("/settings");
  await page.getByLabel("Time zone").fill("Asia/Kathmandu");
  await save(page);
  await expect(page.locator("html")).toHaveAttribute("data-time-zone", "Asia/Kathmandu");

  await page.goto("/tokens");
  await page.getByLabel("Name", { exact: true }).fill(unique("zone"));
  await page.getByRole("button", { name: "Create token" }).click();
  await page.getByRole("link", { name: "I have copied it" }).click();
  await page.locator("details.record > summary").first().click();
  const time = page.locator("details.record time").first();
  const at = new Date((await time.getAttribute("datetime")) ?? "");
  const there = at.toLocaleString("sv-SE", { timeZone: "Asia/Kathmandu" });
  await expect(time).toHaveAttribute("title", there);
});

test.describe("in Tokyo", () => {
  test.use({ timezoneId: "Asia/Tokyo" });

  test("the browser's own time zone is one press away", async ({ page }) => {
    await page.goto("/settings");
    await alive(page);
    await page.getByRole("button", { name: "Use this browser’s: Asia/Tokyo" }).click();
    await expect(page.getByLabel("Time zone")).toHaveValue("Asia/Tokyo");
    await save(page);
    await expect(page.locator("main").getByRole("status")).toHaveText("Saved.");
    await expect(page.locator("html")).toHaveAttribute("data-time-zone", "Asia/Tokyo");
  });
});

test("the default namespace is chosen among one's own", async ({ page }) => {
  const name = unique("default");
  await page.goto("/namespaces");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Create" }).click();
  await page.goto("/settings");
  const before = await page.getByLabel("Default namespace").inputValue();
  await page.getByLabel("Default namespace").selectOption(name);
  await save(page);
  await expect(page.getByLabel("Default namespace")).toHaveValue(name);
  await page.goto("/namespaces");
  const record = page.locator("details.record").filter({ has: page.getByRole("heading", { name, exact: true }) });
  await expect(record.locator("summary")).toContainText("Default");

  const old = page.locator("details.record").filter({ has: page.getByRole("heading", { name: before, exact: true }) });
  await old.locator("summary").click();
  await old.getByRole("button", { name: "Make it the default" }).click();
  await expect(old.locator("summary")).toContainText("Default");
});

test("the language button of any page is the setting, too", async ({ page }) => {
  await page.goto("/connect");
  await page.getByRole("button", { name: "中文" }).first().click();
  await expect(page).toHaveURL("/connect");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("连接");
  await page.goto("/settings");
  await expect(page.getByLabel("中文")).toBeChecked();
  await audit(page);
  await page.getByLabel("跟随浏览器").check();
  await save(page, "保存");
});

test("has no accessibility faults and fits a phone", async ({ page }) => {
  await page.goto("/settings");
  await audit(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
});

test("signing out everywhere ends every session at once, and no token", async ({ browser }) => {
  const [here, there] = await Promise.all([browser.newContext(), browser.newContext()]);
  const [one, other] = [await here.newPage(), await there.newPage()];
  await one.goto(signInLink());
  await other.goto(signInLink());
  await other.goto("/settings");
  await expect(other.getByRole("heading", { level: 1 })).toHaveText("Settings");

  await one.goto("/settings");
  await one.getByRole("button", { name: "Sign out everywhere" }).click();
  await expect(one).toHaveURL("/");
  await other.reload();
  await expect(other).toHaveURL("/sign-in?next=/settings");
  const response = await one.request.post("/mcp", {
    headers: { authorization: `Bearer ${process.env.END2END_KEY}`, accept: "application/json, text/event-stream" },
    data: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
  });
  expect(response.status()).toBe(200);
  await Promise.all([here.close(), there.close()]);
});
