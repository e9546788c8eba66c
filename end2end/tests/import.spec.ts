// Importing: the files are looked through, then they come in, and go again.

import { readFile } from "node:fs/promises";
import { ready } from "../memories.ts";
import { audit, expect, fits, layoutShift, test, unique } from "../signed-in.ts";

/** An export as Claude makes it, of these conversations; ids are the names. */
function claude(names: string[], messages = 2) {
  const conversations = names.map((name) => ({
    uuid: name,
    name,
    created_at: "2026-03-01T10:00:00Z",
    updated_at: "2026-03-01T11:00:00Z",
    account: { uuid: "account" },
    chat_messages: Array.from({ length: messages }, (_, number) => ({
      uuid: `${name}-${number}`,
      sender: number % 2 ? "assistant" : "human",
      text: `Message ${number + 1} of ${name}.`,
      content: [{ type: "text", text: `Message ${number + 1} of ${name}.` }],
      created_at: `2026-03-01T10:00:${String(number).padStart(2, "0")}Z`,
    })),
  }));
  const empty = { uuid: "empty", name: "", created_at: "2026-03-01T10:00:00Z", updated_at: "2026-03-01T10:00:00Z", chat_messages: [] };
  return { name: "conversations.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify([...conversations, empty])) };
}

/** Sends files and waits until they are looked through. */
async function send(page: import("@playwright/test").Page, file: ReturnType<typeof claude>, javaScriptEnabled: boolean) {
  await page.goto("/import");
  await ready(page, javaScriptEnabled);
  await page.getByLabel("Files").setInputFiles(file);
  await page.getByRole("button", { name: "Look through" }).click();
  await expect(page).toHaveURL(/\/import\/[0-9a-f-]{36}$/);
  await settled(page, javaScriptEnabled, "Waits for you");
}

/** Waits for a state; without JavaScript by loading the page again. */
async function settled(page: import("@playwright/test").Page, javaScriptEnabled: boolean, state: string) {
  await expect(async () => {
    if (!javaScriptEnabled) await page.reload();
    await expect(page.locator(".import-state h2")).toContainText(state, { timeout: 1000 });
  }).toPass({ timeout: 60_000 });
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("what is there is told, comes in when confirmed, and goes again when undone", async ({ page }) => {
      test.slow();
      const names = [unique("Balcony tomatoes"), unique("Hallway paint")];
      await send(page, claude(names), javaScriptEnabled);
      const row = page.getByRole("row").filter({ hasText: "Claude" });
      await expect(row.getByRole("cell")).toHaveText(["2", "4", "0", "2", "0", "0", "0"]);
      await page.getByText("Left out 1").click();
      await expect(page.getByText("there is nothing in it")).toBeVisible();
      await expect(page.getByText("It costs nothing")).toBeVisible();

      await page.getByRole("button", { name: "Import 2" }).click();
      await settled(page, javaScriptEnabled, "Done");
      const line = page.locator(".record-line").filter({ hasText: names[0] });
      await expect(line).toContainText("2 messages");
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download the report" }).click()]);
      const report = (await readFile(await download.path(), "utf8")).trim().split("\n").map((line) => JSON.parse(line));
      expect(report.map((line) => line.outcome)).toEqual(["created", "created", "skipped"]);
      await page.getByRole("link", { name: "Left out" }).click();
      await expect(page.locator(".record-line")).toHaveCount(1);
      await page.getByRole("link", { name: "Everything" }).click();
      await line.getByRole("link").click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(names[0]);
      await expect(page.locator(".message").first()).toContainText(`Message 1 of ${names[0]}.`);
      await page.goBack();

      await page.getByText("Undo this import").click();
      await page.getByRole("button", { name: "Undo" }).click();
      await settled(page, javaScriptEnabled, "Undone");
      await expect(page.getByRole("link", { name: /Taken back 2/ })).toBeVisible();
      await page.goto("/sessions");
      await expect(page.getByText(names[0])).toHaveCount(0);
    });

    test("importing again says that nothing is new, and is discarded", async ({ page }) => {
      test.slow();
      const file = claude([unique("Ferry times")]);
      await send(page, file, javaScriptEnabled);
      await page.getByRole("button", { name: "Import 1" }).click();
      await settled(page, javaScriptEnabled, "Done");
      await send(page, file, javaScriptEnabled);
      await expect(page.getByText("nothing in these files that is not here already")).toBeVisible();
      const address = page.url();
      await page.getByRole("button", { name: "Discard" }).click();
      await expect(page).toHaveURL("/import");
      const response = await page.goto(address);
      expect(response?.status()).toBe(404);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("There is no such import");
    });
  });
}

test("a long report goes on, also where only a part of it is asked for", async ({ page }) => {
  test.slow();
  const name = unique("Window seats");
  await send(page, claude(Array.from({ length: 53 }, (_, number) => `${name} ${number}`), 1), true);
  await page.getByRole("button", { name: "Import 53" }).click();
  await settled(page, true, "Done");
  const lines = page.locator(".record-line");
  for (const [choice, left] of [["New", 3], ["Everything", 4]] as const) {
    await page.getByRole("link", { name: choice }).click();
    await expect(lines).toHaveCount(50);
    await page.getByRole("link", { name: "Next page" }).click();
    await expect(lines).toHaveCount(left);
    await expect(page.getByRole("link", { name: choice })).toHaveAttribute("aria-current", "true");
  }
});

test("a file that is no export says so", async ({ page }) => {
  await page.goto("/import");
  await page.getByLabel("Files").setInputFiles({ name: "photo.zip", mimeType: "application/zip", buffer: Buffer.from("PK\u0003\u0004 cut off") });
  await page.getByRole("button", { name: "Look through" }).click();
  await settled(page, true, "Failed");
  await expect(page.locator(".import-state")).toContainText("Nothing can be imported");
});

test("the pages are accessible and fit, in both languages, light, dark and narrow", async ({ page }) => {
  test.slow();
  await send(page, claude([unique("Quiet kettles")]), true);
  const detail = page.url();
  for (const path of ["/import", detail]) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(path);
      await audit(page);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(path);
    await fits(page);
    expect(await layoutShift(page)).toBeLessThan(0.02);
    await page.setViewportSize({ width: 1280, height: 720 });
  }
  await page.goto(detail);
  await page.getByRole("button", { name: "Discard" }).click();
});
