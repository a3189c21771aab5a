import { defineEventHandler, toWebRequest } from "h3";
import { createProxy, type ProxyHandler } from "taffrail/proxy";

let proxy: ProxyHandler | undefined;

/** Takes the page's entries and passes them on; the key stays here. */
export default defineEventHandler((event) => {
  const { apiUrl, projectId, apiKey } = useRuntimeConfig(event).taffrail;
  proxy ??= createProxy({ apiUrl, projectId, apiKey, onError: (error) => console.error(error) });
  return proxy(toWebRequest(event));
});
