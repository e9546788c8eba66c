import { readFileSync, writeFileSync } from "node:fs";
import { listOf, ownNamespace, read, ready, remember, row } from "../memories.ts";
import { download, receiptComes, verify } from "../receipts.ts";
import { audit, expect, fits, test, unique } from "../signed-in.ts";

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a memory is erased, and its receipt is genuine", async ({ page }) => {
      const content = unique("The walrus of the north");
      const id = await remember(content);
      await page.goto(`/memories/${id}`);
      await page.getByRole("link", { name: "Erase for good…" }).click();
      await expect(page.getByRole("heading", { name: "Erase this?" })).toBeVisible();
      await expect(page.getByText(content)).toBeVisible();
      await expect(page.getByRole("row", { name: /^Memories 1$/ })).toBeVisible();
      await expect(page.getByText("No backups: this server makes none")).toBeVisible();
      expect(await read(id)).toBe(content);

      await page.getByRole("button", { name: "Erase for good" }).click();
      await receiptComes(page);
      expect(await read(id)).toBeUndefined();
      await expect(page.getByRole("row", { name: /^Memories 1 0$/ })).toBeVisible();
      const path = await download(page);
      const file = readFileSync(path);
      expect(file.includes("walrus")).toBe(false);
      expect(await verify(page, path)).toMatch(/^VERIFIED\./);
      const place = file.indexOf('"before":1');
      file[place + '"before":'.length] = "2".charCodeAt(0);
      writeFileSync(path, file);
      expect(await verify(page, path)).toMatch(/^NOT VERIFIED\. The receipt was changed/);
    });

    test("a namespace is erased when its name is typed, and not before", async ({ page }) => {
      const namespace = ownNamespace();
      const ids = [await remember(unique("One"), { namespace }), await remember(unique("Two"), { namespace })];
      await page.goto("/erase");
      await page.getByLabel("A namespace").selectOption(namespace);
      await page.getByRole("button", { name: "Show what goes" }).first().click();
      await expect(page.getByRole("row", { name: /^Memories 2$/ })).toBeVisible();
      const confirm = page.getByLabel(`Type “${namespace}” to confirm`);
      await confirm.fill("something else");
      await page.getByRole("button", { name: "Erase for good" }).click();
      await expect(page.locator(".fault")).toContainText("Nothing was erased");
      await expect(confirm).toHaveValue("something else");
      await expect(confirm).toHaveAttribute("aria-invalid", "true");
      expect(await read(ids[0])).toBeDefined();

      await confirm.fill(namespace);
      await page.getByRole("button", { name: "Erase for good" }).click();
      await receiptComes(page);
      for (const id of ids) expect(await read(id)).toBeUndefined();
      await page.goto("/erase");
      await expect(page.getByLabel("A namespace").locator(`option[value="${namespace}"]`)).toHaveCount(0);
      await expect(page.locator(".records").getByRole("link", { name: "A namespace" }).first()).toBeVisible();
    });
  });
}

test("several are erased from the list", async ({ page }) => {
  const namespace = ownNamespace();
  const texts = [unique("Uno"), unique("Due"), unique("Tre")];
  const ids = [];
  for (const text of texts) ids.push(await remember(text, { namespace }));
  await page.goto(listOf(namespace));
  await ready(page, true);
  for (const text of texts.slice(0, 2)) await row(page, text).getByRole("checkbox").check();
  await page.locator(".bulk-bar").getByRole("button", { name: "Erase for good…" }).click();
  await expect(page.getByText("These 2 go:")).toBeVisible();
  await page.getByRole("button", { name: "Erase for good" }).click();
  await receiptComes(page);
  expect(await read(ids[0])).toBeUndefined();
  expect(await read(ids[2])).toBe(texts[2]);
});

test("what is in the trash, and what never was", async ({ page }) => {
  await page.goto("/erase?memory=0198c0de-7a11-7000-8000-000000000000");
  await expect(page.getByRole("alert")).toBeVisible();
  await expect(page.getByRole("button", { name: "Erase for good" })).toHaveCount(0);
  const response = await page.goto("/erase/7e1c0de7-7a11-4000-8000-000000000000");
  expect(response?.status()).toBe(404);
});

test("speaks Chinese", async ({ browser, session }) => {
  const id = await remember(unique("A walrus for Chinese"));
  const context = await browser.newContext({ storageState: session, locale: "zh-CN" });
  const page = await context.newPage();
  await page.goto(`/erase?memory=${id}`);
  await expect(page.getByRole("heading", { name: "确定擦除吗？" })).toBeVisible();
  await page.getByRole("button", { name: "永久擦除" }).click();
  await receiptComes(page);
  expect(await verify(page, await download(page, "下载凭证"))).toMatch(/^VERIFIED\./);
  await context.close();
});

test("has no accessibility faults and fits a phone", async ({ page }) => {
  const namespace = ownNamespace();
  const id = await remember(unique("A walrus to look at"), { namespace });
  const look = async () => {
    await audit(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await fits(page);
    await page.setViewportSize({ width: 1280, height: 800 });
  };
  await page.goto("/erase");
  await look();
  await page.goto(`/erase?namespace=${namespace}`);
  await expect(page.getByLabel(/^Type/)).toBeVisible();
  await look();
  await page.goto(`/erase?memory=${id}`);
  await page.getByRole("button", { name: "Erase for good" }).click();
  await receiptComes(page);
  await page.locator("details summary").first().click();
  await look();
});
