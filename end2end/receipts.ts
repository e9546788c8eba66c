// The receipts of erasures, as the tests wait for them, take them and verify them.

import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Page, expect } from "@playwright/test";

/** Waits until the page of an erasure shows its receipt. */
export async function receiptComes(page: Page) {
  await expect(page).toHaveURL(/\/erase\/[0-9a-f-]{36}$/);
  // The page loads itself anew while it runs.
  await expect(page.getByRole("heading", { level: 1, name: /Receipt of an erasure|擦除凭证/ })).toBeVisible({ timeout: 30_000 });
}

/** Downloads the receipt that the page shows; gives the path of the file. */
export async function download(page: Page, name = "Download the receipt") {
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name }).click()]);
  const path = join(mkdtempSync(join(tmpdir(), "receipt-")), "receipt.json");
  await file.saveAs(path);
  return path;
}

/** Verifies a receipt with the published key, as anyone could: offline, by the command. */
export async function verify(page: Page, path: string) {
  const key = join(path, "../key.json");
  writeFileSync(key, await (await page.request.get("/.well-known/polymnemo-receipt-key")).body());
  const binary = process.env.END2END_BINARY ?? "target/debug/polymnemo";
  const root = join(import.meta.dirname, "..");
  try {
    return execFileSync(resolve(root, binary), ["verify-receipt", path, "--key", key], { encoding: "utf8" });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
