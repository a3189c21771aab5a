/** Runs in the page, which has the URL of the proxy, but no key. */
import { createLogger } from "taffrail/browser";

const logger = createLogger({ url: "/logs" });

logger.info("Page opened", { path: location.pathname });
