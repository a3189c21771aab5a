/** Runs in the page. It knows the route of the proxy, and no key. */
import { createLogger } from "taffrail/browser";

const logger = createLogger({ url: "/logs", defaultMeta: { release: "1.4.0" } });

addEventListener("error", ({ error, message }) => logger.system.error(message, { error }));
addEventListener("unhandledrejection", ({ reason }) => logger.system.error("Unhandled rejection", { error: reason }));

logger.info("Page opened", { path: location.pathname });
