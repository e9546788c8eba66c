import { audit, expect, fits, test } from "../fixtures.ts";

const asBrowser = { accept: "text/html,application/xhtml+xml", "accept-language": "zh-CN" };

test("a request that another site made ends at a page in the browser's language", async ({ request }) => {
  const response = await request.post("/api/choose_language", {
    form: { language: "zh", back: "/" },
    headers: { ...asBrowser, origin: "https://example.org" },
  });
  expect(response.status()).toBe(403);
  expect(response.headers()["content-type"]).toContain("text/html");
  expect(await response.text()).toContain("不允许这样做");
});

test("programs get their line of text", async ({ request }) => {
  const response = await request.post("/api/choose_language", {
    form: { language: "zh", back: "/" },
    headers: { accept: "application/json", origin: "https://example.org" },
  });
  expect(response.status()).toBe(403);
  expect(await response.text()).not.toContain("<html");
});

test("the page has no accessibility faults and fits a phone", async ({ page, baseURL }) => {
  // The same page, as the browser itself meets it: a form that does not say what it is for.
  await page.goto("/");
  await page.evaluate((action) => {
    const form = document.createElement("form");
    Object.assign(form, { method: "post", action });
    document.body.append(form);
    form.submit();
  }, `${baseURL}/`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("The server did not understand this");
  await page.setViewportSize({ width: 390, height: 844 });
  await audit(page);
  await fits(page);
});
