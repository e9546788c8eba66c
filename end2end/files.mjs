// Files that the tests and the screenshots upload, made here so that none has to be kept.

import { deflateSync, crc32 } from "node:zlib";
/** @typedef {{ name: string, mimeType: string, buffer: Buffer }} Payload what Playwright takes for a file */

/** A text file. */
export const text = (name, content) => ({ name, mimeType: "text/plain", buffer: Buffer.from(content) });

/** A file of this many bytes, which are the same for the same seed. */
export function bytes(name, size, seed = 1) {
  const buffer = Buffer.alloc(size);
  let state = seed;
  for (let at = 0; at + 4 <= size; at += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    buffer.writeInt32LE(state, at);
  }
  return { name, mimeType: "application/octet-stream", buffer };
}

/** An image: a colour that runs from one corner to the other. */
export function png(name, width = 640, height = 480, [red, green, blue] = [80, 120, 200]) {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const light = 0.6 + (0.6 * (x / width + y / height)) / 2;
      const at = y * (1 + width * 3) + 1 + x * 3;
      [red, green, blue].forEach((value, place) => rows.writeUInt8(Math.min(255, Math.round(value * light)), at + place));
    }
  }
  const chunk = (kind, data) => {
    const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const buffer = Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
  return { name, mimeType: "image/png", buffer };
}

/** Half a second of a tone. */
export function wav(name) {
  const rate = 8_000;
  const samples = Buffer.alloc(rate);
  for (let at = 0; at < rate / 2; at += 1) samples.writeInt16LE(Math.round(8_000 * Math.sin((at * 440 * 2 * Math.PI) / rate)), at * 2);
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(samples.length, 40);
  return { name, mimeType: "audio/wav", buffer: Buffer.concat([header, samples]) };
}

/** A PDF of one page with a line of text. */
export function pdf(name, line) {
  const content = `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let body = "%PDF-1.4\n";
  const places = objects.map((object, index) => {
    const place = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  const end = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\n`;
  return { name, mimeType: "application/pdf", buffer: Buffer.from(`${body}${end}startxref\n${body.length}\n%%EOF\n`, "latin1") };
}

/** A second of video, recorded by the browser itself. */
export async function video(page, name) {
  const recorded = await page.evaluate(async () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [320, 240];
    const pen = canvas.getContext("2d");
    const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: "video/webm" });
    const pieces = [];
    recorder.ondataavailable = (event) => pieces.push(event.data);
    const ended = new Promise((resolve) => (recorder.onstop = resolve));
    recorder.start();
    for (let step = 0; step < 25; step += 1) {
      pen.fillStyle = `oklch(60% 0.15 ${step * 6 + 120})`;
      pen.fillRect(0, 0, 320, 240);
      pen.fillStyle = "white";
      pen.fillRect(20 + step * 8, 90, 60, 60);
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    recorder.stop();
    await ended;
    return Array.from(new Uint8Array(await new Blob(pieces).arrayBuffer()));
  });
  return { name, mimeType: "video/webm", buffer: Buffer.from(recorded) };
}
