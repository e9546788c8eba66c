// What the pages of memories do once they are alive.

import { listOf, openRow, ownNamespace, read, ready, remember, row, rows, textField, toast } from "../memories.ts";
import { audit, expect, fits, layoutShift, signInLink, test, unique } from "../signed-in.ts";

test("the list follows what is typed, and forgets older questions", async ({ page }) => {
  const namespace = ownNamespace();
  const word = unique("walrus").replace(" ", "");
  await remember(`A ${word} likes clams.`, { namespace });
  await remember("A gull likes chips.", { namespace });
  await page.goto(listOf(namespace));
  await ready(page, true);

  const asked: string[] = [];
  let aborted = 0;
  page.on("request", (request) => {
    if (request.url().includes("find_memories")) asked.push(request.url());
  });
  page.on("requestfailed", (request) => {
    if (request.url().includes("find_memories")) aborted++;
  });
  await page.route("**/api/find_memories*", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    await route.continue().catch(() => {});
  });
  await page.getByRole("searchbox").pressSequentially("gull", { delay: 20 });
  await expect.poll(() => asked.length).toBe(1);
  await page.getByRole("searchbox").fill(word);
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText(word);
  expect(asked.length).toBe(2);
  expect(aborted).toBe(1);
  await expect(page).toHaveURL(new RegExp(`q=${word}`));
  await page.goBack();
  await expect(page.getByRole("searchbox")).toHaveValue("");
  await expect(rows(page)).toHaveCount(2);
});

test("the memory opens beside the list, which stays as it is", async ({ page }) => {
  const namespace = ownNamespace();
  for (let number = 0; number < 30; number++) await remember(`Line ${number} of a long list.`, { namespace });
  await page.goto(listOf(namespace));
  await ready(page, true);
  const pane = page.locator(".list-pane");
  await row(page, "Line 2 of a long list.").scrollIntoViewIfNeeded();
  const place = await pane.evaluate((pane) => pane.scrollTop);
  expect(place).toBeGreaterThan(0);
  await openRow(page, "Line 2 of a long list.");
  await expect(page).toHaveURL(new RegExp(`namespace=${namespace}`));
  await expect(row(page, "Line 2 of a long list.")).toHaveClass(/is-open/);
  expect(await pane.evaluate((pane) => pane.scrollTop)).toBe(place);
  await page.getByRole("link", { name: "Back to the list" }).click();
  await expect(page.locator(".detail")).toHaveCount(0);
  expect(await pane.evaluate((pane) => pane.scrollTop)).toBe(place);
});

test("everything can be done from the keyboard", async ({ page }) => {
  const namespace = ownNamespace();
  for (const text of ["Third line.", "Second line.", "First line."]) await remember(text, { namespace });
  await page.goto(listOf(namespace));
  await ready(page, true);

  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();

  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("searchbox")).not.toBeFocused();

  const link = (text: string) => row(page, text).getByRole("link");
  await page.keyboard.press("j");
  await expect(link("First line.")).toBeFocused();
  await page.keyboard.press("j");
  await expect(link("Second line.")).toBeFocused();
  await page.keyboard.press("k");
  await expect(link("First line.")).toBeFocused();

  await page.keyboard.press("Enter");
  await expect(page.locator(".memory-text")).toHaveText("First line.");
  await page.keyboard.press("Escape");
  await expect(page.locator(".detail")).toHaveCount(0);

  await expect(link("First line.")).toBeFocused();
  await page.keyboard.press("x");
  await expect(row(page, "First line.").getByRole("checkbox")).toBeChecked();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await expect(page.locator(".bulk-bar")).toBeVisible();
  await page.keyboard.press("#");
  await expect(toast(page)).toContainText("2 memories forgotten.");
  await expect(rows(page)).toHaveCount(1);
  await expect(link("Third line.")).toBeFocused();
  await page.keyboard.press("u");
  await expect(rows(page)).toHaveCount(3);

  await link("Second line.").focus();
  await page.keyboard.press("#");
  await expect(toast(page)).toContainText("1 memory forgotten.");
  await page.keyboard.press("u");
  await expect(rows(page)).toHaveCount(3);

  // The list that comes back may take the focus along with the row it replaces.
  await expect(async () => {
    await link("Second line.").focus();
    await page.keyboard.press("e");
    await expect(textField(page)).toHaveValue("Second line.", { timeout: 1_000 });
  }).toPass();
  await expect(textField(page)).toBeFocused();
  await page.keyboard.press("x");
  await expect(textField(page)).toHaveValue(/x/);
});

test("what is typed survives the end of the session", async ({ page, context }) => {
  const id = await remember("Before the session ended.", { namespace: ownNamespace() });
  await page.goto(`/memories/${id}/edit`);
  await ready(page, true);
  await textField(page).fill("After the session ended.");
  const cookies = await context.cookies();
  await context.clearCookies();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "sign" })).toBeVisible();
  await expect(textField(page)).toHaveValue("After the session ended.");

  await page.goto(signInLink());
  await page.goto(`/memories/${id}/edit`);
  await expect(textField(page)).toHaveValue("After the session ended.");
  await expect(page.getByText("This is what you typed before")).toBeVisible();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.locator(".memory-text")).toHaveText("After the session ended.");
  expect(await read(id)).toBe("After the session ended.");
  await page.goto(`/memories/${id}/edit`);
  await ready(page, true);
  await expect(page.getByText("This is what you typed before")).toBeHidden();
  expect(cookies.length).toBeGreaterThan(0);
});

test("a draft that is not wanted is discarded", async ({ page }) => {
  const id = await remember("As it is stored.", { namespace: ownNamespace() });
  await page.goto(`/memories/${id}/edit`);
  await ready(page, true);
  await textField(page).fill("Half a thought");
  await page.getByRole("link", { name: "Cancel" }).click();
  await expect(page.locator(".memory-text")).toHaveText("As it is stored.");
  await page.getByRole("link", { name: "Edit" }).click();
  await expect(textField(page)).toHaveValue("Half a thought");
  await page.getByRole("button", { name: "Discard it" }).click();
  await expect(textField(page)).toHaveValue("As it is stored.");
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("the memory takes the place of the list, which is found again where it was left", async ({ page }) => {
    const namespace = ownNamespace();
    for (let number = 0; number < 30; number++) await remember(`Line ${number} for a phone.`, { namespace });
    await page.goto(listOf(namespace));
    await ready(page, true);
    await fits(page);
    await row(page, "Line 2 for a phone.").scrollIntoViewIfNeeded();
    const place = await page.evaluate(() => scrollY);
    await openRow(page, "Line 2 for a phone.");
    await expect(page.locator(".list-pane")).toBeHidden();
    await fits(page);
    await page.getByRole("link", { name: "Back to the list" }).click();
    await expect(page.locator(".list-pane")).toBeVisible();
    await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(place - 100);
  });

  for (const path of ["/memories", "/memories/new", "/trash"]) {
    test(`${path} fits`, async ({ page }) => {
      await remember(unique("averyveryveryverylongwordwithoutanyspacesthatmustnotbreakthelayout".repeat(3)), {
        namespace: ownNamespace(),
        tags: ["a-very-long-tag-that-goes-on-and-on-and-on-until-it-can-not-go"],
      });
      await page.goto(path);
      await ready(page, true);
      await fits(page);
    });
  }
});

test("no page has an accessibility fault", async ({ page }) => {
  // It looks at every page, one after the other.
  test.setTimeout(240_000);
  const namespace = ownNamespace();
  const id = await remember("# Title\n\nSome *text* with `code`, a [link](https://example.org) and\n\n| a | b |\n| - | - |\n| 1 | 2 |", {
    namespace,
    tags: ["one", "two"],
    source: "https://example.org/",
  });
  await page.goto(`/memories/${id}/edit`);
  await ready(page, true);
  await textField(page).fill("Changed.");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(toast(page)).toBeVisible();
  await audit(page);
  for (const path of [
    listOf(namespace),
    `${listOf(namespace)}&q=title`,
    `/memories?namespace=${namespace}-none`,
    "/memories/new",
    `/memories/${id}`,
    `/memories/${id}?show=raw`,
    `/memories/${id}/edit`,
    `/memories/${id}/history?revision=1`,
    "/trash",
  ]) {
    await page.goto(path);
    await ready(page, true);
    await audit(page);
  }
  await page.goto(listOf(namespace));
  await ready(page, true);
  await rows(page).getByRole("checkbox").check();
  await page.getByText("Tag or move").click();
  await audit(page);
  await page.keyboard.press("?");
});

test("nothing moves when the page comes to life", async ({ page }) => {
  const namespace = ownNamespace();
  for (let number = 0; number < 5; number++) await remember(`Still line ${number}.`, { namespace });
  await page.goto(listOf(namespace));
  await ready(page, true);
  expect(await layoutShift(page)).toBe(0);
});

test("texts stay texts, whatever is in them", async ({ page }) => {
  test.slow();
  const namespace = ownNamespace();
  const attacks = [
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "\"><svg onload=window.hit=1>",
    "[a](javascript:window.hit=1)",
    "</textarea><script>window.hit=1</script>",
    "</title><script>window.hit=1</script>",
    "<a href=\"jav&#x09;ascript:window.hit=1\">a</a>",
    "`<script>window.hit=1</script>`",
    "{{constructor.constructor('window.hit=1')()}}",
    "<!--><script>window.hit=1</script>",
  ];
  for (const attack of attacks) {
    const id = await remember(`${attack} ${unique("attack")}`, { namespace, tags: [attack.slice(0, 60)], source: attack });
    for (const path of [`/memories/${id}`, `/memories/${id}/edit`, `/memories/${id}/history?revision=1`, `/memories/${id}?show=raw`]) {
      await page.goto(path);
      await ready(page, true);
    }
  }
  await page.goto(`${listOf(namespace)}&q=attack`);
  await ready(page, true);
  await rows(page).first().getByRole("checkbox").check();
  await page.locator(".bulk-bar").getByRole("button", { name: "Forget" }).click();
  await expect(toast(page)).toBeVisible();
  await page.goto("/trash");
  await ready(page, true);
  expect(await page.evaluate(() => (window as unknown as { hit?: number }).hit)).toBeUndefined();
});

test.describe("in Chinese", () => {
  test.use({ locale: "zh-CN" });

  test("the pages speak Chinese, notices included", async ({ page }) => {
    const namespace = ownNamespace();
    await remember("上海办公室的会议室预订改用飞书。", { namespace });
    await page.goto(listOf(namespace));
    await ready(page, true);
    await expect(page.locator(".list-summary")).toHaveText("1 条记忆");
    await page.getByRole("searchbox").fill("会议室");
    await expect(rows(page).locator("mark")).toHaveText("会议室");
    await rows(page).getByRole("checkbox").check();
    await expect(page.locator(".selected")).toContainText("已选");
    await page.locator(".bulk-bar").getByRole("button", { name: "忘记" }).click();
    await expect(toast(page)).toContainText("已忘记 1 条记忆。");
    await audit(page);
  });
});

test("the first load is small", async ({ page }) => {
  const responses: import("@playwright/test").Response[] = [];
  page.on("response", (response) => responses.push(response));
  await page.goto("/memories");
  await ready(page, true);
  let bytes = 0;
  for (const response of responses) {
    const { responseBodySize, responseHeadersSize } = await response.request().sizes();
    bytes += responseBodySize + responseHeadersSize;
  }
  expect(bytes).toBeLessThan(350_000);
});
