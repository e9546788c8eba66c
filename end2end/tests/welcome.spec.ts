import { audit, expect, fits, hydrated, layoutShift, restore, test, withhold } from "../fixtures.ts";

const settings = (baseURL: string | undefined) => ({
  mcpServers: {
    polymnemo: { type: "http", url: `${baseURL}/mcp`, headers: { Authorization: "Bearer YOUR_TOKEN" } },
  },
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the page says what polymnemo is and how to connect", async ({ page, baseURL }) => {
    await page.goto("/");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("One memory for every AI you use");
    await expect(page.locator(".status-line")).toHaveText("The memory is ready.");
    expect(JSON.parse(await page.locator("pre code").innerText())).toEqual(settings(baseURL));
    await expect(page.getByRole("button", { name: "Copy" })).toBeHidden();
  });

  test("the language can be changed, and stays", async ({ page }) => {
    await page.goto("/");
    await page.getByRole("button", { name: "中文" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("所有 AI 共用一份记忆");
    await page.goto("/");
    await expect(page.locator("html")).toHaveAttribute("lang", "zh-Hans");
  });
});

test("comes to life, and copies the settings", async ({ page, context, baseURL }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/");
  await page.getByRole("button", { name: "Copy" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  await expect(page.locator("figcaption [role=status]")).toHaveText("Copied");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(JSON.parse(copied)).toEqual(settings(baseURL));
  await expect(page.getByRole("button", { name: "Copy" })).toBeVisible();
});

test("says so when the browser gives no clipboard away", async ({ page, context }) => {
  await page.addInitScript(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException("denied", "NotAllowedError"));
  });
  await context.clearPermissions();
  await page.goto("/");
  await page.getByRole("button", { name: "Copy" }).click();
  await expect(page.getByRole("button", { name: "Not allowed: select and copy" })).toBeVisible();
});

test("nothing moves when the page comes to life", async ({ page }) => {
  await page.goto("/");
  await hydrated(page);
  expect(await layoutShift(page)).toBe(0);
});

test("the status follows the server", async ({ page }) => {
  await page.clock.install();
  await page.goto("/");
  await hydrated(page);
  const status = page.locator(".status-line");
  await expect(status).toHaveText("The memory is ready.");

  await withhold(page, "**/api/server_status*");
  await page.clock.runFor("00:31");
  await expect(status).toHaveText("The server does not answer. This page keeps trying.");
  await expect(status).toHaveAttribute("data-state", "failed");

  await restore(page, "**/api/server_status*");
  await page.clock.runFor("00:03");
  await expect(status).toHaveText("The memory is ready.");
  await expect(status).toHaveAttribute("data-state", "ready");
});

test("no page shows the key", async ({ page }) => {
  await page.goto("/");
  await hydrated(page);
  expect(process.env.END2END_KEY).toBeTruthy();
  expect(await page.content()).not.toContain(process.env.END2END_KEY);
});

test.describe("in Chinese", () => {
  test.use({ locale: "zh-CN" });

  test("the first visit follows the browser, and hydration keeps to it", async ({ page }) => {
    await page.goto("/");
    await hydrated(page);
    await expect(page.locator("html")).toHaveAttribute("lang", "zh-Hans");
    await expect(page).toHaveTitle("所有 AI 共用一份记忆 · polymnemo");
    await expect(page.locator(".status-line")).toHaveText("记忆已就绪。");
    await audit(page);
  });

  test("a choice wins over the browser", async ({ page }) => {
    await page.goto("/");
    await page.getByRole("button", { name: "English" }).click();
    await expect(page.locator("html")).toHaveAttribute("lang", "en");
    await page.reload();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("One memory for every AI you use");
  });
});

test("the choice of a language leads nowhere else", async ({ request, baseURL }) => {
  const origin = new URL(baseURL!).origin;
  for (const back of ["//example.org/", "https://example.org/", "/\\example.org", ""]) {
    const response = await request.post("/api/choose_language", {
      form: { language: "zh", back },
      headers: { accept: "text/html", origin },
      maxRedirects: 0,
    });
    expect(response.status()).toBe(302);
    expect(response.headers().location).toBe("/");
  }
  const unknown = await request.post("/api/choose_language", {
    form: { language: "tlh", back: "/" },
    headers: { origin },
  });
  expect(unknown.status()).toBe(400);
});

test("another site's form changes nothing", async ({ request }) => {
  const response = await request.post("/api/choose_language", {
    form: { language: "zh", back: "/" },
    headers: { origin: "https://example.org" },
  });
  expect(response.status()).toBe(403);
  expect(response.headers()["set-cookie"]).toBeUndefined();
});

test("a keyboard reaches everything", async ({ page }) => {
  await page.goto("/");
  await hydrated(page);
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim().slice(0, 20));
  const reached = [];
  for (let step = 0; step < 7; step++) {
    await page.keyboard.press("Tab");
    reached.push(await focused());
  }
  expect(reached.slice(0, 6)).toEqual(["Skip to content", "polymnemo", "中文", "", "Sign in", "Copy"]);
  await expect(page.locator("pre")).toBeFocused();

  await page.getByRole("link", { name: "Skip to content" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.locator("main")).toBeFocused();
});

test("has no accessibility faults", async ({ page }) => {
  await page.goto("/");
  await hydrated(page);
  await audit(page);
});

for (const width of [320, 390, 768]) {
  test(`fits a window ${width} pixels wide`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    await page.goto("/");
    await hydrated(page);
    await fits(page);
  });
}

test("the policy is strict and its nonce new each time", async ({ request }) => {
  const nonces = new Set<string>();
  for (let visit = 0; visit < 3; visit++) {
    const response = await request.get("/");
    const policy = response.headers()["content-security-policy"];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe-inline");
    expect(policy).not.toContain("'unsafe-eval'");
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
    expect(nonce.length).toBeGreaterThanOrEqual(22);
    nonces.add(nonce);
    const scripts = (await response.text()).match(/<script[^>]*>/g) ?? [];
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`);
  }
  expect(nonces.size).toBe(3);
});

test("the first load is small, and its files are kept", async ({ page, request }) => {
  const responses: import("@playwright/test").Response[] = [];
  page.on("response", (response) => responses.push(response));
  await page.goto("/");
  await hydrated(page);

  let bytes = 0;
  for (const response of responses) {
    const { responseBodySize, responseHeadersSize } = await response.request().sizes();
    bytes += responseBodySize + responseHeadersSize;
  }
  expect(bytes).toBeLessThan(350_000);

  const files = responses.map((response) => new URL(response.url()).pathname).filter((path) => path.startsWith("/pkg/"));
  expect(files.map((path) => path.split("/").pop()).sort()).toEqual(["polymnemo.css", "polymnemo.js", "polymnemo.wasm"]);
  for (const path of files) {
    const response = await request.get(path, { headers: { "accept-encoding": "br" } });
    expect(response.headers()["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(response.headers()["content-encoding"]).toBe("br");
  }
  const gone = await request.get("/pkg/0000000000000000/polymnemo.js");
  expect(gone.status()).toBe(404);
});
