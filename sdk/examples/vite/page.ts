/** Runs in the page. It knows the route of the proxy, and no key. */
import { createLogger } from "taffrail/browser";

const logger = createLogger({ url: "/logs" });

logger.info("Page opened", { path: location.pathname });
