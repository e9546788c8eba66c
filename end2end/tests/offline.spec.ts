import { audit, expect, test } from "../fixtures.ts";

test.use({ serviceWorkers: "allow" });

test("without a connection a page says so, and is back with it", async ({ page, context }) => {
  await page.goto("/");
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await expect.poll(() => page.evaluate(() => caches.match("/offline").then((kept) => !!kept))).toBe(true);
  await page.goto("/sign-in");

  await context.setOffline(true);
  await page.goto("/sign-in?next=/tokens").catch(() => undefined);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("No connection");
  await expect(page.getByRole("heading", { level: 2 })).toHaveText("没有连接");
  await audit(page);

  await context.setOffline(false);
  await page.getByRole("link", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Sign in");
  await expect(page).toHaveURL("/sign-in?next=/tokens");
});

test("a page kept for that moment holds nothing of a person", async ({ request }) => {
  const response = await request.get("/offline");
  expect(response.status()).toBe(200);
  expect(response.headers()["content-security-policy"]).toContain("default-src 'none'");
  expect(await response.text()).not.toContain("<script");
});
