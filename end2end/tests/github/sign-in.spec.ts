// Signing in with GitHub, at a stand-in for it.

import { audit, expect, fits, test } from "../../fixtures.ts";
import { textField } from "../../memories.ts";

test("a person signs in, comes to where they wanted to go, and signs out", async ({ page, context, request }) => {
  const stranger = await request.get("/memories?q=tea", { maxRedirects: 0 });
  expect(stranger.status()).toBe(303);

  await page.goto("/memories?q=tea");
  await expect(page).toHaveURL(/\/sign-in\?next=/);
  await page.getByRole("link", { name: "Sign in with GitHub" }).click();
  await expect(page).toHaveURL(/\/memories\?q=tea$/);
  await expect(page.locator(".person .name")).toHaveText("octocat");
  await expect(page.getByRole("searchbox")).toHaveValue("tea");

  const session = (await context.cookies()).find((cookie) => cookie.httpOnly && cookie.sameSite === "Lax" && cookie.name.includes("session"));
  expect(session, "the session's cookie is kept from scripts").toBeDefined();
  expect(await page.evaluate(() => document.cookie)).not.toContain(session!.value);

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.goto("/memories");
  await expect(page).toHaveURL(/\/sign-in/);
});

test("whoever signs out leaves no half-written text behind", async ({ page }) => {
  const signIn = async () => {
    await page.goto("/sign-in?next=/memories/new");
    await page.getByRole("link", { name: "Sign in with GitHub" }).click();
    await expect(page.locator("html[data-alive]")).toBeAttached();
  };
  await signIn();
  await textField(page).fill("Not yet for anyone’s eyes.");
  await page.reload();
  await expect(textField(page)).toHaveValue("Not yet for anyone’s eyes.");
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/\/$|\/sign-in/);
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain("eyes");
  await signIn();
  await expect(textField(page)).toHaveValue("");
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("a person signs in all the same", async ({ page }) => {
    await page.goto("/");
    await page.getByRole("link", { name: "Sign in with GitHub" }).click();
    await expect(page).toHaveURL(/\/memories$/);
    await expect(page.getByRole("heading", { name: "Nothing remembered yet" })).toBeVisible();
  });
});

test("a state that is not of this browser signs nobody in", async ({ page }) => {
  const response = await page.goto("/sign-in/github/callback?code=0123456789abcdef&state=0123456789abcdef0123456789abcdef");
  expect(response?.url()).toContain("/sign-in?problem=");
  await expect(page.getByRole("alert")).toBeVisible();
  await page.goto("/memories");
  await expect(page).toHaveURL(/\/sign-in/);
});

test("the way in has no accessibility faults and fits a phone", async ({ page }) => {
  await page.goto("/sign-in");
  await audit(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
});
