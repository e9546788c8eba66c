// node pack.js release|debug STYLE SITE
//
// Finishes a site: bundles the style sheet into SITE/pkg/polymnemo.css, leaves the comments out of a release's script, gives every file of SITE/pkg a second name with
// a hash of its content, lists the hashes in SITE/hash.txt and, for a release, lays a .br and a .gz beside each file
// that gets smaller by it.

import { createHash } from "node:crypto";
import { linkSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { bundle } from "lightningcss";

const [mode, style, site] = process.argv.slice(2);
const release = mode === "release";
const pkg = join(site, "pkg");

const { code, warnings } = bundle({ filename: style, minify: release });
for (const { message, loc } of warnings) {
  console.error(`${loc?.filename ?? style}:${loc?.line ?? 1}: ${message}`);
}
writeFileSync(join(pkg, "polymnemo.css"), code);

/** A script without the lines that are comments, and without indentation. One whose texts go over lines stays as it is. */
function withoutComments(script) {
  const lines = script.replace(/^\s*\/\*\*[^]*?\*\/\n/gm, "").split("\n");
  if (lines.some((line) => line.split("`").length % 2 === 0)) return script;
  return lines.map((line) => line.trimStart()).filter((line) => !line.startsWith("//")).join("\n");
}

const script = join(pkg, "polymnemo.js");
if (release && statSync(script, { throwIfNoEntry: false })) {
  writeFileSync(script, withoutComments(readFileSync(script, "utf8")));
}

const hashes = ["js", "wasm", "css"].flatMap((kind) => {
  const name = join(pkg, `polymnemo.${kind}`);
  if (!statSync(name, { throwIfNoEntry: false })) return [];
  const hash = createHash("sha256").update(readFileSync(name)).digest("hex").slice(0, 16);
  linkSync(name, join(pkg, `polymnemo.${hash}.${kind}`));
  return [`${kind}: ${hash}\n`];
});
writeFileSync(join(site, "hash.txt"), hashes.join(""));

if (release) {
  const compressible = new Set([".js", ".wasm", ".css", ".svg", ".html", ".txt", ".json", ".webmanifest"]);
  const compressed = new Map();
  for (const entry of readdirSync(site, { recursive: true, withFileTypes: true })) {
    const name = join(entry.parentPath ?? entry.path, entry.name);
    if (!entry.isFile() || !compressible.has(extname(name)) || name === join(site, "hash.txt")) continue;
    const { ino } = statSync(name);
    if (compressed.has(ino)) {
      // The same file under its other name.
      for (const suffix of compressed.get(ino).suffixes) linkSync(compressed.get(ino).name + suffix, name + suffix);
      continue;
    }
    const content = readFileSync(name);
    const variants = {
      ".br": brotliCompressSync(content, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
      }),
      ".gz": gzipSync(content, { level: 9 }),
    };
    const suffixes = Object.keys(variants).filter((suffix) => variants[suffix].length < content.length);
    for (const suffix of suffixes) writeFileSync(name + suffix, variants[suffix]);
    compressed.set(ino, { name, suffixes });
    const sizes = suffixes.map((suffix) => `${suffix} ${kilobytes(variants[suffix].length)}`);
    console.log(`    ${name.slice(site.length + 1)}: ${kilobytes(content.length)} ${sizes.join(" ")}`);
  }
}

function kilobytes(length) {
  return `${(length / 1000).toFixed(1)} kB`;
}
