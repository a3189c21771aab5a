import { resource } from "../http/resource.ts";
import { addIngest } from "./logger-ingest.ts";
import { addQuery } from "./logger-query.ts";
import { addStats } from "./logger-stats.ts";

export const logger = resource();

addQuery(logger);
addStats(logger);
addIngest(logger);
