// What every test of a page shares.

import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";

export { expect };

/** A test whose page must stay free of errors, policy violations and requests to other sites. */
export const test = base.extend<{ watched: void }>({
  watched: [
    async ({ page, baseURL, javaScriptEnabled }, use) => {
      const complaints: string[] = [];
      page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
      page.on("console", (message) => {
        // Chromium reports a page that answers 404 or 400 as an error, and a server function that refuses, too; the tests
        // look at what came of it themselves.
        const { url } = message.location();
        const refused = (url === page.url() || url.startsWith(`${baseURL}/api/`)) && /status of 4\d\d/.test(message.text());
        const blocked = message.text().startsWith("Service Worker registration blocked by Playwright");
        const preloaded = !javaScriptEnabled && message.text().includes("preloaded using link preload but not used");
        const withheld = /net::ERR_(FAILED|CONNECTION_RESET)/.test(message.text()) && withholding.has(page);
        if (["error", "warning"].includes(message.type()) && !refused && !withheld && !blocked && !preloaded) {
          complaints.push(`console ${message.type()}: ${message.text()}`);
        }
      });
      page.on("request", (request) => {
        // Whoever signs in goes to GitHub and comes back, and whoever lets an app in goes back to it; nothing else leads
        // anywhere.
        const github = process.env.POLYMNEMO_GITHUB_URL;
        const signsIn = github && request.isNavigationRequest() && request.url().startsWith(`${github}/login/oauth/authorize?`);
        const answers = request.isNavigationRequest() && request.url().startsWith(`${elsewhere.get(page)}?`);
        // What the browser itself shows a document with.
        const viewer = /^chrome(-extension)?:/.test(request.url());
        if (!request.url().startsWith(`${baseURL}/`) && !signsIn && !answers && !viewer) complaints.push(`a request to ${request.url()}`);
      });
      await page.addInitScript(() => {
        addEventListener("securitypolicyviolation", (event) =>
          console.error(`policy violation: ${event.violatedDirective} ${event.blockedURI}`),
        );
      });
      await use();
      expect(complaints).toEqual([]);
    },
    { auto: true },
  ],
});

const elsewhere = new WeakMap<Page, string>();

/** Lets forms of this page lead to an address of an app, with an answer in its query. */
export function answersElsewhere(page: Page, address: string) {
  elsewhere.set(page, address);
}

const withholding = new WeakSet<Page>();

/** Lets requests that match fail, as when the server is gone. The console may say so. */
export async function withhold(page: Page, pattern: string) {
  withholding.add(page);
  await page.route(pattern, (route) => route.abort());
}

/** The network of this page fails at times. The console may say so. */
export function mayFail(page: Page) {
  withholding.add(page);
}

/** Lets withheld requests through again. */
export async function restore(page: Page, pattern: string) {
  await page.unroute(pattern);
}

/** Waits until the wasm has taken over the page. */
export async function hydrated(page: Page) {
  await expect(page.getByRole("button", { name: /^(Copy|复制)$/ }).first()).toBeVisible();
}

/** The page has no accessibility fault that axe can find, in light and in dark. */
export async function audit(page: Page) {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const faults = violations.map(({ id, nodes }) => `${colorScheme}: ${id}: ${nodes.map((node) => node.html).join(" ")}`);
    expect(faults).toEqual([]);
  }
}

/** Nothing sticks out of the page to the side. */
export async function fits(page: Page) {
  const { content, window } = await page.evaluate(() => ({
    content: document.documentElement.scrollWidth,
    window: document.documentElement.clientWidth,
  }));
  expect(content).toBeLessThanOrEqual(window);
}

/** How much of the page has moved, by itself, since it had arrived whole (a slow machine may paint it in part before). */
export async function layoutShift(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[]) {
            if (entry.startTime > navigation.domInteractive) sum += entry.value;
          }
        }).observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve(sum), 300);
      }),
  );
}
