// A person in front of a real Chromium, who lets apps in, or not, and ends their access. Needs END2END_URL and
// END2END_SIGN_IN_LINK: see with-server.sh.

import { execFileSync } from "node:child_process";
import { chromium } from "@playwright/test";
import { launchOptions } from "./browser.mjs";

export class Person {
  static async start() {
    const person = new Person();
    person.browser = await chromium.launch(launchOptions);
    person.context = await person.browser.newContext({ baseURL: process.env.END2END_URL, locale: "en-GB" });
    person.context.setDefaultTimeout(20_000);
    return person;
  }

  /**
   * Goes where an app leads, signs in where need be, and answers. Gives what the page said, and the address back to the app;
   * the browser is there already, but where the address is for a program.
   */
  async decide(url, answer = "allow") {
    const page = await this.context.newPage();
    await page.goto(url);
    if (new URL(page.url()).pathname === "/sign-in") {
      await page.getByLabel("Sign-in link").fill(signInLink());
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
    } else if (new URL(page.url()).pathname !== "/consent") {
      throw new Error(`the person is shown: ${await page.locator("main").innerText()}`);
    }
    const button = page.getByRole("button", { name: answer === "allow" ? "Let in" : "Don’t let in", exact: true });
    await button.waitFor();
    const said = (await page.locator("main").innerText()).replace(/\s+/g, " ");
    const decided = page.waitForResponse((response) => new URL(response.url()).pathname === "/consent/answer");
    await button.click();
    const back = (await decided).headers().location;
    if (back.startsWith("http:")) await page.waitForURL(`${back.split("?")[0]}?*`);
    await page.close();
    return { page: said, back };
  }

  /** Ends the access of the app of this name. */
  async end(app) {
    const page = await this.context.newPage();
    await page.goto("/apps");
    const heading = page.getByRole("heading", { name: app, exact: true, includeHidden: true });
    const record = page.locator("section[aria-labelledby=active] details.record").filter({ has: heading });
    await record.locator("> summary").click();
    await record.getByRole("button", { name: "End access" }).click();
    await page.getByRole("region", { name: "Ended or expired" }).getByRole("heading", { name: app, exact: true }).first().waitFor();
    await page.close();
  }

  async close() {
    await this.browser.close();
  }
}

function signInLink() {
  return execFileSync(process.env.END2END_SIGN_IN_LINK, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}
