import type { Instrumentation } from "next";
import { taffrailRequestError } from "taffrail/next";

/** Logs errors of pages, actions and middleware. Next bundles this file for Node and for the edge. */
export const onRequestError: Instrumentation.onRequestError = async (...args) => {
  const { logger } =
    process.env.NEXT_RUNTIME === "nodejs" ? await import("./lib/logger") : await import("./lib/edge-logger");
  await taffrailRequestError(logger)(...args);
};
