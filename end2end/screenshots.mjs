// Takes pictures of every page into screenshots/, to be looked at: light and dark, wide and narrow, in both languages.

import { mkdirSync } from "node:fs";
import { chromium } from "@playwright/test";
import { launchOptions } from "./browser.mjs";

const baseURL = process.env.END2END_URL;
if (!baseURL) throw new Error("END2END_URL is not set: run scripts/screenshots.sh, which starts a server and sets it");

// `prepare` brings the page into the state to be shown.
const pages = [
  { name: "welcome", path: "/", prepare: (page) => page.getByRole("button", { name: /^(Copy|复制)$/ }).waitFor() },
  {
    name: "welcome-loading",
    path: "/",
    prepare: async (page) => {
      await page.clock.install();
      await page.route("**/api/server_status*", (route) => route.fulfill({ json: "model_loading" }));
      await page.reload();
      await page.getByRole("button", { name: /^(Copy|复制)$/ }).waitFor();
      await page.clock.runFor("00:31");
      await page.locator("[data-state=waiting]").waitFor();
    },
  },
  { name: "not-found", path: "/no/such/page" },
];
const viewports = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];

const folder = new URL("screenshots/", import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch(launchOptions);
for (const { name, path, prepare } of pages) {
  for (const locale of ["en", "zh-CN"]) {
    for (const colorScheme of ["light", "dark"]) {
      for (const viewport of viewports) {
        const context = await browser.newContext({ baseURL, viewport, colorScheme, locale, deviceScaleFactor: 2 });
        const page = await context.newPage();
        await page.goto(path);
        await prepare?.(page);
        const file = `${name}-${locale}-${colorScheme}-${viewport.width}.png`;
        await page.screenshot({ path: `${folder}${file}`, fullPage: true, animations: "disabled" });
        await context.close();
      }
    }
  }
  console.log(`${name}: done`);
}
await browser.close();
