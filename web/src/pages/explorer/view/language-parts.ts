/** What a query needs: read, write and colour it, and read fields for columns. */
export { analyze } from "../../../../../src/query-language/parse.ts";
export { cellReader } from "../results/cells.ts";
export { askedOf, meantBy } from "../search/asked.ts";
export { columnsText, readColumns } from "./columns.ts";
export { queryOf } from "./earlier-filters.ts";
export { patched } from "./patched.ts";
export { toggled, withPipes } from "./query-terms.ts";
