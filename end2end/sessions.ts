// What the tests of sessions share: clients that save conversations, and words for what is on the page.

import type { Page } from "@playwright/test";
import { callTool, expect, unique } from "./signed-in.ts";

const key = process.env.END2END_KEY ?? "";

export interface Message {
  role: string;
  content: string | object[];
  at?: string;
  id?: string;
}

/** Saves a session as a client does; gives its id. */
export async function save(title: string, messages: Message[], more: { namespace?: string; session_id?: string } = {}) {
  const { result } = await callTool(key, "save_session", { session_id: unique("chat"), title, messages, ...more });
  expect(result?.isError, JSON.stringify(result)).toBeFalsy();
  return result.structuredContent.id as string;
}

/** Saves a session of so many messages, of which each says its number; gives its id. */
export async function saveLong(title: string, count: number) {
  const session_id = unique("long");
  const said = (number: number): Message => ({
    role: number % 2 ? "user" : "assistant",
    content: `This is message number ${number}. ${"It goes on for a while. ".repeat(number % 7)}`,
    at: new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString(),
    id: `m${number}`,
  });
  let id = "";
  for (let first = 1; first <= count; first += 1000) {
    const messages = Array.from({ length: Math.min(1000, count - first + 1) }, (_, index) => said(first + index));
    id = await save(title, messages, { session_id });
  }
  return id;
}

/** Whether a client still finds a session. */
export async function isThere(id: string) {
  const { result } = await callTool(key, "load_session", { session_id: id });
  return !result?.isError;
}

export const message = (page: Page, number: number) => page.locator(`#message-${number}`);

export const sessionRow = (page: Page, title: string) => page.locator(".memory-row").filter({ hasText: title });

/** Opens what can be changed of the session that is read. */
export const change = (page: Page) => page.locator(".session-change > summary").click();

/** The numbers of the messages that are in the document. */
export const inDocument = (page: Page) =>
  page.locator(".message").evaluateAll((messages) => messages.map((message) => Number((message as HTMLElement).dataset.number)));

/** The numbers of the messages in the window. */
export const inSight = (page: Page) =>
  page.locator(".message").evaluateAll((messages) =>
    messages
      .filter((message) => {
        const { top, bottom } = message.getBoundingClientRect();
        return bottom > 60 && top < innerHeight;
      })
      .map((message) => Number((message as HTMLElement).dataset.number)),
  );

/** Scrolls the transcript to a share of its height. */
export const scrollTo = (page: Page, share: number) =>
  page.evaluate((share) => {
    const main = document.querySelector("#content")!;
    const scroller = main.scrollHeight > main.clientHeight ? main : document.scrollingElement!;
    scroller.scrollTop = share * (scroller.scrollHeight - scroller.clientHeight);
  }, share);

/** Selects a text of a message, as a pointer would. */
export const select = (page: Page, number: number, text: string) =>
  page.evaluate(
    ([number, text]) => {
      const body = document.querySelector(`#message-${number} .message-body`)!;
      const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const start = node.textContent!.indexOf(text as string);
        if (start < 0) continue;
        const range = document.createRange();
        range.setStart(node, start);
        range.setEnd(node, start + (text as string).length);
        getSelection()!.removeAllRanges();
        getSelection()!.addRange(range);
        return;
      }
      throw new Error(`message ${number} does not say "${text}"`);
    },
    [number, text] as const,
  );
