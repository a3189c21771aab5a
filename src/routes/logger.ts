import { resource } from "../http/resource.ts";
import { addContext } from "./logger-context.ts";
import { addIngest } from "./logger-ingest.ts";
import { addQuery } from "./logger-query.ts";
import { addStats } from "./logger-stats.ts";
import { addTail } from "./logger-tail.ts";

export const logger = resource();

addQuery(logger);
addStats(logger);
addContext(logger);
addTail(logger);
addIngest(logger);
