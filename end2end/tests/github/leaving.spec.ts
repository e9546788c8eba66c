// Erasing an account and all that is in it: last of all, because nobody stays signed in.

import { readFileSync } from "node:fs";
import { expect, test } from "../../fixtures.ts";
import { textField } from "../../memories.ts";
import { download, receiptComes, verify } from "../../receipts.ts";

test.describe.configure({ mode: "serial" });

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("an account goes with everything, and its owner may begin anew", async ({ page, browser, baseURL }) => {
      const signIn = async () => {
        await page.goto("/sign-in?next=/memories/new");
        await page.getByRole("link", { name: "Sign in with GitHub" }).click();
        await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
        if (javaScriptEnabled) await expect(page.locator("html[data-alive]")).toBeAttached();
      };
      await signIn();
      await textField(page).fill("The bittern booms at dusk.");
      await page.getByRole("button", { name: "Remember", exact: true }).click();
      await expect(page.locator("main")).toContainText("The bittern booms");
      // The same person elsewhere.
      const elsewhere = await browser.newContext({ baseURL, storageState: await page.context().storageState() });

      await page.goto("/erase");
      await page.getByRole("link", { name: "Show everything that goes" }).click();
      await expect(page.getByText("The account “octocat” goes")).toBeVisible();
      await expect(page.getByRole("row", { name: /^Memories 1$/ })).toBeVisible();
      const confirm = page.getByLabel("Type “octocat” to confirm");
      await confirm.fill("octopus");
      await page.getByRole("button", { name: "Erase for good" }).click();
      await expect(page.locator(".fault")).toContainText("Nothing was erased");

      await confirm.fill("octocat");
      await page.getByRole("button", { name: "Erase for good" }).click();
      await receiptComes(page);
      await expect(page.getByText("you can’t sign in to this account any more")).toBeVisible();
      const receipt = await download(page);
      expect(readFileSync(receipt).includes("bittern")).toBe(false);
      expect(await verify(page, receipt)).toMatch(/^VERIFIED\./);

      const other = await elsewhere.newPage();
      for (const signedOut of [page, other]) {
        await signedOut.goto("/memories");
        await expect(signedOut).toHaveURL(/\/sign-in/);
      }
      await elsewhere.close();
      await signIn();
      await page.goto("/memories");
      await expect(page.getByRole("heading", { name: "Nothing remembered yet" })).toBeVisible();
    });
  });
}
