import { bytes, pdf, png, text, video, wav } from "../files.mjs";
import { announced, card, picker, saved, send, stored, takesFiles, upload, uploads, watchParts } from "../media.ts";
import { ownNamespace, read, toast } from "../memories.ts";
import { audit, callTool, expect, fits, layoutShift, mayFail, test, unique } from "../signed-in.ts";

const key = process.env.END2END_KEY ?? "";
const MiB = 1 << 20;

test("a file is uploaded, shown, found and saved", async ({ page }) => {
  const namespace = ownNamespace();
  const file = png(`${unique("Skizze “Küche”")} 厨房.png`);
  const description = unique("A sketch of the kitchen, with the window to the north.");
  await stored(page, file, { description, namespace });

  const image = page.locator(".media-preview img");
  await expect(image).toBeVisible();
  expect(await image.evaluate((shown: HTMLImageElement) => shown.naturalWidth)).toBe(640);
  await expect(page.locator(".properties")).toContainText("image/png");
  const { name, bytes: content } = await saved(page);
  expect(name).toBe(file.name);
  expect(content.equals(file.buffer)).toBe(true);

  await page.goto(`/media?namespace=${namespace}`);
  const thumbnail = card(page, description).locator("img");
  await expect(thumbnail).toBeVisible();
  await expect.poll(() => thumbnail.evaluate((shown: HTMLImageElement) => shown.naturalWidth)).toBeGreaterThan(0);
  expect(await thumbnail.evaluate((shown: HTMLImageElement) => shown.naturalWidth)).toBeLessThanOrEqual(400);

  const { result } = await callTool(key, "recall", { query: description, namespace });
  expect(JSON.stringify(result.structuredContent)).toContain(description);
});

test("the description is the name of the file unless one is given", async ({ page }) => {
  const file = text(`${unique("notes")}.txt`, "one\ntwo\n");
  await page.goto("/media");
  await takesFiles(page);
  await picker(page).setInputFiles(file);
  await expect(upload(page, file.name).getByLabel("Description")).toHaveValue(file.name);
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await expect(upload(page, file.name)).toHaveAttribute("data-state", "done");
  // The list below shows it without being asked.
  await expect(card(page, file.name)).toBeVisible();
});

test("several files go at once, each with its own words", async ({ page }) => {
  const namespace = ownNamespace();
  const files = ["a", "b", "c", "d"].map((name) => bytes(`${unique(name)}.bin`, 200_000));
  await page.goto("/media");
  await takesFiles(page);
  await picker(page).setInputFiles(files);
  await expect(uploads(page)).toHaveCount(4);
  for (const file of files) {
    await upload(page, file.name).getByLabel("Description").fill(`About ${file.name}`);
    await upload(page, file.name).getByLabel("Namespace").fill(namespace);
  }
  await upload(page, files[3].name).getByRole("button", { name: "Remove" }).click();
  await expect(uploads(page)).toHaveCount(3);
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  for (const file of files.slice(0, 3)) await expect(upload(page, file.name)).toHaveAttribute("data-state", "done");
  await page.goto(`/media?namespace=${namespace}`);
  await expect(page.locator(".media-card")).toHaveCount(3);
  for (const file of files.slice(0, 3)) await expect(card(page, `About ${file.name}`)).toContainText(file.name);
});

test("files are dropped anywhere on the page, and pasted", async ({ page }) => {
  await page.goto("/media");
  await takesFiles(page);
  const [dropped, pasted] = [`${unique("dropped")}.txt`, `${unique("pasted")}.txt`];
  const transfer = (name: string) =>
    page.evaluateHandle((name) => {
      const data = new DataTransfer();
      data.items.add(new File(["text"], name, { type: "text/plain" }));
      return data;
    }, name);
  const data = await transfer(dropped);
  await page.dispatchEvent("h1", "dragover", { dataTransfer: data });
  await expect(page.locator("[data-uploader][data-dragged-over]")).toBeAttached();
  await page.dispatchEvent("h1", "drop", { dataTransfer: data });
  await expect(upload(page, dropped)).toBeVisible();
  await expect(page.locator("[data-dragged-over]")).toHaveCount(0);
  await page.evaluate((data) => {
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, await transfer(pasted));
  await expect(upload(page, pasted)).toBeVisible();
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  for (const name of [dropped, pasted]) await expect(upload(page, name)).toHaveAttribute("data-state", "done");
});

test("progress is shown, and an upload is cancelled in the middle", async ({ page, context }) => {
  const network = await context.newCDPSession(page);
  const file = bytes(`${unique("slow")}.bin`, 12 * MiB);
  await page.goto("/media");
  await network.send("Network.enable");
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 2 * MiB });
  await send(page, [file]);
  const row = upload(page, file.name);
  await expect(row).toHaveAttribute("data-state", "sending");
  const sent = () => row.locator("progress").evaluate((bar: HTMLProgressElement) => bar.value / bar.max);
  await expect.poll(sent, { timeout: 15_000 }).toBeGreaterThan(0.05);
  expect(await sent()).toBeLessThan(1);
  await expect(row).toContainText(/MB of 12/);
  await row.getByRole("button", { name: "Cancel" }).click();
  await expect(uploads(page)).toHaveCount(0);
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await page.reload();
  await expect(page.locator(`[data-name="${file.name}"]`)).toHaveCount(0);
  await expect(card(page, file.name)).toHaveCount(0);
});

test("an upload goes on where the network broke it off", async ({ page }) => {
  mayFail(page);
  const file = bytes(`${unique("broken")}.bin`, 20 * MiB);
  await page.goto("/media");
  const watch = await watchParts(page);
  watch.breakAfter = 1;
  await send(page, [file]);
  const row = upload(page, file.name);
  // It tries by itself for a while.
  await expect(row).toHaveAttribute("data-state", "broken", { timeout: 20_000 });
  await expect(row).toContainText("The server could not be reached.");
  await expect(row.locator("progress")).not.toHaveAttribute("value", "0");
  Object.assign(watch, { broken: false, breakAfter: Infinity });
  await row.getByRole("button", { name: "Go on" }).click();
  await expect(row).toHaveAttribute("data-state", "done", { timeout: 20_000 });
  expect(watch.sent).toBe(3);
  await row.getByRole("link", { name: "Open" }).click();
  expect((await saved(page)).bytes.equals(file.buffer)).toBe(true);
});

test("a short failure of the network needs nobody", async ({ page }) => {
  mayFail(page);
  const file = bytes(`${unique("blink")}.bin`, 10 * MiB);
  await page.goto("/media");
  const watch = await watchParts(page);
  watch.breakAfter = 1;
  await send(page, [file]);
  await expect.poll(() => watch.broken).toBe(true);
  Object.assign(watch, { broken: false, breakAfter: Infinity });
  await expect(upload(page, file.name)).toHaveAttribute("data-state", "done", { timeout: 20_000 });
});

test("an upload goes on after the page was loaded anew", async ({ page }) => {
  mayFail(page);
  const file = bytes(`${unique("again")}.bin`, 20 * MiB);
  const namespace = ownNamespace();
  await page.goto("/media");
  let watch = await watchParts(page);
  watch.breakAfter = 2;
  await send(page, [file], { description: unique("Kept through it all"), namespace });
  await expect.poll(() => watch.broken).toBe(true);
  page.on("dialog", (dialog) => dialog.accept());
  await page.reload();
  await page.unroute("**/blobs/**");
  watch = await watchParts(page);

  const unfinished = page.locator(`[data-name="${file.name}"]`);
  await expect(unfinished).toContainText(namespace);
  await takesFiles(page);
  await picker(page).setInputFiles(file);
  // It is known what it is: nothing has to be said again.
  await expect(upload(page, file.name)).toHaveAttribute("data-state", "done", { timeout: 20_000 });
  await expect(unfinished).toBeHidden();
  await page.goto(`/media?namespace=${namespace}`);
  await page.locator(".media-card a").click();
  expect((await saved(page)).bytes.equals(file.buffer)).toBe(true);
});

test("another file of the same name and size is not mixed with what was sent before", async ({ page }) => {
  mayFail(page);
  const name = `${unique("same")}.bin`;
  const [first, second] = [bytes(name, 20 * MiB, 1), bytes(name, 20 * MiB, 2)];
  await page.goto("/media");
  const watch = await watchParts(page);
  watch.breakAfter = 2;
  await send(page, [first]);
  await expect.poll(() => watch.broken).toBe(true);
  page.on("dialog", (dialog) => dialog.accept());
  await page.reload();
  await page.evaluate(() => localStorage.clear());
  Object.assign(watch, { broken: false, breakAfter: Infinity });
  await takesFiles(page);
  await picker(page).setInputFiles(second);
  const row = upload(page, name);
  await expect(row).toHaveAttribute("data-state", "done", { timeout: 30_000 });
  await row.getByRole("link", { name: "Open" }).click();
  expect((await saved(page)).bytes.equals(second.buffer)).toBe(true);
});

test("an unfinished upload is given up", async ({ page }) => {
  mayFail(page);
  const file = bytes(`${unique("unwanted")}.bin`, 9 * MiB);
  await page.goto("/media");
  const watch = await watchParts(page);
  watch.breakAfter = 1;
  await send(page, [file]);
  await expect.poll(() => watch.broken).toBe(true);
  page.on("dialog", (dialog) => dialog.accept());
  await page.reload();
  const unfinished = page.locator(`[data-name="${file.name}"]`);
  await audit(page);
  await unfinished.getByRole("button", { name: "Cancel" }).click();
  await expect(toast(page)).toContainText("The upload was cancelled.");
  await expect(unfinished).toHaveCount(0);
});

test("what can't be sent is said at once", async ({ page }) => {
  await page.goto("/media");
  await takesFiles(page);
  const file = text("nothing.txt", "");
  await picker(page).setInputFiles(file);
  const row = upload(page, file.name);
  await expect(row).toHaveAttribute("data-state", "refused");
  await expect(row.getByRole("alert")).toContainText("It is empty");
  await expect(page.getByRole("button", { name: "Upload", exact: true })).toBeHidden();
  await audit(page);
  await row.getByRole("button", { name: "Remove" }).click();
  await expect(uploads(page)).toHaveCount(0);
});

test("what the server refuses can be tried again", async ({ page }) => {
  const file = text(`${unique("refused")}.txt`, "text");
  await page.goto("/media");
  await send(page, [file], { namespace: "not/<a>/name" });
  const row = upload(page, file.name);
  await expect(row).toHaveAttribute("data-state", "failed");
  await expect(row.getByRole("alert")).toContainText("namespace");
  await expect(row.getByRole("button", { name: "Try again" })).toBeVisible();
});

test("files are seen as what they are", async ({ page }) => {
  const namespace = ownNamespace();
  await page.goto("/media");
  const files = [
    await video(page, "film.webm"),
    wav("tone.wav"),
    text("notes.txt", "The first line of the notes.\nThe second one."),
    pdf("letter.pdf", "Dear Ada"),
    bytes("archive.zip", 1_000),
  ];
  await send(page, files, { namespace });
  for (const file of files) await expect(upload(page, file.name)).toHaveAttribute("data-state", "done");

  await page.goto(`/media?namespace=${namespace}`);
  await expect(page.locator(".media-card")).toHaveCount(5);
  await expect.poll(() => card(page, "film.webm").locator("video").evaluate((shown: HTMLVideoElement) => shown.videoWidth)).toBe(320);
  await expect(card(page, "tone.wav").locator("audio")).toBeVisible();
  await expect(card(page, "notes.txt")).toContainText("The first line of the notes.");
  await expect(card(page, "archive.zip").locator("svg")).toContainText("ZIP");
  await audit(page);

  // Not every Chromium has something to show it with, but each asks for it.
  const letter = page.waitForResponse((response) => new URL(response.url()).pathname.startsWith("/blobs/"));
  await card(page, "letter.pdf").getByRole("link").click();
  await expect(page.locator(".media-preview iframe")).toBeVisible();
  expect((await letter).status()).toBe(200);
  expect((await letter).headers()["content-type"]).toBe("application/pdf");

  await page.goto(`/media?namespace=${namespace}&kind=audio`);
  await expect(page.locator(".media-card")).toHaveCount(1);
  await card(page, "tone.wav").getByRole("link").click();
  const sound = page.locator(".media-preview audio");
  await expect.poll(() => sound.evaluate((shown: HTMLAudioElement) => shown.duration)).toBeCloseTo(0.5, 1);
  await page.goto(`/media?namespace=${namespace}&q=NOTES`);
  await card(page, "notes.txt").getByRole("link").click();
  await expect(page.locator(".media-preview pre")).toHaveText("The first line of the notes.\nThe second one.");
  await audit(page);
});

test("what could run is saved and never shown", async ({ page, request }) => {
  const namespace = ownNamespace();
  const script = "<svg xmlns='http://www.w3.org/2000/svg'><script>document.title='ran'</script></svg>";
  for (const [name, mimeType] of [
    ["drawing.svg", "image/svg+xml"],
    ["page.html", "text/html"],
  ]) {
    await stored(page, { name, mimeType, buffer: Buffer.from(script) }, { namespace });
    await expect(page.locator(".media-preview")).toContainText("There is no preview");
    await expect(page.locator(".media-preview img, .media-preview iframe, .media-preview object")).toHaveCount(0);
    await expect(page.getByRole("link", { name: "Open", exact: true })).toHaveCount(0);
    const address = await page.getByRole("link", { name: "Download" }).getAttribute("href");
    const answer = await request.get(address ?? "");
    const headers = answer.headers();
    expect(headers["content-disposition"]).toMatch(/^attachment/);
    expect(headers["content-security-policy"]).toContain("sandbox");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(await answer.text()).toBe(script);
  }
  await page.goto(`/media?namespace=${namespace}`);
  await expect(page.locator(".media-card img")).toHaveCount(0);
});

test("what is in an address or a name is text", async ({ page }) => {
  await page.goto(`/media?namespace=${encodeURIComponent('"></noscript><img src=x>')}&q=${encodeURIComponent('"><b>')}`);
  await takesFiles(page);
  await expect(page.locator("main img, main b")).toHaveCount(0);
  const file = text(`${unique("<b>bold</b>")} "quoted".txt`, "text");
  await stored(page, file);
  await expect(page).toHaveTitle(/^<b>bold<\/b>/);
  await expect(page.locator("main b")).toHaveCount(0);
});

test("pages load files from here and from nowhere else", async ({ request }) => {
  const policy = (await request.get("/media")).headers()["content-security-policy"];
  for (const kind of ["img-src", "media-src", "connect-src"]) expect(policy).toContain(`; ${kind} 'self';`);
  expect(policy).not.toMatch(/object-src|unsafe-inline/);
  expect(policy).not.toMatch(/frame-src (?!'self';)/);
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with JavaScript" : "without JavaScript", () => {
    test.use({ javaScriptEnabled });

    test("a file is described anew, moved and labelled", async ({ page }) => {
      const id = await remembered(unique("plan.txt"), "First words.");
      const namespace = ownNamespace();
      await page.goto(`/media/${id}`);
      await page.getByLabel("Description").fill("Other words, on two lines.\nThe second.");
      await page.getByLabel("Tags").fill("plan, garden");
      await page.getByLabel("Namespace", { exact: true }).fill(namespace);
      await page.getByRole("button", { name: "Save" }).click();
      await expect(toast(page)).toContainText("Saved.");
      await expect(page.getByLabel("Description")).toHaveValue("Other words, on two lines.\nThe second.");
      await expect(page.locator(".properties")).toContainText(namespace);
      await expect(page.locator(".properties .tag")).toHaveText(["plan", "garden"]);
      expect(await read(id)).toBe("Other words, on two lines.\nThe second.");

      await page.getByRole("link", { name: "Among the memories" }).click();
      await expect(page.locator(".memory-text")).toContainText("Other words");
      await page.locator(".properties a[href^='/media/']").click();
      await expect(page).toHaveURL(`/media/${id}`);
    });

    test("a change made meanwhile is not lost", async ({ page }) => {
      const id = await remembered(unique("plan.txt"), "First words.");
      await page.goto(`/media/${id}`);
      await callTool(key, "update", { id, content: "What a client wrote." });
      await page.getByLabel("Description").fill("What the person wrote.");
      await page.getByRole("button", { name: "Save" }).click();
      await expect(page.locator(".note[role=alert]")).toContainText("What a client wrote.");
      await expect(page.getByLabel("Description")).toHaveValue("What the person wrote.");
      expect(await read(id)).toBe("What a client wrote.");
      await page.getByRole("button", { name: "Save" }).click();
      await expect(toast(page)).toContainText("Saved.");
      expect(await read(id)).toBe("What the person wrote.");
    });

    test("a file is forgotten, and brought back", async ({ page }) => {
      const id = await remembered(unique("gone.txt"), unique("To be forgotten"));
      await page.goto(`/media/${id}`);
      await page.getByRole("button", { name: "Forget" }).click();
      await expect(page).toHaveURL("/media");
      await expect(toast(page)).toContainText("1 memory forgotten.");
      expect((await page.request.get(`/media/${id}`)).status()).toBe(404);
      await toast(page).getByRole("button", { name: "Undo" }).click();
      await expect(toast(page)).toContainText("Undone.");
      expect((await page.request.get(`/media/${id}`)).status()).toBe(200);
    });
  });
}

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("a form uploads a file", async ({ page }) => {
    const namespace = ownNamespace();
    const file = png(`${unique("图")} "a".png`);
    await page.goto("/media");
    await page.getByLabel("Description", { exact: true }).fill("Sent by a form.");
    await page.getByLabel("Namespace", { exact: true }).first().fill(namespace);
    await page.getByLabel("File", { exact: true }).setInputFiles(file);
    await page.getByRole("button", { name: "Upload", exact: true }).click();
    await expect(page).toHaveURL(/\/media\/[0-9a-f-]{36}$/);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(file.name);
    await expect(page.getByLabel("Description")).toHaveValue("Sent by a form.");
    expect((await saved(page)).bytes.equals(file.buffer)).toBe(true);
    await page.goto(`/media?namespace=${namespace}`);
    await expect(card(page, "Sent by a form.").locator("img")).toBeVisible();
    await page.setViewportSize({ width: 390, height: 844 });
    await fits(page);
  });

  test("a form that is refused says why", async ({ page }) => {
    await page.goto("/media");
    await page.getByLabel("File", { exact: true }).setInputFiles(text("empty.txt", ""));
    await page.getByRole("button", { name: "Upload", exact: true }).click();
    await expect(page).toHaveURL(/\/media\?problem=/);
    await expect(page.getByRole("alert")).toContainText("Nothing was stored.");
  });

  test("the page of an upload link takes the file", async ({ page }) => {
    const file = text(`${unique("link")}.txt`, "by hand");
    const { id, path } = await announced(file);
    await page.goto(path);
    await page.getByLabel("File", { exact: true }).setInputFiles({ ...file, buffer: Buffer.from("by hand, but longer") });
    await page.getByRole("button", { name: "Upload", exact: true }).click();
    await expect(page).toHaveURL(/problem=/);
    await expect(page.getByRole("alert")).toContainText("Nothing was stored.");
    expect(await read(id)).toBeUndefined();
  });

  test("the page of an upload link is used up by its file", async ({ page }) => {
    const file = text(`${unique("link")}.txt`, "by hand");
    const { id, path } = await announced(file);
    await page.goto(path);
    await page.getByLabel("File", { exact: true }).setInputFiles(file);
    await page.getByRole("button", { name: "Upload", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("The file has arrived");
    expect(await read(id)).toBe("Brought by hand.");
    const again = await page.goto(path);
    expect(again?.status()).toBe(404);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("This upload link is over");
  });
});

test.describe("the page of an upload link", () => {
  // Whoever has the link need not be signed in.
  test.use({ storageState: { cookies: [], origins: [] } });

  test("takes the one file it is for, once", async ({ page }) => {
    const file = bytes(`${unique("film")} 影片.bin`, 18 * MiB);
    const { id, path } = await announced(file, "The film of the trip.");
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Upload a file");
    const facts = page.locator(".properties");
    for (const fact of [file.name, "18 MB", "application/octet-stream", "The film of the trip."]) await expect(facts).toContainText(fact);
    expect(await layoutShift(page)).toBeLessThan(0.02);
    await audit(page);
    await takesFiles(page);

    await picker(page).setInputFiles(text("other.txt", "another file"));
    await expect(upload(page, "other.txt").getByRole("alert")).toContainText("This is not the file");
    await picker(page).setInputFiles(file);
    await expect(uploads(page)).toHaveCount(1);
    await expect(page.getByRole("heading", { name: "The file has arrived" })).toBeVisible({ timeout: 20_000 });
    await audit(page);
    expect(await read(id)).toBe("The film of the trip.");

    const again = await page.goto(path);
    expect(again?.status()).toBe(404);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("This upload link is over");
    expect(await page.content()).not.toContain("影片");
    await audit(page);
  });

  test("sends the file again after a failure, and after a reload", async ({ page }) => {
    // It waits twice until the page has given up trying by itself.
    test.slow();
    mayFail(page);
    const file = bytes(`${unique("long")}.bin`, 9 * MiB);
    const { id, path } = await announced(file);
    await page.goto(path);
    const watch = await watchParts(page);
    watch.breakAfter = 0;
    await takesFiles(page);
    await picker(page).setInputFiles(file);
    await expect(upload(page, file.name)).toHaveAttribute("data-state", "broken", { timeout: 20_000 });
    await audit(page);
    await page.reload();
    await takesFiles(page);
    await picker(page).setInputFiles(file);
    await expect.poll(() => watch.broken).toBe(true);
    await expect(upload(page, file.name)).toHaveAttribute("data-state", "broken", { timeout: 20_000 });
    Object.assign(watch, { broken: false, breakAfter: Infinity });
    await page.getByRole("button", { name: "Go on" }).click();
    await expect(page.getByRole("heading", { name: "The file has arrived" })).toBeVisible({ timeout: 20_000 });
    expect(await read(id)).toBe("Brought by hand.");
  });

  test("tells when it is over or never was, and lets nobody go further", async ({ page }) => {
    for (const path of ["/upload/nonsense", `/upload/${"a".repeat(43)}`]) {
      const answer = await page.goto(path);
      expect(answer?.status()).toBe(404);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("This upload link is over");
      expect(answer?.headers()["cache-control"]).toContain("no-store");
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await fits(page);
    await page.goto("/media");
    await expect(page).toHaveURL("/sign-in?next=/media");
  });

  test.describe("in Chinese", () => {
    test.use({ locale: "zh-CN" });

    test("says it all", async ({ page }) => {
      const file = text(`${unique("信")}.txt`, "你好");
      const { path } = await announced(file);
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("上传文件");
      await takesFiles(page);
      await picker(page).setInputFiles(file);
      await expect(page.getByRole("heading", { name: "文件已到达" })).toBeVisible();
    });
  });
});

test.describe("in Chinese", () => {
  test.use({ locale: "zh-CN" });

  test("the pages say it all", async ({ page }) => {
    const file = png(`${unique("照片")}.png`);
    await page.goto("/media");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("媒体");
    await takesFiles(page);
    await picker(page).setInputFiles(file);
    await page.getByRole("button", { name: "上传", exact: true }).click();
    await expect(upload(page, file.name)).toContainText("已上传");
    await upload(page, file.name).getByRole("link", { name: "打开" }).click();
    await expect(page.getByRole("link", { name: "下载" })).toBeVisible();
    await expect(page.getByLabel("描述")).toHaveValue(file.name);
  });
});

test("pages have no accessibility faults, fit a phone and stand still", async ({ page }) => {
  const id = await remembered(`${unique("a very long name of a file ".repeat(4))}.txt`, "x".repeat(300));
  await page.goto("/media");
  expect(await layoutShift(page)).toBeLessThan(0.02);
  await takesFiles(page);
  await picker(page).setInputFiles(text(`${"long-name-".repeat(12)}.txt`, "text"));
  await audit(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
  await page.goto(`/media/${id}`);
  await fits(page);
  await audit(page);
  await page.goto("/media?q=zzzz-nothing-has-this-name");
  await expect(page.getByRole("heading", { name: "No file matches" })).toBeVisible();
  await audit(page);
  const none = await page.goto("/media/00000000-0000-7000-8000-000000000000");
  expect(none?.status()).toBe(404);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("There is no such file");
  await audit(page);
});

test("someone else's file is not there", async ({ page }) => {
  const none = await page.goto("/media/not-an-id");
  expect(none?.status()).toBe(404);
  const malformed = await page.goto("/media?cursor=nonsense");
  expect(malformed?.status()).toBe(400);
  await expect(page.getByRole("alert")).toBeVisible();
});

/** A small text file as a client stores it. */
async function remembered(filename: string, description: string): Promise<string> {
  const { result } = await callTool(key, "create_upload", {
    filename,
    content_type: "text/plain",
    description,
    content_base64: Buffer.from(`What is in ${filename}`).toString("base64"),
  });
  expect(result?.isError, JSON.stringify(result)).toBeFalsy();
  return result.structuredContent.id as string;
}
