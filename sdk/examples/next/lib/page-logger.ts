/** The page's logger. Next evaluates this on the server too, where it does nothing. */
import { createLogger } from "taffrail/browser";

export const logger = createLogger({ url: "/logs" });
