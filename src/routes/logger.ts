import { resource } from "../http/resource.ts";
import { addIngest } from "./logger-ingest.ts";
import { addQuery } from "./logger-query.ts";

export const logger = resource();

addQuery(logger);
addIngest(logger);
