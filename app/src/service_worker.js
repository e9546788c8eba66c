// Shows the page that says so when the server can't be reached. Nothing else is kept, least of all anything of a person.

const CACHE = "offline-BUILD";
const OFFLINE = "/offline";
const STYLES = "STYLE_SHEET";

addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll([OFFLINE, STYLES])));
  skipWaiting();
});

addEventListener("activate", (event) => {
  const old = (name) => name !== CACHE;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name)))));
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const isStyles = new URL(request.url).pathname === STYLES;
  if (request.method !== "GET" || !(request.mode === "navigate" || isStyles)) return;
  event.respondWith(fetch(request).catch(() => caches.match(isStyles ? STYLES : OFFLINE)));
});
