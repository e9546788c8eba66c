// What the tests of memories share: clients that store, and words for what is on the page.

import type { Page } from "@playwright/test";
import { callTool, expect, unique } from "./signed-in.ts";

const key = process.env.END2END_KEY ?? "";

/** Stores a memory as a client does; gives its id. */
export async function remember(content: string, more: { namespace?: string; tags?: string[]; source?: string } = {}) {
  const { result } = await callTool(key, "remember", { content, ...more });
  expect(result?.isError, JSON.stringify(result)).toBeFalsy();
  return result.structuredContent.id as string;
}

/** Changes a memory as a client does. */
export async function update(id: string, content: string) {
  const { result } = await callTool(key, "update", { id, content });
  expect(result?.isError, JSON.stringify(result)).toBeFalsy();
}

/** What a client reads of a memory; nothing where it finds none. */
export async function read(id: string): Promise<string | undefined> {
  const { result } = await callTool(key, "get_memory", { id });
  return result?.isError ? undefined : result.structuredContent.content;
}

/** A namespace that no other test uses. */
export const ownNamespace = () => unique("test").replace(" ", "-");

/** The path of the list of one namespace. */
export const listOf = (namespace: string) => `/memories?namespace=${encodeURIComponent(namespace)}`;

export const rows = (page: Page) => page.locator(".memory-row");

export const row = (page: Page, text: string) => rows(page).filter({ hasText: text });

/** Opens the memory of a row. */
export async function openRow(page: Page, text: string) {
  await row(page, text).getByRole("link").click();
  await expect(page.locator(".memory-text")).toContainText(text);
}

/** The field for a memory's text. */
export const textField = (page: Page) => page.getByRole("textbox", { name: "Text", exact: true });

/** Another field of the form for a memory. */
export const field = (page: Page, name: string) => page.locator(".detail").getByLabel(name, { exact: true });

export const toast = (page: Page) => page.locator(".toast");

/** Waits until the page is alive, if it ever will be. */
export async function ready(page: Page, javaScriptEnabled: boolean) {
  if (javaScriptEnabled) await expect(page.locator("html[data-alive]")).toBeAttached();
}
