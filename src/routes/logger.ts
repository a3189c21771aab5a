import { resource } from "../http/resource.ts";
import { addIngest } from "./logger-ingest.ts";

export const logger = resource();

addIngest(logger);
