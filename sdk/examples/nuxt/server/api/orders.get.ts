import { defineEventHandler } from "h3";
import type { Logger } from "taffrail";

export default defineEventHandler((event) => {
  const logger: Logger = event.context.logger;
  logger.info("Orders looked up");
  return [{ id: "A-17", state: "shipped" }];
});
