// Ends with 0 where the tests would find a browser, else with 1.

import { existsSync } from "node:fs";
import { chromium } from "@playwright/test";
import { launchOptions } from "./browser.mjs";

process.exitCode = existsSync(launchOptions.executablePath ?? chromium.executablePath()) ? 0 : 1;
