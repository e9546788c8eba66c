// What the tests of files share.

import type { Page } from "@playwright/test";
import { callTool, expect } from "./signed-in.ts";

type Payload = { name: string; mimeType: string; buffer: Buffer };

const key = process.env.END2END_KEY ?? "";

/** Where a script is at work: the field for files. */
export const picker = (page: Page) => page.locator(".drop-zone input");

export const uploads = (page: Page) => page.locator(".upload");

export const upload = (page: Page, name: string) => uploads(page).filter({ has: page.getByRole("heading", { name, exact: true }) });

export const card = (page: Page, title: string) => page.locator(".media-card").filter({ has: page.getByRole("link", { name: title, exact: true }) });

/** The page takes files. */
export async function takesFiles(page: Page) {
  await expect(page.locator("[data-uploader][data-sends]")).toBeAttached();
}

/** Chooses files, describes them and starts them. */
export async function send(page: Page, files: Payload[], about: { description?: string; namespace?: string } = {}) {
  await takesFiles(page);
  await picker(page).setInputFiles(files);
  for (const file of files) {
    const row = upload(page, file.name);
    await expect(row).toHaveAttribute("data-state", "chosen");
    if (about.description !== undefined) await row.getByLabel("Description").fill(about.description);
    if (about.namespace !== undefined) await row.getByLabel("Namespace").fill(about.namespace);
  }
  await page.getByRole("button", { name: "Upload", exact: true }).click();
}

/** Uploads a file and opens its page. */
export async function stored(page: Page, file: Payload, about: { description?: string; namespace?: string } = {}) {
  await page.goto("/media");
  await send(page, [file], about);
  const row = upload(page, file.name);
  await expect(row).toHaveAttribute("data-state", "done");
  await row.getByRole("link", { name: "Open" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(file.name);
}

/** What is saved by the button of a file's page. */
export async function saved(page: Page): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).click()]);
  const stream = await download.createReadStream();
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return { name: download.suggestedFilename(), bytes: Buffer.concat(pieces) };
}

/** An upload as an AI app announces it; gives its id and the path of the page for the person. */
export async function announced(file: Payload, description = "Brought by hand.") {
  const { result } = await callTool(key, "create_upload", {
    filename: file.name,
    content_type: file.mimeType,
    size: file.buffer.length,
    description,
  });
  expect(result?.isError, JSON.stringify(result)).toBeFalsy();
  const answer = result.structuredContent;
  return { id: answer.id as string, path: new URL(answer.upload_page).pathname };
}

/** Counts what is sent to the storage, and lets it fail where told. */
export async function watchParts(page: Page) {
  const watch = { sent: 0, broken: false, breakAfter: Infinity };
  await page.route("**/blobs/**", async (route) => {
    if (route.request().method() !== "PUT") return route.continue();
    if (watch.broken || watch.sent >= watch.breakAfter) {
      watch.broken = true;
      return route.abort("connectionreset");
    }
    watch.sent += 1;
    return route.continue();
  });
  return watch;
}
