import { field, ownNamespace, ready, textField, toast } from "../memories.ts";
import { change, inDocument, inSight, isThere, message, save, saveLong, scrollTo, select, sessionRow } from "../sessions.ts";
import { alive, audit, expect, fits, layoutShift, restore, test, unique, withhold } from "../signed-in.ts";

/** What is in a session besides words. */
const withTools = [
  { role: "system", content: "You are a careful assistant.\n\nNever guess." },
  { role: "user", content: "What is the weather in Bonn?", at: "2026-03-01T08:00:00Z" },
  {
    role: "assistant",
    at: "2026-03-01T08:00:05Z",
    content: [
      { type: "thinking", thinking: "I should look it up.", signature: "x" },
      { type: "text", text: "Let me look.\n\n```sh\ncurl https://weather.example/bonn?units=metric&days=1&language=en&hourly=true&lines=" + "long".repeat(40) + "\n```" },
      { type: "tool_use", id: "t1", name: "weather", input: { city: "Bonn", days: 1 } },
    ],
  },
  { role: "tool", at: "2026-03-01T08:00:06Z", content: [{ type: "tool_result", tool_use_id: "t1", content: "Rain, 7 degrees" }] },
  { role: "assistant", at: "2026-03-02T08:00:00Z", content: "It **rains**, at 7 degrees. <script>alert(1)</script>" },
  {
    role: "user",
    at: "2026-03-02T08:01:00Z",
    content: [
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAAAAAA" } },
      { type: "hologram", data: [1] },
    ],
  },
];

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("the list says in one line what a session is, and leads to it", async ({ page }) => {
      const title = unique("Weather in Bonn");
      const namespace = ownNamespace();
      await save(title, withTools, { namespace });
      await page.goto("/sessions");
      await ready(page, javaScriptEnabled);
      await expect(page.getByRole("link", { name: "Sessions" })).toHaveAttribute("aria-current", "page");
      const row = sessionRow(page, title);
      await expect(row.locator(".meta")).toContainText(namespace);
      await expect(row.locator(".meta")).toContainText("6 messages");
      await row.getByRole("link").click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(title);
      await expect(page.locator(".message")).toHaveCount(6);
      await page.getByRole("link", { name: "Back to the sessions" }).click();
      await expect(page).toHaveURL("/sessions");
    });

    test("titles are searched, and the list is narrowed to a namespace", async ({ page }) => {
      const [word, namespace] = [unique("Quinces").split(" ")[1], ownNamespace()];
      await save(`Pruning ${word}`, [{ role: "user", content: "When?" }], { namespace });
      await save(`Planting ${word}`, [{ role: "user", content: "Where?" }]);
      await page.goto("/sessions");
      await ready(page, javaScriptEnabled);
      await page.getByRole("searchbox").fill(word);
      await page.getByRole("button", { name: "Search" }).click();
      await expect(page.locator(".memory-row")).toHaveCount(2);
      await expect(page).toHaveURL(new RegExp(`q=${word}`));
      await page.getByLabel("Namespace").selectOption(namespace);
      await page.getByRole("button", { name: "Search" }).click();
      await expect(page.locator(".memory-row")).toHaveCount(1);
      await expect(page.locator(".memory-row")).toContainText("Pruning");
      await page.getByRole("link", { name: "Search in what was said" }).click();
      await expect(page).toHaveURL(/\/memories\?q=.*kind=session/);

      await page.goto("/sessions?q=zzzzqqqq");
      await expect(page.getByRole("heading", { name: "No session fits" })).toBeVisible();
      await page.getByRole("link", { name: "Show all sessions" }).click();
      await expect(page.locator(".memory-row").first()).toBeVisible();
    });

    test("a transcript tells who speaks, formats what they say and folds the rest", async ({ page }) => {
      const id = await save(unique("Weather"), withTools);
      await page.goto(`/sessions/${id}`);
      await ready(page, javaScriptEnabled);
      const speakers = ["System", "You", "Assistant", "Tool", "Assistant", "You"];
      await expect(page.locator(".message h2")).toHaveText(speakers);
      await expect(message(page, 5).locator("strong")).toHaveText("rains");
      await expect(message(page, 5)).toContainText("<script>alert(1)</script>");
      // Each day is told once, at its first message.
      await expect(page.locator(".day")).toHaveText(["Sunday, 1 March 2026", "Monday, 2 March 2026"]);
      await expect(message(page, 2).locator(".when")).toHaveText(/^\d\d:\d\d$/);

      const thinking = message(page, 3).locator("details", { hasText: "Thinking" });
      await expect(thinking.locator(".fold-body")).toBeHidden();
      await thinking.locator("summary").click();
      await expect(thinking.locator(".fold-body")).toContainText("I should look it up.");
      const call = message(page, 3).locator("details", { hasText: "Tool call" });
      await expect(call.locator("summary code")).toHaveText("weather");
      await call.locator("summary").click();
      await expect(call.locator("pre")).toContainText('"city": "Bonn"');
      const result = message(page, 4).locator("details");
      await expect(result.locator("summary code")).toHaveText("weather");
      await expect(result.locator("pre")).toBeHidden();
      await expect(message(page, 6).locator(".attachment")).toContainText("image/png");
      await expect(message(page, 6).locator("details")).toContainText("hologram");

      // Long lines of code scroll inside.
      const code = message(page, 3).locator(".memory-text pre");
      expect(await code.evaluate((code) => code.scrollWidth > code.clientWidth)).toBe(true);
      await fits(page);
    });

    test("a long message shows its beginning, and all of it on demand", async ({ page }) => {
      const text = `The beginning. ${"More and more words. ".repeat(3000)} The very end.`;
      const id = await save(unique("Long"), [{ role: "user", content: "Tell me all." }, { role: "assistant", content: text }]);
      await page.goto(`/sessions/${id}`);
      await ready(page, javaScriptEnabled);
      await expect(message(page, 2)).toContainText("The beginning.");
      await expect(message(page, 2)).not.toContainText("The very end.");
      await message(page, 2).getByRole("link", { name: "Show all of this message" }).click();
      await expect(message(page, 2)).toContainText("The very end.");
    });

    test("a search inside a session leads to the message, which is marked and in sight", async ({ page }) => {
      const word = unique("saffron").replace(" ", "");
      const messages = Array.from({ length: 100 }, (_, index) => ({
        role: index % 2 ? "assistant" : "user",
        content: index === 56 ? `The secret of the risotto is ${word}.` : `Small talk about nothing, line ${index + 1}.`,
      }));
      const id = await save(unique("Risotto"), messages);
      await page.goto(`/sessions/${id}`);
      await ready(page, javaScriptEnabled);
      await page.getByRole("searchbox").fill(word);
      await page.getByRole("searchbox").press("Enter");
      const hit = page.locator(".found-messages .memory-row").first();
      // What was said is in the index within moments.
      await expect(async () => {
        await page.reload();
        await expect(hit.locator("mark")).toContainText(word, { timeout: 500 });
      }).toPass();
      await expect(hit).toContainText("Message 57");
      await hit.getByRole("link").click();
      await expect(page).toHaveURL(new RegExp(`/sessions/${id}\\?message=57#message-57$`));
      await expect(message(page, 57)).toHaveClass(/is-marked/);
      await expect(message(page, 57)).toBeInViewport();
      await expect(page.locator(".is-marked")).toHaveCount(1);

      await page.getByRole("searchbox").fill("zzzzqqqq");
      await page.getByRole("searchbox").press("Enter");
      await expect(page.getByRole("heading", { name: "Nothing fits" })).toBeVisible();
      await page.getByRole("link", { name: "Back to the transcript" }).click();
      await expect(message(page, 1)).toBeVisible();
    });

    test("what a search of all memories finds in a session leads to its message", async ({ page }) => {
      const word = unique("cardamom").replace(" ", "");
      const namespace = ownNamespace();
      const messages = [{ role: "user", content: "What is in the bread?" }, { role: "assistant", content: `The bread has ${word} in it.` }];
      const title = unique("Bread");
      const id = await save(title, messages, { namespace });
      const row = page.locator(".memory-row").filter({ hasText: word });
      await expect(async () => {
        await page.goto(`/memories?namespace=${namespace}&q=${word}`);
        await expect(row).toHaveCount(1, { timeout: 500 });
      }).toPass();
      await ready(page, javaScriptEnabled);
      await expect(row.locator(".meta")).toContainText(title);
      await row.getByRole("heading").getByRole("link").click();
      await expect(page).toHaveURL(`/sessions/${id}?message=2#message-2`);
      await expect(message(page, 2)).toHaveClass(/is-marked/);
    });

    test("a whole message is remembered, and the memory leads back to it", async ({ page }) => {
      const title = unique("Plans");
      const said = unique("The offsite is in Lisbon, from 12 to 14 May");
      const id = await save(title, [{ role: "user", content: "Where?" }, { role: "assistant", content: said }], { namespace: ownNamespace() });
      await page.goto(`/sessions/${id}`);
      await ready(page, javaScriptEnabled);
      await message(page, 2).hover();
      await message(page, 2).getByRole("link", { name: /^Remember/ }).click();
      await expect(textField(page)).toHaveValue(said);
      await expect(field(page, "Source")).toHaveValue(title);
      await expect(page.locator(".detail .note", { hasText: title })).toBeVisible();
      await ready(page, javaScriptEnabled);
      await page.getByRole("button", { name: "Remember" }).click();
      await expect(toast(page)).toContainText("Remembered.");
      await expect(page.locator(".memory-text")).toHaveText(said);
      await page.locator(".properties").getByRole("link", { name: title }).click();
      await expect(page).toHaveURL(`/sessions/${id}?message=2#message-2`);
    });

    test("a session is renamed and moved", async ({ page }) => {
      const [title, other] = [unique("Old name"), ownNamespace()];
      const id = await save(title, [{ role: "user", content: "Hello." }], { namespace: ownNamespace() });
      await page.goto(`/sessions/${id}`);
      await ready(page, javaScriptEnabled);
      await change(page);
      const renamed = unique("New name");
      await page.getByLabel("Title").fill(renamed);
      await page.getByRole("button", { name: "Rename" }).click();
      await expect(toast(page)).toContainText("Session renamed.");
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(renamed);

      await change(page);
      await page.getByLabel("Namespace").fill(other);
      await page.getByRole("button", { name: "Move" }).click();
      await expect(toast(page)).toContainText("Session moved.");
      await expect(page.locator(".session-facts .namespace")).toHaveText(other);

      await change(page);
      await page.getByLabel("Namespace").fill("no good!");
      await page.getByRole("button", { name: "Move" }).click();
      await expect(page.getByRole("alert")).toContainText(/namespace/i);
      await expect(page.getByLabel("Namespace")).toBeVisible();
    });

    test("a session is forgotten, and that is undone", async ({ page }) => {
      const title = unique("Forget this");
      const id = await save(title, [{ role: "user", content: "Hello." }]);
      await page.goto(`/sessions/${id}`);
      await ready(page, javaScriptEnabled);
      await change(page);
      await page.getByRole("button", { name: "Forget" }).click();
      await expect(page).toHaveURL("/sessions");
      await expect(toast(page)).toContainText("Session forgotten.");
      await expect(sessionRow(page, title)).toHaveCount(0);
      expect(await isThere(id)).toBe(false);
      await ready(page, javaScriptEnabled);
      await toast(page).getByRole("button", { name: "Undo" }).click();
      await expect(toast(page)).toContainText("Undone.");
      await expect(sessionRow(page, title)).toHaveCount(1);
      expect(await isThere(id)).toBe(true);
    });

    test("a message that was saved again with other words shows what it said before", async ({ page }) => {
      const session_id = unique("revised");
      const say = (content: string) => save("A draft", [{ role: "assistant", content, id: "m1" }], { session_id });
      await say("The **first** draft.");
      const id = await say("The **second** draft.");
      await page.goto(`/sessions/${id}`);
      await ready(page, javaScriptEnabled);
      await expect(message(page, 1)).toContainText("The second draft.");
      await message(page, 1).getByRole("link", { name: "revised" }).click();
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Message 1");
      await expect(page.locator(".page .message-body strong")).toHaveText(["second", "first"]);
      await page.getByRole("link", { name: "Back to the transcript" }).click();
      await expect(message(page, 1)).toHaveClass(/is-marked/);
    });

    for (const id of ["00000000-0000-7000-8000-000000000000", "nonsense"]) {
      test(`an address of no session answers 404: ${id}`, async ({ page }) => {
        const response = await page.goto(`/sessions/${id}`);
        expect(response?.status()).toBe(404);
        await expect(page.getByRole("heading", { name: "There is no such session" })).toBeVisible();
      });
    }
  });
}

test.describe("a long session", () => {
  let id: string;
  const count = 2000;

  test.beforeAll(async () => {
    id = await saveLong(unique("Two thousand messages"), count);
  });

  test("scrolls as one, with few of its messages in the document", async ({ page }) => {
    await page.goto(`/sessions/${id}`);
    await alive(page);
    await expect(message(page, 1)).toBeInViewport();
    await expect(page.locator(".transcript-pager")).toHaveCount(0);
    // The scroll bar is as long as the session is.
    const height = () => page.locator(".transcript").evaluate((transcript) => transcript.getBoundingClientRect().height);
    expect(await height()).toBeGreaterThan(count * 40);

    await page.mouse.move(600, 400);
    let last = 1;
    for (let turn = 0; turn < 12; turn++) {
      await page.mouse.wheel(0, 1500);
      await expect(async () => {
        const seen = await inSight(page);
        expect(Math.max(...seen)).toBeGreaterThan(last);
        last = Math.max(...seen);
      }).toPass();
      expect((await inDocument(page)).length).toBeLessThanOrEqual(320);
    }
    // In their order, and none twice.
    const numbers = await inDocument(page);
    expect(numbers).toEqual(numbers.map((_, index) => numbers[0] + index));

    for (const share of [0.5, 0.9, 0.25]) {
      await scrollTo(page, share);
      await expect(async () => {
        const seen = await inSight(page);
        expect(seen.length).toBeGreaterThan(0);
        expect(Math.abs(seen[0] / count - share)).toBeLessThan(0.1);
      }).toPass();
      expect((await inDocument(page)).length).toBeLessThanOrEqual(320);
    }
    await scrollTo(page, 1);
    await expect(message(page, count)).toBeInViewport();
    await scrollTo(page, 0);
    await expect(message(page, 1)).toBeInViewport();
  });

  test("does not move under the eyes when other parts come", async ({ page }) => {
    await page.goto(`/sessions/${id}?message=1000#message-1000`);
    await alive(page);
    await expect(message(page, 1000)).toBeInViewport();
    await expect(page.locator(".transcript-room")).toHaveCount(2);
    await expect(message(page, 1000)).toBeInViewport();
    await page.route("**/api/read_transcript*", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 700));
      await route.continue();
    });
    await page.mouse.move(600, 400);
    let loaded = 0;
    page.on("response", (response) => (loaded += Number(response.url().includes("/api/read_transcript"))));
    for (let turn = 0; turn < 10; turn++) {
      await page.mouse.wheel(0, -700);
      // The wheel has come to rest, and what it asked for is still on its way.
      await page.waitForTimeout(400);
      const seen = await inSight(page);
      const top = () => message(page, seen[1]).evaluate((message) => message.getBoundingClientRect().top);
      const there = await top();
      await page.waitForTimeout(600);
      expect(Math.abs((await top()) - there)).toBeLessThan(4);
    }
    expect(loaded).toBeGreaterThan(0);
  });

  test("is found again where one was", async ({ page }) => {
    await page.goto(`/sessions/${id}`);
    await alive(page);
    await scrollTo(page, 0.6);
    await expect(page).toHaveURL(/\?from=\d+$/);
    await expect.poll(async () => (await inSight(page)).length).toBeGreaterThan(0);
    // What one sees settles, and with it the address.
    await page.waitForTimeout(1000);
    const first = (await inSight(page))[0];
    await page.reload();
    await alive(page);
    await expect.poll(async () => Math.abs((await inSight(page))[0] - first)).toBeLessThan(5);
  });

  test("says so where messages could not be loaded, and loads them later", async ({ page }) => {
    await page.goto(`/sessions/${id}`);
    await alive(page);
    await withhold(page, "**/api/read_transcript*");
    await scrollTo(page, 0.5);
    await expect(page.locator(".transcript-part.is-waiting").first()).toContainText("could not be loaded");
    await restore(page, "**/api/read_transcript*");
    await expect.poll(async () => (await inSight(page)).length, { timeout: 15_000 }).toBeGreaterThan(0);
  });

  test("a hit far inside it is in sight, with what was said before and after", async ({ page }) => {
    await page.goto(`/sessions/${id}?message=1444#message-1444`);
    await alive(page);
    await expect(page.locator(".transcript-room")).toHaveCount(2);
    await expect(message(page, 1444)).toBeInViewport();
    await expect(message(page, 1444)).toHaveClass(/is-marked/);
    await expect(message(page, 1445)).toBeInViewport();
    expect(await layoutShift(page)).toBeLessThan(0.05);
  });

  test.describe("without JavaScript", () => {
    test.use({ javaScriptEnabled: false });

    test("has pages", async ({ page }) => {
      await page.goto(`/sessions/${id}`);
      await expect(page.locator(".message")).toHaveCount(40);
      await expect(page.locator(".transcript-pager")).toContainText("Messages 1 to 40 of 2,000");
      await page.getByRole("link", { name: "Later messages" }).click();
      await expect(page.locator(".message").first()).toContainText("This is message number 41.");
      await page.getByRole("link", { name: "To the end" }).click();
      await expect(page.locator(".message").last()).toContainText("This is message number 2000.");
      await expect(page.getByRole("link", { name: "Later messages" })).toHaveCount(0);
      await page.getByRole("link", { name: "Earlier messages" }).click();
      await expect(page.locator(".message").first()).toContainText("This is message number 1921.");
      await page.getByRole("link", { name: "To the beginning" }).click();
      await expect(page.locator(".message").first()).toContainText("This is message number 1.");
      await expect(page.getByRole("link", { name: "Earlier messages" })).toHaveCount(0);
    });
  });
});

test("a passage that is selected is remembered by itself", async ({ page }) => {
  const title = unique("Recipe");
  const said = "Take two hundred grams of flour. Then add the eggs, one after the other. Bake it for an hour.";
  const passage = "add the eggs, one after the other";
  const id = await save(title, [{ role: "user", content: "How?" }, { role: "assistant", content: said }], { namespace: ownNamespace() });
  await page.goto(`/sessions/${id}`);
  await alive(page);
  const link = page.getByRole("link", { name: "Remember this passage" });
  await expect(link).toHaveCount(0);
  await select(page, 2, passage);
  await expect(link).toBeInViewport();
  await link.click();
  await expect(textField(page)).toHaveValue(passage);
  // What was selected is in no address.
  expect(page.url()).not.toContain("eggs");
  await page.getByRole("button", { name: "Take the whole message" }).click();
  await expect(textField(page)).toHaveValue(said);

  await page.goBack();
  await alive(page);
  await select(page, 2, passage);
  await expect(link).toBeVisible();
  await page.keyboard.press("n");
  await expect(textField(page)).toHaveValue(passage);
  await page.getByRole("button", { name: "Remember" }).click();
  await expect(page.locator(".memory-text")).toHaveText(passage);
  await page.locator(".properties").getByRole("link", { name: title }).click();
  await expect(page).toHaveURL(`/sessions/${id}?message=2#message-2`);
});

test("the list follows what is typed", async ({ page }) => {
  const word = unique("Heron").split(" ")[1];
  await save(`Birds ${word}`, [{ role: "user", content: "Which?" }]);
  await page.goto("/sessions");
  await alive(page);
  await page.getByRole("searchbox").pressSequentially(word, { delay: 20 });
  await expect(page.locator(".memory-row")).toHaveCount(1);
  await expect(page).toHaveURL(`/sessions?q=${word}`);
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(`Birds ${word}`);
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL("/sessions");
});

test("in Chinese", async ({ page, context, baseURL }) => {
  await context.addCookies([{ name: "polymnemo_language", value: "zh", url: baseURL }]);
  const id = await save(unique("天气"), withTools);
  await page.goto("/sessions");
  await expect(page.getByRole("link", { name: "会话" })).toHaveAttribute("aria-current", "page");
  await page.goto(`/sessions/${id}`);
  await expect(page.locator(".message h2")).toHaveText(["系统", "你", "助手", "工具", "助手", "你"]);
  await expect(page.locator(".day").first()).toHaveText("2026年3月1日 星期日");
  await expect(page.getByText("思考过程")).toBeVisible();
  await audit(page);
});

const pages = {
  "the list": () => "/sessions",
  "a list of nothing": () => "/sessions?q=zzzzqqqq",
  "a session": (id: string) => `/sessions/${id}`,
  "a message that is marked": (id: string) => `/sessions/${id}?message=3`,
  "what a search inside a session finds": (id: string) => `/sessions/${id}?q=weather`,
  "the form for a passage": (id: string) => `/memories/new?session=${id}&message=5`,
  "no session": () => "/sessions/nonsense",
};

for (const width of [1280, 390]) {
  for (const [name, path] of Object.entries(pages)) {
    test(`no accessibility fault, and nothing sticks out: ${name}, ${width} wide`, async ({ page }) => {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(path(await save(unique("Weather"), withTools)));
      await alive(page);
      for (const fold of await page.locator(".fold > summary").all()) await fold.click();
      await audit(page);
      await fits(page);
      if (name === "a session") {
        await change(page);
        await audit(page);
        await fits(page);
      }
    });
  }
}
