import { createProxy } from "taffrail/proxy";

/** Receives and forwards the page's entries. The key stays on the server. */
const proxy = createProxy({
  apiUrl: process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787",
  projectId: process.env.TAFFRAIL_PROJECT ?? "proj_replace_me",
  apiKey: process.env.TAFFRAIL_API_KEY,
  onError: (error) => console.error(error),
});

export const POST = proxy;
export const OPTIONS = proxy;
