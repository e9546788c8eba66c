import { audit, expect, fits, test } from "../fixtures.ts";

test("an address that leads nowhere says so, and leads home", async ({ page }) => {
  const response = await page.goto("/no/such/page?at=all");
  expect(response?.status()).toBe(404);
  await expect(page).toHaveTitle("There is no page here · polymnemo");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("There is no page here");
  await page.getByRole("link", { name: "Go to the first page" }).click();
  await expect(page).toHaveURL("/");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("One memory for every AI you use");
});

test("it has no accessibility faults and fits a phone", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/no/such/page");
  await audit(page);
  await fits(page);
});

test("it speaks Chinese, and stays there when the language changes", async ({ page }) => {
  await page.goto("/no/such/page?at=all");
  await page.getByRole("button", { name: "中文" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("这里没有页面");
  await expect(page).toHaveURL("/no/such/page?at=all");
});

test("a program gets one line instead of a page", async ({ request }) => {
  const response = await request.post("/no/such/page", { headers: { accept: "application/json" } });
  expect(response.status()).toBe(404);
  expect(await response.text()).not.toContain("<html");
});
