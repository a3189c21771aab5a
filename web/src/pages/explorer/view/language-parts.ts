/** What a query needs: read, write and colour it, and read fields for columns. */
export { analyze } from "../../../../../src/query-language/parse.ts";
export { cellReader } from "../results/cells.ts";
export { askedOf } from "../search/asked.ts";
export { columnsText, readColumns } from "./columns.ts";
export { queryOf } from "./earlier-filters.ts";
export { patched } from "./patched.ts";
export { toggled, withPipes } from "./query-terms.ts";

/** Loads what explains errors, which no query without errors needs. Imported here, because it shares the parser with this file. */
export function loadExplained() {
  return import("../../../../../src/query-language/meant.ts");
}
