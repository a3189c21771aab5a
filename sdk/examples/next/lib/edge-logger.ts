/** The logger of the middleware, which runs on the edge. It uses no module of Node. */
import { createLogger } from "taffrail";

export const logger = createLogger({
  apiUrl: process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787",
  projectId: process.env.TAFFRAIL_PROJECT ?? "proj_replace_me",
  apiKey: process.env.TAFFRAIL_API_KEY,
  defaultMeta: { service: "shop" },
});
