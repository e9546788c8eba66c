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
  // A server offers one way to sign in, so there is one server for each.
  projects: process.env.END2END_GITHUB
    ? [
        { name: "github", testMatch: "github/sign-in*" },
        { name: "leaving", testMatch: "github/leaving*", dependencies: ["github"] },
      ]
    : [
        { name: "together", testIgnore: ["alone/**", "github/**"] },
        // What changes the settings of the person would change the pages under the other tests, and what is erased takes
        // exports along.
        { name: "alone", testMatch: "alone/**", dependencies: ["together"], fullyParallel: false, workers: 1 },
      ],
  reporter: [["list"], ["./summary.ts"]],
  use: {
    baseURL,
    browserName: "chromium",
    launchOptions,
    locale: "en-US",
    // Only the test of the offline page wants one; requests that pass through it can't be withheld.
    serviceWorkers: "block",
    // A trace takes a fifth of the time; `--trace retain-on-failure` makes one.
    screenshot: "only-on-failure",
  },
});
