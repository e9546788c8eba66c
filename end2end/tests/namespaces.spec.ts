import { alive, audit, callTool, expect, fits, test, unique } from "../signed-in.ts";
import type { Page } from "@playwright/test";

const key = process.env.END2END_KEY ?? "";

async function make(page: Page, name: string) {
  await page.goto("/namespaces");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("heading", { name, exact: true })).toBeVisible();
}

function record(page: Page, name: string) {
  return page.locator("details.record").filter({ has: page.getByRole("heading", { name, exact: true }) });
}

async function open(page: Page, name: string) {
  const found = record(page, name);
  if ((await found.getAttribute("open")) === null) await found.locator("summary").click();
  return found;
}

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("is made, renamed and deleted", async ({ page }) => {
      // The list is by name and in pages, and other tests have namespaces too.
      const [name, other] = [unique("a work"), unique("an office")];
      await make(page, name);
      let found = await open(page, name);
      await found.getByLabel("New name").fill(other);
      await found.getByRole("button", { name: "Rename" }).click();
      await expect(page.getByRole("heading", { name: other, exact: true })).toBeVisible();
      await expect(page.getByRole("heading", { name, exact: true })).toHaveCount(0);

      found = await open(page, other);
      await found.getByRole("button", { name: "Delete" }).click();
      await expect(page.getByRole("heading", { name: other, exact: true })).toHaveCount(0);
    });

    test("a name that is taken is told beside it, with the record open and the text kept", async ({ page }) => {
      const [name, taken] = [unique("a"), unique("b")];
      await make(page, name);
      await make(page, taken);
      const found = await open(page, name);
      await found.getByLabel("New name").fill(taken);
      await found.getByRole("button", { name: "Rename" }).click();
      const again = record(page, name);
      await expect(again).toHaveAttribute("open");
      await expect(again.getByLabel("New name")).toHaveValue(taken);
      await expect(again.getByLabel("New name")).toHaveAttribute("aria-invalid", "true");
      await expect(again.locator(".fault")).toContainText("already");
    });

    test("what sharing means is said before it is switched on", async ({ page }) => {
      const name = unique("shared");
      await make(page, name);
      let found = await open(page, name);
      await expect(found.locator("summary")).toContainText("Private");
      await expect(found).toContainText("everyone who can sign in to this server");
      await found.getByRole("button", { name: "Share with everyone" }).click();
      await expect(record(page, name).locator("summary")).toContainText("Shared with everyone");

      found = await open(page, name);
      await found.getByRole("button", { name: "Make it private again" }).click();
      await expect(record(page, name).locator("summary")).toContainText("Private");
    });
  });
}

test("counts what clients store, exactly", async ({ page }) => {
  const name = unique("counted");
  await make(page, name);
  for (const content of ["One.", "Two.", "Three."]) {
    await callTool(key, "remember", { content: unique(content), namespace: name });
  }
  await page.reload();
  await expect(record(page, name).locator("summary")).toContainText("3 memories");
  const found = await open(page, name);
  await expect(found.getByRole("button", { name: "Delete" })).toHaveCount(0);
  await expect(found.getByRole("link", { name: "Show its memories" })).toHaveAttribute(
    "href",
    `/memories?namespace=${encodeURIComponent(name)}`,
  );
});

test("what is no name is told, and is text", async ({ page }) => {
  await page.goto("/namespaces");
  await alive(page);
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("<b>bold</b>");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(name).toHaveValue("<b>bold</b>");
  await expect(name).toBeFocused();
  await expect(page.locator(".fault")).toContainText("1 to 64 letters");
});

test("has no accessibility faults and fits a phone", async ({ page }) => {
  const name = unique("seen");
  await make(page, name);
  await open(page, name);
  await audit(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
});
