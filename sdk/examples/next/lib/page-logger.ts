/** The page's logger. Next evaluates this module on the server too, where the logger does nothing. */
import { createLogger } from "taffrail/browser";

export const logger = createLogger({ url: "/logs" });
