/** The query language of the page. It is loaded apart, because a page without a query shows its first row without it. */

type Language = typeof import("./language-parts.ts");

let loaded: Language | null = null;

/** @param parts nothing if a file of the release is missing: see `reload-if-outdated.ts` */
export function provideLanguage(parts: Language | undefined): void {
  loaded = parts ?? loaded;
}

/** `null` until it is loaded. A page with a query loads it first. */
export function language(): Language | null {
  return loaded;
}

/** Parameters of an address that only the language reads: the query, columns, and filters of earlier versions. */
const PARAMETERS = [
  "q",
  "columns",
  "level",
  "minLevel",
  "category",
  "type",
  "service",
  "host",
  "session",
  "traceId",
  "search",
  "data",
] as const;

/** Whether a page with this query string needs the language before its first row. */
export function needsLanguage(search: string): boolean {
  const params = new URLSearchParams(search);
  return PARAMETERS.some((name) => params.has(name));
}
