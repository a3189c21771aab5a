import { defineEventHandler, toWebRequest } from "h3";
import { createProxy, type ProxyHandler } from "taffrail/proxy";

let proxy: ProxyHandler | undefined;

/** Receives and forwards the page's entries. The key stays on the server. */
export default defineEventHandler((event) => {
  const { apiUrl, projectId, apiKey } = useRuntimeConfig(event).taffrail;
  proxy ??= createProxy({ apiUrl, projectId, apiKey, onError: (error) => console.error(error) });
  return proxy(toWebRequest(event));
});
