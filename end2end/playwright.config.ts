import { defineConfig } from "@playwright/test";
import { launchOptions } from "./browser.mjs";

// scripts/test-end2end.sh starts the server and says where it is.
const baseURL = process.env.END2END_URL;
if (!baseURL) throw new Error("END2END_URL is not set: run scripts/test-end2end.sh, which starts a server and sets it");

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  fullyParallel: true,
  // A test that only sometimes passes is broken; trying it again would hide that.
  retries: 0,
  workers: 2,
  forbidOnly: !!process.env.CI,
  reporter: [["list"], ["./summary.ts"]],
  use: {
    baseURL,
    browserName: "chromium",
    launchOptions,
    locale: "en-US",
    trace: "retain-on-failure",
  },
});
