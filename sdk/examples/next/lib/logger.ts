/** The server's logger, for Node and the edge. Edge bundles get a `taffrail/node` without process and disk. */
import { createLogger } from "taffrail/node";

export const logger = createLogger({
  apiUrl: process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787",
  projectId: process.env.TAFFRAIL_PROJECT ?? "proj_replace_me",
  apiKey: process.env.TAFFRAIL_API_KEY,
  defaultMeta: { service: "shop" },
});
