import { resource } from "../http/resource.ts";
import { addIngest } from "./logger-ingest.ts";
import { addQuery } from "./logger-query.ts";

export const logger = resource();

// Literal paths before the patterns that would cover them: the router wants it so.
addQuery(logger);
addIngest(logger);
