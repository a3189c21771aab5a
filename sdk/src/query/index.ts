/**
 * The query language of the service: reads a text as data, and writes the data as text. Without dependencies, for any
 * runtime and for pages.
 *
 * @example
 * import { format, parse } from "taffrail/query";
 * const result = parse("level:>=error | top 10 by route");
 * if (result.ok) console.log(format(result.query));
 * else console.log(result.error.message, result.error.position, result.error.suggestion);
 *
 * @module
 */
export type { QueryError } from "../../../src/query-language/error.ts";
export { fieldOf, OWN_NAMES, printField } from "../../../src/query-language/fields.ts";
export {
  type Analysis,
  analyze,
  type ParseResult,
  parse,
  parseFilterText,
  placeAt,
} from "../../../src/query-language/parse.ts";
export { format, print, printFilter } from "../../../src/query-language/print.ts";
export type { Place, Token, TokenKind } from "../../../src/query-language/reader.ts";
export { QUERY_LIMITS } from "../../../src/query-language/reader.ts";
export {
  AGGREGATE_FUNCTIONS,
  type Aggregate,
  type AggregateFunction,
  type Comparison,
  type Field,
  type Filter,
  type Key,
  LEVEL_NAMES,
  type LevelName,
  OWN_FIELDS,
  type OwnField,
  type Pipe,
  type Query,
  type Regex,
  type Scalar,
  type TextTest,
  type TimeValue,
  type ValueTest,
  type Wildcard,
} from "../../../src/query-language/syntax.ts";
export type { TableColumn } from "../../../src/query-language/table-columns.ts";
export { parseDuration, parseTime, printDuration, printTime } from "../../../src/query-language/values.ts";
