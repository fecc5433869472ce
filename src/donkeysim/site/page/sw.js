// Keeps the site for when there is no network: what every visit needs at once, places and pilots once they were used.
//
// SITE, the version and the files, is written above these lines.

const NAME = `donkeysim-${SITE.version}`;

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(["./", ...SITE.files].map((file) => new Request(file, { cache: "no-cache" })))));
});

self.addEventListener("activate", (event) => {
  const remove = async () => {
    for (const name of await caches.keys()) if (name.startsWith("donkeysim-") && name !== NAME) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(remove());
});

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== location.origin) return;
  event.respondWith(answer(event.request));
});

async function answer(request) {
  const cache = await caches.open(NAME);
  const kept = await cache.match(request, { ignoreSearch: true });
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok && response.status === 200) await cache.put(request, response.clone());
  return response;
}
