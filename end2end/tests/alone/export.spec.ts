import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { remember } from "../../memories.ts";
import { alive, audit, expect, fits, test, unique } from "../../signed-in.ts";

/** The files of a zip file below 4 GiB, by its list at the end; of zip64 only what such a file may have. */
function unpacked(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  expect(end, "it ends as a zip file does").toBeGreaterThan(0);
  const files = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    expect(zip.readUInt32LE(at)).toBe(0x02014b50);
    const method = zip.readUInt16LE(at + 10);
    const [name, extra, comment] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30), zip.readUInt16LE(at + 32)];
    const start = zip.readUInt32LE(at + 42);
    let size = zip.readUInt32LE(at + 20);
    if (size === 0xffffffff) {
      // Both lengths are in the first extra field, that of zip64: the one of the file, then that of what is packed.
      const field = at + 46 + name;
      expect(zip.readUInt16LE(field), "a field of zip64").toBe(1);
      size = Number(zip.readBigUInt64LE(field + 12));
    }
    const data = start + 30 + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28);
    const packed = zip.subarray(data, data + size);
    files.set(zip.toString("utf8", at + 46, at + 46 + name), method === 0 ? packed : inflateRawSync(packed));
    at += 46 + name + extra + comment;
  }
  return files;
}

/** Deletes all exports, so that a test finds only its own. */
async function clean(page: Page) {
  await page.goto("/export");
  for (;;) {
    const deletes = page.getByRole("button", { name: /^(Delete now|Give up)$/, includeHidden: true });
    if ((await deletes.count()) === 0) return;
    const record = page.locator("details.record").filter({ has: deletes.first() }).first();
    if ((await record.getAttribute("open")) === null) await record.locator("summary").click();
    await record.getByRole("button", { name: /^(Delete now|Give up)$/ }).click();
    await expect(page).toHaveURL("/export");
  }
}

test.describe.configure({ mode: "serial" });

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("everything can be taken out", async ({ page }) => {
      test.slow();
      const text = unique("It comes along 一起走.");
      await remember(text);
      await clean(page);
      if (javaScriptEnabled) await alive(page);
      await expect(page.getByRole("navigation", { name: "Your data" }).getByRole("link", { name: "Export" })).toHaveAttribute("aria-current", "page");
      await page.getByRole("button", { name: "Make an export" }).click();
      await expect(page).toHaveURL("/export");
      const download = page.getByRole("link", { name: "Download" });
      if (javaScriptEnabled) {
        // The page looks again by itself.
        await expect(download).toBeVisible({ timeout: 30_000 });
      } else {
        await expect(async () => {
          await page.reload();
          await expect(download).toBeVisible({ timeout: 1_000 });
        }).toPass({ timeout: 30_000 });
      }
      await expect(page.getByRole("button", { name: "Make an export" })).toBeVisible();
      // Looking for barriers takes scripts.
      if (javaScriptEnabled) await audit(page);
      await fits(page);
      const digest = await page.locator("dl.properties code").first().innerText();

      const [file] = await Promise.all([page.waitForEvent("download"), download.click()]);
      expect(file.suggestedFilename()).toMatch(/^polymnemo \d{4}-\d\d-\d\d\.zip$/);
      const zip = readFileSync(await file.path());
      expect(createHash("sha256").update(zip).digest("hex")).toBe(digest);
      const files = unpacked(zip);
      const manifest = JSON.parse(files.get("manifest.json")!.toString());
      expect(manifest.format).toBe("polymnemo-export");
      for (const { path, bytes, sha256, records } of manifest.files) {
        const content = files.get(path)!;
        expect(content.length, path).toBe(bytes);
        expect(createHash("sha256").update(content).digest("hex"), path).toBe(sha256);
        if (records !== undefined) expect(content.toString().split("\n").length - 1, path).toBe(records);
      }
      expect([...files.keys()].sort()).toEqual(["manifest.json", ...manifest.files.map((file: { path: string }) => file.path)].sort());
      const memories = files.get("memories.jsonl")!.toString().trim().split("\n").map((line) => JSON.parse(line));
      expect(memories.map((memory: { content: string }) => memory.content)).toContain(text);
      expect([...files].some(([path, content]) => path.startsWith("readable/") && content.toString().includes(text))).toBe(true);
    });

    test("an export can be deleted, and its link then leads back", async ({ page }) => {
      await page.goto("/export");
      const link = (await page.getByRole("link", { name: "Download" }).first().getAttribute("href"))!;
      await clean(page);
      await expect(page.getByText("There are no exports yet.")).toBeVisible();
      await page.goto(link);
      await expect(page).toHaveURL("/export");
      await page.goto("/export/nonsense/file");
      await expect(page).toHaveURL("/export");
    });
  });
}

test.describe("in Chinese", () => {
  test.use({ locale: "zh-CN" });

  test("the page speaks it", async ({ page }) => {
    await page.goto("/export");
    await expect(page.getByRole("heading", { name: "导出", exact: true })).toBeVisible();
    await page.getByRole("button", { name: "生成导出" }).click();
    await alive(page);
    await expect(page.getByRole("link", { name: "下载" })).toBeVisible({ timeout: 30_000 });
    await expect(page.locator("details.record summary").first()).toContainText("可以下载");
    await audit(page);
    await fits(page);
    await page.getByRole("button", { name: "立即删除" }).click();
    await expect(page.getByText("还没有导出。")).toBeVisible();
  });
});

test("a stranger is led to the sign-in page", async ({ browser }) => {
  const context = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const page = await context.newPage();
  await page.goto("/export");
  await expect(page).toHaveURL(/\/sign-in\?next=/);
  const response = await page.request.get("/export/0198c0de-7a11-7000-8000-000000000000/file", { maxRedirects: 0 });
  expect(response.status()).toBe(303);
  expect(response.headers().location).toContain("/sign-in");
  await context.close();
});
