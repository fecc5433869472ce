// Keeps the site for when there is no network: what every visit needs at once, places and pilots once they were used.
//
// SITE, the version and the files, is written above these lines.

const OWN = `donkeysim ${self.registration.scope} `; // other sites of this server have others
const NAME = OWN + SITE.version;

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(["./", ...SITE.files].map((file) => new Request(file, { cache: "no-cache" })))));
});

self.addEventListener("activate", (event) => {
  const remove = async () => {
    for (const name of await caches.keys()) if (name.startsWith(OWN) && name !== NAME) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(remove());
});

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== location.origin) return;
  event.respondWith(answer(event));
});

// Files that a page has used before this worker was there.
self.addEventListener("message", (event) => {
  const keep = async () => {
    const cache = await caches.open(NAME);
    for (const file of event.data.keep) if (!await cache.match(file)) await cache.add(file);
  };
  event.waitUntil(keep().catch(() => { /* there is no room, or no network: the next visit needs one */ }));
});

async function answer(event) {
  const cache = await caches.open(NAME);
  const kept = await cache.match(event.request, { ignoreSearch: true });
  if (kept) return kept;
  const response = await fetch(event.request);
  if (response.status === 200) event.waitUntil(cache.put(event.request, response.clone()).catch(() => { /* there is no room */ }));
  return response;
}
