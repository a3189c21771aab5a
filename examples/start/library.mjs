import { createLogger } from "taffrail/node";

const logger = createLogger(); // reads the three variables

logger.info("Hello from the client library", { cart: 3 });
