// How Chromium is started, for the tests and for the screenshots alike.

import { existsSync } from "node:fs";

// The first that is there. Chromium without windows, where the system has it, walks through the tests in half the time.
const system = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

export const launchOptions = {
  // Without a browser of the system's, Playwright looks for the one it downloaded.
  executablePath: system.find((path) => existsSync(path)),
  args: [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
  // Chromium's sandbox refuses to be started by root, which is who runs tests in most containers.
  chromiumSandbox: process.getuid?.() !== 0,
};
