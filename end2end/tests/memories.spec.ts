import { field, listOf, openRow, ownNamespace, read, ready, remember, row, rows, textField, toast, update } from "../memories.ts";
import { callTool, expect, test, unique } from "../signed-in.ts";

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("what a client stores is there, the newest first, and counted", async ({ page }) => {
      const namespace = ownNamespace();
      await remember("The first of two.", { namespace, tags: ["one"] });
      await remember("The second of two.", { namespace, source: "a notebook" });
      await page.goto(listOf(namespace));
      await expect(rows(page)).toHaveCount(2);
      await expect(rows(page).first()).toContainText("The second of two.");
      await expect(rows(page).first()).toContainText("a notebook");
      await expect(rows(page).last()).toContainText("one");
      await expect(page.locator(".list-summary")).toHaveText("2 memories");
      await expect(page.locator(".app-nav [aria-current=page]")).toContainText("Memories");
    });

    test("a search finds by word, marks it, and says why", async ({ page }) => {
      const namespace = ownNamespace();
      const word = unique("zebra").replace(" ", "");
      await remember(`The ${word} sleeps standing.`, { namespace });
      await remember("Tea is best without sugar.", { namespace });
      await page.goto(listOf(namespace));
      await ready(page, javaScriptEnabled);
      await page.getByRole("searchbox").fill(word);
      if (!javaScriptEnabled) await page.getByRole("button", { name: "Search" }).click();
      await expect(page).toHaveURL(new RegExp(`q=${word}`));
      await expect(rows(page)).toHaveCount(1);
      await expect(rows(page).locator("mark")).toHaveText(word);
      await rows(page).locator("summary").click();
      const why = rows(page).locator(".why");
      await expect(why).toContainText("By meaning");
      await expect(why.locator("code")).toHaveText(word);
      await expect(why).toContainText("Left out");
    });

    test("a search that finds nothing says so and keeps what was typed", async ({ page }) => {
      const namespace = ownNamespace();
      await remember("Bread needs salt.", { namespace });
      await page.goto(`${listOf(namespace)}&q=xqzvwk`);
      await expect(page.getByRole("heading", { name: "Nothing fits" })).toBeVisible();
      await expect(page.getByRole("searchbox")).toHaveValue("xqzvwk");
      await page.getByRole("link", { name: "Show all memories" }).click();
      await expect(page).toHaveURL(/\/memories$/);
      await expect(page.getByRole("searchbox")).toHaveValue("");
    });

    test("filters narrow the list", async ({ page }) => {
      const namespace = ownNamespace();
      const tag = unique("tag").replace(" ", "-");
      await remember("With the tag.", { namespace, tags: [tag] });
      await remember("Without the tag.", { namespace });
      await page.goto(listOf(namespace));
      await ready(page, javaScriptEnabled);
      await expect(rows(page)).toHaveCount(2);
      await page.getByLabel("Tag", { exact: true }).selectOption(tag);
      if (!javaScriptEnabled) await page.getByRole("button", { name: "Search" }).click();
      await expect(rows(page)).toHaveCount(1);
      await expect(page).toHaveURL(new RegExp(`namespace=${namespace}.*tag=${tag}`));
      await page.getByLabel("Time", { exact: true }).selectOption("today");
      if (!javaScriptEnabled) await page.getByRole("button", { name: "Search" }).click();
      await expect(page).toHaveURL(/time=today/);
      await expect(rows(page)).toHaveCount(1);
    });

    test("a day that is none is told, and the way out is there", async ({ page }) => {
      const response = await page.goto("/memories?from=yesterday");
      expect(response?.status()).toBe(400);
      await expect(page.getByRole("alert")).toBeVisible();
    });

    test("the list has pages that neither skip nor repeat", async ({ page }) => {
      test.slow();
      const namespace = ownNamespace();
      for (let number = 0; number < 55; number++) await remember(`Number ${number} of many.`, { namespace });
      await page.goto(listOf(namespace));
      await ready(page, javaScriptEnabled);
      await expect(page.locator(".list-summary")).toHaveText("55 memories");
      const seen = await rows(page).locator("h3").allInnerTexts();
      expect(seen).toHaveLength(50);
      await page.getByRole("link", { name: "Older" }).click();
      await expect(rows(page)).toHaveCount(5);
      seen.push(...(await rows(page).locator("h3").allInnerTexts()));
      expect(new Set(seen).size).toBe(55);
      await page.reload();
      await expect(rows(page)).toHaveCount(5);
      await page.getByRole("link", { name: "Newest" }).click();
      await expect(rows(page)).toHaveCount(50);
    });

    test("a new memory is written, found by clients, and told of", async ({ page }) => {
      const namespace = ownNamespace();
      const text = unique("I keep my keys in the blue bowl.");
      await page.goto(listOf(namespace));
      await ready(page, javaScriptEnabled);
      await page.getByRole("link", { name: "New" }).click();
      await textField(page).fill(`${text}\n\nReally.`);
      await field(page, "Namespace").fill(namespace);
      await field(page, "Tags").fill("Home, keys");
      await page.getByRole("button", { name: "Remember" }).click();
      await expect(toast(page)).toContainText("Remembered.");
      await expect(page.locator(".memory-text p")).toHaveText([text, "Really."]);
      await expect(page.locator(".properties")).toContainText("home");
      const id = page.url().split("/").pop()!.split("?")[0];
      expect(await read(id)).toBe(`${text}\n\nReally.`);
    });

    test("an error is said beside the field, and nothing typed is lost", async ({ page }) => {
      await page.goto("/memories/new");
      await ready(page, javaScriptEnabled);
      await textField(page).fill("   ");
      await field(page, "Tags").fill("kept");
      await page.getByRole("button", { name: "Remember" }).click();
      await expect(page.locator("#content-fault")).toHaveText("Write the text to remember.");
      await expect(textField(page)).toHaveAttribute("aria-invalid", "true");
      await expect(field(page, "Tags")).toHaveValue("kept");

      await textField(page).fill("Something after all.");
      await field(page, "Namespace").fill("<b>");
      await page.getByRole("button", { name: "Remember" }).click();
      await expect(page.locator("#namespace-fault")).toContainText("1 to 64");
      await expect(textField(page)).toHaveValue("Something after all.");
    });

    test("a memory is edited, compared and restored", async ({ page }) => {
      const namespace = ownNamespace();
      const id = await remember("The meeting is on Monday.", { namespace, tags: ["work"] });
      await page.goto(`/memories/${id}`);
      await ready(page, javaScriptEnabled);
      await page.getByRole("link", { name: "Edit" }).click();
      await textField(page).fill("The meeting is on Tuesday.");
      await field(page, "Tags").fill("work, moved");
      await page.getByRole("button", { name: "Save" }).click();
      await expect(toast(page)).toContainText("Saved.");
      await expect(page.locator(".memory-text")).toHaveText("The meeting is on Tuesday.");
      expect(await read(id)).toBe("The meeting is on Tuesday.");

      await page.getByRole("link", { name: "History" }).click();
      const latest = page.locator(".state").first();
      await expect(latest.locator("del")).toHaveText("Monday");
      await expect(latest.locator("ins")).toHaveText("Tuesday");
      await expect(latest).toContainText("moved");
      await page.locator(".state").last().getByRole("link", { name: "Show text" }).click();
      await expect(page.locator(".whole-state pre")).toHaveText("The meeting is on Monday.");
      await page.getByRole("button", { name: "Restore" }).click();
      await expect(page.locator(".memory-text")).toHaveText("The meeting is on Monday.");
      await expect(toast(page)).toContainText("Earlier text restored.");
      expect(await read(id)).toBe("The meeting is on Monday.");
    });

    test("an unchanged edit changes nothing", async ({ page }) => {
      const id = await remember(unique("As it was."), { namespace: ownNamespace() });
      await page.goto(`/memories/${id}/edit`);
      await ready(page, javaScriptEnabled);
      await page.getByRole("button", { name: "Save" }).click();
      await expect(toast(page)).toContainText("Nothing to change.");
      await expect(page.locator(".where")).toContainText("revision 1");
    });

    test("two who edit at once both keep their text", async ({ page }) => {
      const id = await remember("The code is 1111.", { namespace: ownNamespace() });
      await page.goto(`/memories/${id}/edit`);
      await ready(page, javaScriptEnabled);
      await textField(page).fill("The code is 2222.");
      await update(id, "The code is 3333.");
      await page.getByRole("button", { name: "Save" }).click();
      await expect(page.getByRole("heading", { name: "changed while you were editing" })).toBeVisible();
      await expect(page.locator(".note .raw-text")).toHaveText("The code is 3333.");
      await expect(textField(page)).toHaveValue("The code is 2222.");
      expect(await read(id)).toBe("The code is 3333.");
      await page.getByRole("button", { name: "Save mine over it" }).click();
      await expect(page.locator(".memory-text")).toHaveText("The code is 2222.");
      expect(await read(id)).toBe("The code is 2222.");
    });

    test("a memory is forgotten, and that is undone", async ({ page }) => {
      const namespace = ownNamespace();
      const id = await remember("Forget me for a moment.", { namespace });
      await page.goto(listOf(namespace));
      await ready(page, javaScriptEnabled);
      await openRow(page, "Forget me for a moment.");
      await page.locator(".detail").getByRole("button", { name: "Forget" }).click();
      await expect(toast(page)).toContainText("1 memory forgotten.");
      await expect(page).toHaveURL(new RegExp(`/memories\\?namespace=${namespace}$`));
      await expect(rows(page)).toHaveCount(0);
      expect(await read(id)).toBeUndefined();
      await toast(page).getByRole("button", { name: "Undo" }).click();
      await expect(toast(page)).toContainText("Undone.");
      await expect(rows(page)).toHaveCount(1);
      expect(await read(id)).toBe("Forget me for a moment.");
    });

    test("several are labelled and moved at once, and that is undone", async ({ page }) => {
      const [namespace, other] = [ownNamespace(), ownNamespace()];
      await remember("The first to move.", { namespace, tags: ["old"] });
      await remember("The second to move.", { namespace });
      await remember("The one that stays.", { namespace });
      await page.goto(listOf(namespace));
      await ready(page, javaScriptEnabled);
      await expect(page.locator(".bulk-bar")).toBeHidden();
      for (const text of ["The first to move.", "The second to move."]) await row(page, text).getByRole("checkbox").check();
      await expect(page.locator(".bulk-bar")).toBeVisible();
      await page.getByText("Tag or move").click();
      await page.getByLabel("Add tags").fill("packed, new");
      await page.getByLabel("Remove tags").fill("old");
      await page.getByLabel("Move to namespace").fill(other);
      await page.getByRole("button", { name: "Apply" }).click();
      await expect(toast(page)).toContainText("2 memories changed.");
      await expect(rows(page)).toHaveCount(1);
      await page.goto(listOf(other));
      await expect(rows(page)).toHaveCount(2);
      await expect(row(page, "The first to move.")).toContainText("packed");
      await expect(row(page, "The first to move.")).not.toContainText("old");
    });

    test("several are forgotten at once, and that is undone", async ({ page }) => {
      const namespace = ownNamespace();
      for (const text of ["One to forget.", "Two to forget.", "Three to keep."]) await remember(text, { namespace });
      await page.goto(listOf(namespace));
      await ready(page, javaScriptEnabled);
      await row(page, "One to forget.").getByRole("checkbox").check();
      await row(page, "Two to forget.").getByRole("checkbox").check();
      await page.locator(".bulk-bar").getByRole("button", { name: "Forget" }).click();
      await expect(toast(page)).toContainText("2 memories forgotten.");
      await expect(rows(page)).toHaveCount(1);
      await expect(page.locator(".list-summary")).toHaveText("1 memory");
      await toast(page).getByRole("button", { name: "Undo" }).click();
      await expect(rows(page)).toHaveCount(3);
      await expect(page.locator(".list-summary")).toHaveText("3 memories");
    });

    test("the trash gives back, and erases for good", async ({ page }) => {
      const namespace = ownNamespace();
      const [back, gone] = [unique("To be brought back."), unique("To be erased.")];
      const ids = [await remember(back, { namespace }), await remember(gone, { namespace })];
      for (const id of ids) await callTool(process.env.END2END_KEY ?? "", "forget", { id });
      await page.goto("/trash");
      await ready(page, javaScriptEnabled);
      await expect(row(page, back)).toContainText("Erased in 30 days");
      await row(page, back).getByRole("button", { name: "Restore" }).click();
      await expect(toast(page)).toContainText("1 memory restored.");
      await expect(row(page, back)).toHaveCount(0);
      expect(await read(ids[0])).toBe(back);

      await row(page, gone).getByText("Erase…").click();
      await expect(row(page, gone)).toContainText("Nobody can bring it back.");
      await row(page, gone).getByRole("button", { name: "Erase now" }).click();
      await expect(toast(page)).toContainText("1 memory erased for good.");
      await expect(row(page, gone)).toHaveCount(0);
      await expect(toast(page).getByRole("button", { name: "Undo" })).toHaveCount(0);
    });

    for (const path of ["00000000-0000-7000-8000-000000000000", "nonsense", "00000000-0000-7000-8000-000000000000/edit", "nonsense/history"]) {
      test(`an address of no memory answers 404: ${path}`, async ({ page }) => {
        const response = await page.goto(`/memories/${path}`);
        expect(response?.status()).toBe(404);
        await expect(page.getByRole("heading", { name: "There is no such memory" })).toBeVisible();
      });
    }

    test("the text is formatted, and shown as it is on demand", async ({ page }) => {
      const text = "# Tea\n\n- green\n- **black**\n\nSee https://example.org/tea.";
      const id = await remember(text, { namespace: ownNamespace() });
      await page.goto(`/memories/${id}`);
      await ready(page, javaScriptEnabled);
      await expect(page.locator(".memory-text strong")).toHaveText("black");
      await expect(page.locator(".memory-text a")).toHaveAttribute("rel", /noopener/);
      await page.getByRole("link", { name: "Raw text" }).click();
      await expect(page.locator(".detail pre code")).toHaveText(text, { useInnerText: true });
      await page.getByRole("link", { name: "Formatted" }).click();
      await expect(page.locator(".memory-text li")).toHaveCount(2);
    });

    test("a correction and what it corrects lead to each other", async ({ page }) => {
      const namespace = ownNamespace();
      const old = await remember("The office is in Bonn.", { namespace });
      const { result } = await callTool(process.env.END2END_KEY ?? "", "remember", {
        content: "The office is in Cologne.",
        namespace,
        supersedes: [old],
      });
      await page.goto(listOf(namespace));
      await expect(rows(page)).toHaveCount(1);
      await page.goto(`/memories/${old}`);
      await expect(page.locator(".note")).toContainText("Corrected by a newer memory");
      await page.locator(".note a").click();
      await expect(page).toHaveURL(new RegExp(result.structuredContent.id));
      await expect(page.locator(".related")).toContainText("The office is in Bonn.");
    });
  });
}
