import { quoted } from "../../../lib/shell.ts";
import type { Filters } from "../filters.ts";

/** The request body of `POST /logger/query`, as far as the explorer uses it. */
export interface QueryRequest {
  projectId?: string;
  filters?: Filters;
  order?: "desc" | "asc";
  pagination?: { limit?: number; cursor?: string; includeTotal?: boolean };
  asOf?: string;
}

/**
 * Formats the call as a shell command. The key comes from the environment, so that the shell's history does not contain
 * it. User input is single-quoted, so that the shell does not expand it.
 */
export function curlOf(origin: string, path: string, body: object, scope: string): string {
  return [
    `curl -sS ${quoted(`${origin}${path}`)}`,
    `-H "Authorization: Bearer \${TAFFRAIL_API_KEY:?Set it to an API key with ${scope}}"`,
    `-H ${quoted("Content-Type: application/json")}`,
    `--data-raw ${quoted(JSON.stringify(body))}`,
  ].join(" \\\n  ");
}
