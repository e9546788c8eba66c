// Takes pictures of every page into screenshots/, to be looked at: light and dark, wide and narrow, in both languages.
//
//     scripts/screenshots.sh              # all pages
//     scripts/screenshots.sh tokens       # those whose names begin with "tokens"

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { chromium, request } from "@playwright/test";
import { launchOptions } from "./browser.mjs";
import { bytes, pdf, png, text, video, wav } from "./files.mjs";

const baseURL = process.env.END2END_URL;
if (!baseURL) throw new Error("END2END_URL is not set: run scripts/screenshots.sh, which starts a server and sets it");

const alive = (page) => page.locator("html[data-copies]").waitFor();
/** Opens the records of these places in the list. */
const open = (...places) => async (page) => {
  await alive(page);
  for (const place of places) await page.locator("details.record > summary").nth(place).click();
};

/** Opens the memory whose row holds this text. */
const openMemory = async (page, text) => {
  await page.locator("html[data-alive]").waitFor();
  await page.locator(".memory-row").filter({ hasText: text }).locator("h3 a").click();
  await page.locator(".memory-text").waitFor();
};

/** Opens the record of an app, and the form in it. */
function openApp(name, andForm) {
  return async (page) => {
    await alive(page);
    const record = page.locator("details.record").filter({ has: page.locator("h3", { hasText: name }) });
    await record.locator("> summary").click();
    if (andForm) await record.locator(".change > summary").click();
  };
}

/** Goes to the page of what an app saw. */
function openSeen(name) {
  return async (page) => {
    await openApp(name)(page);
    await page.locator(".record[open] a[href^='/apps/']").click();
    await page.locator(".way-back").waitFor();
    await alive(page);
  };
}

/** The page of a session, once that is saved. */
function session(title, query = "") {
  return () => `/sessions/${sessions.get(title)}${query}`;
}

/** Where an app sends a person that asks to be let in, once it is known. */
function ask(name) {
  return () => apps.get(name).authorize;
}

/** Chooses files for an upload. */
async function choose(page, files) {
  await page.locator("[data-uploader][data-sends]").waitFor();
  await page.locator(".drop-zone input").setInputFiles(files);
  await page.locator(".upload").last().waitFor();
}

/** Opens the page of the file of this description. */
function openFile(description) {
  return async (page) => {
    await page.locator(".media-card a").filter({ hasText: description }).first().click();
    await page.locator(".media-parts").waitFor();
    await alive(page);
    await page.waitForTimeout(500);
  };
}

/** The address of the receipt, once there is one. */
let receipt;

/** An export as Claude makes it. */
function claude() {
  const conversation = (uuid, name, texts) => ({
    uuid,
    name,
    created_at: "2026-03-01T10:00:00Z",
    updated_at: "2026-03-01T11:00:00Z",
    account: { uuid: "account" },
    chat_messages: texts.map((text, number) => ({
      uuid: `${uuid}-${number}`,
      sender: number % 2 ? "assistant" : "human",
      text,
      content: [{ type: "text", text }],
      created_at: `2026-03-01T10:0${number}:00Z`,
    })),
  });
  const conversations = [
    conversation("kettle", "Which kettle is quiet?", ["Which kettle is quiet?", "One with a wide base and a thick wall."]),
    conversation("ferry", "Ferry times in October", ["When is the last ferry?", "At 21:40, but only until the middle of the month.", "Thanks."]),
    conversation("address", "https://example.org/a/very/long/address/without/any/space/in/it/at/all?that=goes&on=and&on=and&on=still", ["What is this?"]),
    conversation("nothing", "", []),
  ];
  return { name: "conversations.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(conversations)) };
}

/** Sends an export to be imported, and waits until it was looked through. */
async function sendExport(page) {
  await alive(page);
  await page.locator("main input[type=file]").setInputFiles(claude());
  await page.locator("main form .button-main").click();
  await page.locator("#plan").waitFor();
  await alive(page);
}

/** Where the app leads a person that waits for a file, once it is known. */
const uploadLink = () => links.at(-1);

// `prepare` brings the page into the state to be shown. Pages of someone who is signed in are shown `before` there is
// anything on them, and after.
const pages = [
  { name: "welcome", path: "/", prepare: alive },
  {
    name: "welcome-loading",
    path: "/",
    prepare: async (page) => {
      await page.clock.install();
      await page.route("**/api/server_status*", (route) => route.fulfill({ json: "model_loading" }));
      await page.reload();
      await alive(page);
      await page.clock.runFor("00:31");
      await page.locator("[data-state=waiting]").waitFor();
    },
  },
  { name: "sign-in", path: "/sign-in?next=/tokens" },
  { name: "sign-in-problem", path: "/sign-in?problem=link" },
  { name: "not-found", path: "/no/such/page" },
  { name: "offline", path: "/offline" },
  { name: "memories-empty", path: "/memories", signedIn: true, before: true, prepare: alive },
  { name: "memories", path: "/memories", signedIn: true, prepare: alive },
  {
    name: "memories-selected",
    path: "/memories",
    signedIn: true,
    prepare: async (page) => {
      await alive(page);
      for (const place of [1, 2]) await page.locator(".memory-row input").nth(place).check();
      await page.locator(".bulk-change summary").click();
    },
  },
  {
    name: "memories-search",
    path: "/memories?q=where+does+Ada+like+to+sit",
    signedIn: true,
    prepare: async (page) => {
      await alive(page);
      await page.locator(".why summary").first().click();
    },
  },
  { name: "memories-nothing", path: "/memories?q=zzzzqqqq&namespace=work", signedIn: true, prepare: alive },
  { name: "memories-error", path: "/memories?from=yesterday", signedIn: true, prepare: alive },
  { name: "memory", path: "/memories?namespace=work", signedIn: true, prepare: (page) => openMemory(page, "Release checklist") },
  {
    name: "memory-edit",
    path: "/memories?namespace=work",
    signedIn: true,
    prepare: async (page) => {
      await openMemory(page, "Release checklist");
      await page.locator(".detail [data-key=e]").click();
      await page.locator("#memory-content").waitFor();
    },
  },
  {
    name: "memory-history",
    path: "/memories?namespace=personal",
    signedIn: true,
    prepare: async (page) => {
      await openMemory(page, "window seats");
      await page.locator(".detail header a[href*=history]").click();
      await page.locator(".state").first().waitFor();
    },
  },
  { name: "memory-new", path: "/memories/new", signedIn: true, prepare: alive },
  { name: "memory-none", path: "/memories/00000000-0000-7000-8000-000000000000", signedIn: true, prepare: alive },
  { name: "sessions-empty", path: "/sessions", signedIn: true, before: true, prepare: alive },
  { name: "sessions", path: "/sessions", signedIn: true, prepare: alive },
  { name: "sessions-nothing", path: "/sessions?q=zzzzqqqq", signedIn: true, prepare: alive },
  { name: "session", path: session("The flaky nightly build"), signedIn: true, prepare: alive },
  {
    name: "session-unfolded",
    path: session("The flaky nightly build"),
    signedIn: true,
    prepare: async (page) => {
      await alive(page);
      for (const fold of await page.locator(".fold > summary").all()) await fold.click();
    },
  },
  { name: "session-long", path: session("A reading of the charter, line by line", "?message=57#message-57"), signedIn: true, inWindow: true, prepare: alive },
  { name: "session-search", path: session("The flaky nightly build", "?q=clock"), signedIn: true, prepare: alive },
  { name: "session-nothing", path: session("The flaky nightly build", "?q=zzzzqqqq"), signedIn: true, prepare: alive },
  {
    name: "session-change",
    path: session("The flaky nightly build"),
    signedIn: true,
    inWindow: true,
    prepare: async (page) => {
      await alive(page);
      await page.locator(".session-change > summary").click();
    },
  },
  {
    name: "session-passage",
    path: session("The flaky nightly build"),
    signedIn: true,
    inWindow: true,
    prepare: async (page) => {
      await alive(page);
      await page.evaluate(() => getSelection().selectAllChildren(document.querySelector("#message-2 .memory-text p")));
      await page.locator(".remember-passage:not([hidden])").waitFor();
    },
  },
  { name: "session-chinese", path: session("周末的徒步路线"), signedIn: true, prepare: alive },
  { name: "session-none", path: "/sessions/00000000-0000-7000-8000-000000000000", signedIn: true, prepare: alive },
  {
    name: "session-error",
    path: session("A reading of the charter, line by line"),
    signedIn: true,
    inWindow: true,
    prepare: async (page) => {
      await alive(page);
      await page.route("**/api/read_transcript*", (route) => route.abort());
      await page.evaluate(() => {
        const main = document.querySelector("#content");
        const scroller = main.scrollHeight > main.clientHeight ? main : document.scrollingElement;
        scroller.scrollTop = scroller.scrollHeight / 2;
      });
      await page.locator(".is-waiting[role=status]").first().waitFor();
    },
  },
  {
    name: "memory-of-message",
    path: () => `/memories/new?session=${sessions.get("The flaky nightly build")}&message=2`,
    signedIn: true,
    prepare: alive,
  },
  { name: "media-empty", path: "/media", signedIn: true, before: true, prepare: alive },
  {
    name: "media",
    path: "/media",
    signedIn: true,
    prepare: async (page) => {
      await alive(page);
      await page.waitForTimeout(500);
    },
  },
  {
    name: "media-chosen",
    path: "/media",
    signedIn: true,
    prepare: (page) =>
      choose(page, [png("whiteboard.png"), bytes("recording of the meeting.mp4", 48 << 20), text("an empty file.txt", "")]),
  },
  {
    name: "media-sending",
    path: "/media",
    signedIn: true,
    prepare: async (page) => {
      let parts = 0;
      await page.route("**/blobs/**", (route) => {
        if (route.request().method() !== "PUT") return route.continue();
        parts += 1;
        return parts > 1 ? route.abort() : route.continue();
      });
      await choose(page, [bytes("recording of the meeting.mp4", 20 << 20)]);
      await page.locator("[data-start] button").click();
      await page.locator(".upload[data-state=broken]").waitFor();
      await page.unroute("**/blobs/**");
      await page.route("**/blobs/**", (route) => (route.request().method() === "PUT" ? undefined : route.continue()));
      await choose(page, [png("whiteboard.png"), png("the other whiteboard.png"), text("minutes.txt", "text"), text("more.txt", "text")]);
      await page.locator(".upload input[name=namespace]").last().fill("work");
      await page.locator("[data-start] button").click();
      await page.locator(".upload[data-state=waiting]").first().waitFor();
    },
  },
  { name: "media-unfinished", path: "/media", signedIn: true, prepare: alive },
  { name: "media-nothing", path: "/media?q=zzzz", signedIn: true, prepare: alive },
  { name: "media-error", path: "/media?cursor=nonsense", signedIn: true, prepare: alive },
  { name: "media-refused", path: "/media?problem=file_too_large", signedIn: true, prepare: alive },
  { name: "media-image", path: "/media", signedIn: true, prepare: openFile("quince") },
  { name: "media-film", path: "/media", signedIn: true, prepare: openFile("squares") },
  { name: "media-text", path: "/media", signedIn: true, prepare: openFile("Minutes") },
  { name: "media-pdf", path: "/media", signedIn: true, prepare: openFile("insurance") },
  { name: "media-other", path: "/media", signedIn: true, prepare: openFile("backup") },
  { name: "media-none", path: "/media/00000000-0000-7000-8000-000000000000", signedIn: true, prepare: alive },
  { name: "upload", path: uploadLink, signedIn: false, seen: true, prepare: (page) => page.locator("[data-sends]").waitFor() },
  {
    name: "upload-wrong",
    path: uploadLink,
    seen: true,
    prepare: (page) => choose(page, [text("another file.txt", "text")]),
  },
  { name: "upload-over", path: "/upload/nonsense", prepare: alive },
  { name: "trash-empty", path: "/trash", signedIn: true, before: true, prepare: alive },
  { name: "trash", path: "/trash", signedIn: true, prepare: alive },
  { name: "namespaces-empty", path: "/namespaces", signedIn: true, before: true, prepare: alive },
  { name: "namespaces", path: "/namespaces", signedIn: true, prepare: open(1) },
  {
    name: "namespaces-error",
    path: "/namespaces",
    signedIn: true,
    prepare: async (page) => {
      await page.locator("#new-name").fill("work");
      await page.locator("button.button-main").click();
      await page.locator(".fault").waitFor();
      await alive(page);
    },
  },
  { name: "import-empty", path: "/import", signedIn: true, before: true, prepare: alive },
  { name: "import-waiting", path: "/import", signedIn: true, prepare: sendExport },
  {
    name: "import-done",
    path: "/import",
    signedIn: true,
    prepare: async (page) => {
      await sendExport(page);
      // Once it is in, there is nothing to confirm any more.
      const confirm = page.locator(".buttons .button-main");
      if (!(await confirm.count())) return;
      await confirm.click();
      await page.locator(".import-choices").waitFor();
      await page.locator(".import-undo").waitFor();
    },
  },
  { name: "import", path: "/import", signedIn: true, prepare: alive },
  { name: "export-empty", path: "/export", signedIn: true, before: true, prepare: alive },
  {
    name: "export",
    path: "/export",
    signedIn: true,
    prepare: async (page) => {
      await alive(page);
      if (!(await page.locator("a[href$='/file']").count())) await page.locator("main .button-main").click();
      await page.locator("a[href$='/file']").first().waitFor();
    },
  },
  { name: "erase", path: "/erase", signedIn: true, prepare: alive },
  { name: "erase-preview", path: "/erase?namespace=home/garden", signedIn: true, prepare: alive },
  {
    name: "erase-receipt",
    path: "/memories?namespace=personal",
    signedIn: true,
    prepare: async (page) => {
      // What is erased once stays so.
      if (receipt) await page.goto(receipt);
      else {
        await openMemory(page, "window seats on trains");
        await page.goto(`/erase?memory=${page.url().match(/[0-9a-f-]{36}/)[0]}`);
        await page.locator("main .button-danger").click();
        await page.locator("dl.properties").waitFor({ timeout: 20_000 });
        receipt = page.url();
      }
      await alive(page);
    },
  },
  { name: "apps-empty", path: "/apps", signedIn: true, before: true, prepare: alive },
  { name: "apps", path: "/apps", signedIn: true, prepare: alive },
  { name: "apps-open", path: "/apps", signedIn: true, prepare: openApp("Notes on the desktop", true) },
  { name: "apps-token", path: "/apps", signedIn: true, prepare: openApp("Nightly backup") },
  { name: "apps-ended", path: "/apps", signedIn: true, prepare: openApp("Old script") },
  { name: "app", path: "/apps", signedIn: true, prepare: openSeen("Notes on the desktop") },
  { name: "app-nothing", path: "/apps", signedIn: true, prepare: openSeen("Old script") },
  { name: "app-none", path: "/apps/00000000-0000-7000-8000-000000000000", signedIn: true, prepare: alive },
  { name: "consent-verified", path: ask("Travel planner"), signedIn: true, prepare: alive },
  { name: "consent", path: ask("Recipe box"), signedIn: true, prepare: alive },
  {
    name: "consent-error",
    path: ask("Recipe box"),
    signedIn: true,
    prepare: async (page) => {
      await page.locator("input.opens").check();
      await page.locator("button[value=allow]").click();
      await page.locator(".fault").waitFor();
      await alive(page);
    },
  },
  { name: "consent-again", path: ask("Notes on the desktop"), signedIn: true, prepare: alive },
  { name: "consent-over", path: "/consent?request=nonsense", signedIn: true, prepare: alive },
  { name: "tokens-empty", path: "/tokens", signedIn: true, before: true, prepare: alive },
  { name: "tokens", path: "/tokens", signedIn: true, prepare: open(0) },
  {
    name: "tokens-created",
    path: "/tokens",
    signedIn: true,
    prepare: async (page) => {
      await page.locator("#token-name").fill("Laptop");
      await page.locator(".fields button").click();
      await page.locator(".created").waitFor();
      await alive(page);
    },
  },
  {
    name: "tokens-error",
    path: "/tokens",
    signedIn: true,
    prepare: async (page) => {
      await page.locator("#token-name").fill("CI");
      await page.locator("input.opens").check();
      await page.locator(".fields button").click();
      await page.locator(".fault").waitFor();
      await alive(page);
    },
  },
  { name: "connect-empty", path: "/connect", signedIn: true, before: true, prepare: alive },
  { name: "connect", path: "/connect", signedIn: true, prepare: open(0, 3) },
  { name: "settings", path: "/settings?saved", signedIn: true, prepare: alive },
  {
    name: "settings-error",
    path: "/settings",
    signedIn: true,
    prepare: async (page) => {
      await page.locator("#time-zone").fill("Atlantis");
      await page.locator("button.button-main").click();
      await page.locator(".fault").waitFor();
      await alive(page);
    },
  },
];
const viewports = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];

const memories = [
  ["personal", "Ada prefers window seats on trains, and aisle seats on flights of more than four hours.", ["travel"], "chat"],
  ["work", "Ada owns the billing service since March.", ["teams"]],
  ["work", "The release train leaves every second Tuesday at 14:00 UTC; the freeze begins the Friday before.", ["release"]],
  [
    "work",
    "# Release checklist\n\n1. Run `make test`\n2. Tag the release\n3. Watch the **error rate** for half an hour\n\n| step | owner |\n| --- | --- |\n| tag | Ada |\n| watch | Lin |\n\n```sh\ngit tag v1.2.3\n```\n\nMore in [the runbook](https://example.org/runbook).",
    ["release"],
    "https://example.org/runbook",
  ],
  ["home/garden", "The quince was planted in autumn 2024; prune it in late winter.", ["garden", "trees"]],
  ["personal", "Lin's birthday is on 3 May. She likes pour-over coffee and hates surprises.", ["people"]],
  ["personal", "我对花生过敏，但可以吃杏仁。", ["健康"]],
  ["读书", "《三体》读到第二部第三章，喜欢罗辑这个角色。", ["科幻"]],
  ["work", "Migrations are raw SQL, one file each, and never edited once they have landed.", ["database"], "cursor"],
  ["work", "The staging database is restored from production every Sunday night.", ["database"]],
  ["personal", "The spare key is with the neighbours on the second floor.", []],
  ["work", "Stand-up is at 9:30, and written on Fridays.", ["process"]],
  ["work", "An idea for the offsite: a day without laptops.", []],
  ["personal", "Try the new bakery at the station.", []],
];

const at = (minutes) => new Date(Date.UTC(2026, 10, 28, 22, 30) + minutes * 60_000).toISOString();

/** What was said with clients: the title of each session with its namespace and messages. */
const conversations = [
  [
    "The flaky nightly build",
    "work",
    [
      { role: "system", content: "You are a careful engineer. Say what you know and what you guess.\n\nAsk before you change anything." },
      { role: "user", at: at(0), content: "The nightly build fails about once a week, always in `test_expiry`. Can you find out why? I would rather understand it than just retry." },
      {
        role: "assistant",
        at: at(1),
        content: [
          { type: "thinking", thinking: "Once a week, around midnight. That smells of a clock. I should read the test first." },
          { type: "text", text: "Once a week and always the same test: that is rarely chance. Let me read it." },
          { type: "tool_use", id: "t1", name: "read_file", input: { path: "tests/test_expiry.py", lines: [1, 40] } },
        ],
      },
      {
        role: "tool",
        at: at(1),
        content: [{ type: "tool_result", tool_use_id: "t1", content: "def test_expiry(clock):\n    token = issue(valid_for=timedelta(days=1))\n    assert token.expires.date() == date.today() + timedelta(days=1)\n" }],
      },
      { role: "tool", at: at(2), content: [{ type: "tool_result", tool_use_id: "t2", is_error: true, content: "git blame: no such path in HEAD" }] },
      {
        role: "assistant",
        at: at(3),
        content: [
          {
            type: "text",
            text: "There it is. The test asks the **clock** twice:\n\n1. `issue()` takes the time now, in UTC\n2. `date.today()` takes the *local* day\n\nBetween 23:00 and midnight these are two different days. The build starts at 22:30, so a slow run gets there.\n\n```python\ndef test_expiry(clock):\n    clock.set(datetime(2026, 3, 1, 12, 0, tzinfo=timezone.utc))\n    token = issue(valid_for=timedelta(days=1), now=clock.now)  # one clock, given to both, so that neither can be ahead of the other\n    assert token.expires == clock.now() + timedelta(days=1)\n```\n\n| started | reaches the test | fails |\n| --- | --- | --- |\n| 22:30 | 22:51 | no |\n| 22:30 | 23:04 | yes |",
          },
        ],
      },
      {
        role: "user",
        at: at(95),
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: "A".repeat(48000) } },
          { type: "text", text: "Makes sense, and the graph agrees. Please write the fix, and tell me what else asks for the local day." },
        ],
      },
      { role: "assistant", at: at(96), content: "Done in `fix/one-clock`. Two more places ask for the local day: the report of the week, and the clean-up of old sessions. Neither is tested near midnight." },
    ],
  ],
  [
    "A reading of the charter, line by line",
    "personal",
    Array.from({ length: 400 }, (_, index) => ({
      role: index % 2 ? "assistant" : "user",
      at: at(index),
      content:
        index % 2
          ? `Line ${(index + 1) / 2} speaks of ${["duties", "rights", "the council", "who pays"][index % 4]}. ${"It was read in more than one way, and the notes in the margin tell which one the scribe preferred. ".repeat((index % 5) + 1)}`
          : `What does line ${index / 2 + 1} mean?`,
    })),
  ],
  ["周末的徒步路线", "读书", [
    { role: "user", at: at(5), content: "这个周末想去爬山，有什么推荐的路线吗？最好当天来回，不要太难。" },
    { role: "assistant", at: at(6), content: "可以考虑这两条：\n\n- **云台步道**：约 8 公里，爬升 400 米，适合新手\n- **北线古道**：约 12 公里，沿途有水源\n\n如果周六下雨，建议选第一条，路面是石板，不容易滑。" },
  ]],
  ["Dinner for six without nuts", "personal", [{ role: "user", at: at(7), content: "Six guests, one of them allergic to peanuts. What shall I cook?" }, { role: "assistant", at: at(8), content: "A risotto." }]],
];

const sessions = new Map();
const apps = new Map();
/** The paths of the pages where a file is waited for. */
const links = [];

/** Lets an app register that is on this machine. */
async function register(client_name) {
  const redirect_uri = "http://127.0.0.1:33418/callback";
  const app = await (await anyone.post("/register", { data: { client_name, redirect_uris: [redirect_uri] } })).json();
  return known(client_name, app.client_id, redirect_uri);
}

/** Serves the document of an app that is on the web. */
function publish(client_name) {
  const [client_id, redirect_uri] = ["https://travel.example/client.json", "https://travel.example/back"];
  const document = JSON.stringify({ client_id, client_name, redirect_uris: [redirect_uri] });
  const server = createServer((_, response) => response.end(document)).listen(new URL(process.env.END2END_DOCUMENTS).port);
  server.unref();
  return known(client_name, client_id, redirect_uri);
}

function known(client_name, client_id, redirect_uri) {
  const verifier = "v".repeat(43);
  const query = new URLSearchParams({
    response_type: "code",
    client_id,
    redirect_uri,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state: "s",
    resource: `${baseURL}/mcp`,
  });
  const token = async (code) => {
    const form = { grant_type: "authorization_code", code, client_id, redirect_uri, code_verifier: verifier };
    return (await (await anyone.post("/token", { form })).json()).access_token;
  };
  apps.set(client_name, { authorize: `/authorize?${query}`, token });
  return apps.get(client_name);
}

/** Lets an app in; gives its access token. */
async function letIn(person, name, grants) {
  const app = await register(name);
  const asked = await person.get(app.authorize);
  const id = new URL(asked.url()).searchParams.get("request");
  const fields = new URLSearchParams([["request", id], ["answer", "allow"], ["days", "30"], ...grants]);
  const answered = await person.post("/consent/answer", {
    data: fields.toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
    maxRedirects: 0,
  });
  return app.token(new URL(answered.headers().location).searchParams.get("code"));
}

/** Someone who lets apps in, of which one is paused, and one is ended. */
async function connect(person, send) {
  const some = [["can_write", "true"], ["namespaces", "chosen"], ["names", "work"], ["names", "home/garden"]];
  const token = await letIn(person, "Notes on the desktop", some);
  await letIn(person, "Reading list", [["can_write", "false"], ["namespaces", "all"]]);
  await register("Recipe box");
  publish("Travel planner");
  await send("/tokens", { call: "/api/create_api_token", name: "Old script", can_write: "false", all_namespaces: "true", days: "" });
  const { items } = await (await person.get("/api/list_apps")).json();
  const id = (name) => items.find((app) => app.name === name).id;
  await send("/apps", { call: "/api/pause_app", then: "/apps", id: id("Reading list"), paused: "true" });
  await send("/apps", { call: "/api/revoke_app", then: "/apps", id: id("Old script") });
  return token;
}

/** Files of every sort, and one that is waited for. */
async function keepFiles(tool) {
  const page = await browser.newPage();
  const film = await video(page, "squares.webm");
  await page.close();
  const files = [
    [bytes("backup-2026-11.tar.gz", 40_000), "The backup of the notes, from before the move.", "work", ["database"]],
    [wav("memo 7.wav"), "A reminder about the spare key, spoken on the way home.", "personal"],
    [pdf("policy.pdf", "Household insurance, no 4711"), "The household insurance, valid until the end of 2027.", "personal", ["papers"]],
    [text("minutes.txt", "Minutes\n\nPresent: Ada, Lin\n\n1. The release train leaves on Tuesday.\n2. Lin writes the notes.\n"), "Minutes of the release meeting.", "work", ["release"]],
    [film, "Two squares that cross: the animation for the talk.", "work"],
    [png("厨房.png", 900, 1200, [90, 140, 110]), "厨房的草图，窗户朝北。", "personal"],
    [png("IMG_2044.png", 1600, 900, [190, 140, 70]), "The quince in its first autumn, seen from the kitchen.", "home/garden", ["garden", "trees"]],
    [png("a screenshot with a name that is far too long to be read in one line of a card.png", 800, 500, [150, 80, 160]), "a screenshot with a name that is far too long to be read in one line of a card.png", "work"],
  ];
  for (const [{ name, mimeType, buffer }, description, namespace, tags] of files) {
    const content_base64 = buffer.toString("base64");
    await tool("create_upload", { filename: name, content_type: mimeType, description, namespace, ...(tags && { tags }), content_base64 });
  }
  const waited = await tool("create_upload", {
    filename: "Lisbon, the way to the hotel.mp4",
    content_type: "video/mp4",
    size: 48_000_000,
    description: "The way from the station to the hotel in Lisbon, filmed by Lin.",
    namespace: "work",
  });
  links.push(new URL(waited.upload_page).pathname);
}

/** What someone has after some weeks. */
async function live(person) {
  const send = (path, form) => person.post(path, { form, headers: { accept: "text/html" }, maxRedirects: 0 });
  for (const name of ["work", "home/garden", "读书"]) await send("/namespaces", { call: "/api/create_namespace", then: "/namespaces", name });
  await send("/namespaces", { call: "/api/share_namespace", then: "/namespaces", name: "home/garden", shared: "true" });
  for (const [name, can_write, days] of [
    ["Nightly backup", "false", "365"],
    ["Cursor on the laptop", "true", "90"],
  ]) {
    await send("/tokens", { call: "/api/create_api_token", name, can_write, all_namespaces: "true", days });
  }
  const client = await request.newContext({ extraHTTPHeaders: { accept: "application/json, text/event-stream" } });
  let token = process.env.END2END_KEY;
  const call = (method, params) =>
    client.post(`${baseURL}/mcp`, {
      headers: { authorization: `Bearer ${token}` },
      data: { jsonrpc: "2.0", id: 1, method, params },
    });
  for (const name of ["claude-code", "cursor-vscode", "nightly.py"]) {
    await call("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name, version: "1" } });
  }
  const tool = async (name, args) => (await (await call("tools/call", { name, arguments: args })).json()).result?.structuredContent;
  const stored = [];
  for (const [namespace, content, tags, source] of memories) {
    stored.push(await tool("remember", { namespace, content, tags, ...(source && { source }) }));
  }
  await tool("update", { id: stored[0].id, content: `${memories[0][1]} Never the middle.`, tags: ["travel", "trains"] });
  await tool("remember", { namespace: "work", content: "Ada owns the billing service since April.", supersedes: [stored[1].id] });
  await tool("forget", { ids: stored.slice(-2).map(({ id }) => id) });
  for (const [index, [title, namespace, messages]] of conversations.entries()) {
    sessions.set(title, (await tool("save_session", { session_id: `chat-${index}`, title, namespace, messages })).id);
  }

  await keepFiles(tool);

  token = await connect(person, send);
  await call("resources/list", {});
  await tool("recall", { query: "when does the release train leave?" });
  await tool("list_memories", { namespace: "work" });
  const noted = await tool("remember", { namespace: "work", content: "The offsite is in Lisbon, from 12 to 14 May." });
  await tool("get_memory", { id: noted.id });
  const mistaken = await tool("remember", { namespace: "work", content: "Lisbon is in Spain." });
  await tool("forget", { ids: [mistaken.id] });
  await tool("recall", { query: "where do we meet in May, and who has been asked to bring the whiteboard and the good pens this time?" });
  await client.dispose();
}

const folder = new URL("screenshots/", import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch(launchOptions);
// Forms are taken from the own pages alone.
const anyone = await request.newContext({ baseURL });
const person = await request.newContext({ baseURL, extraHTTPHeaders: { origin: baseURL } });
await person.get(execFileSync(process.env.END2END_SIGN_IN_LINK, { encoding: "utf8" }).trim(), { maxRedirects: 0 });
const state = await person.storageState();

async function take({ name, path, signedIn, prepare, inWindow }) {
  for (const locale of ["en", "zh-CN"]) {
    for (const colorScheme of ["light", "dark"]) {
      for (const viewport of viewports) {
        const context = await browser.newContext({
          baseURL,
          viewport,
          colorScheme,
          locale,
          deviceScaleFactor: 2,
          serviceWorkers: "block",
          storageState: signedIn ? state : undefined,
        });
        const page = await context.newPage();
        await page.goto(typeof path === "string" ? path : path());
        await prepare?.(page);
        const file = `${name}-${locale}-${colorScheme}-${viewport.width}.png`;
        await page.screenshot({ path: `${folder}${file}`, fullPage: !inWindow, animations: "disabled" });
        await context.close();
      }
    }
  }
  console.log(`${name}: done`);
}

const wanted = pages.filter(({ name }) => name.startsWith(process.argv[2] ?? ""));
for (const page of wanted.filter(({ before }) => before)) await take(page);
if (wanted.some(({ signedIn, seen, before }) => (signedIn || seen) && !before)) await live(person);
for (const page of wanted.filter(({ before }) => !before)) await take(page);
await browser.close();
await person.dispose();
await anyone.dispose();
