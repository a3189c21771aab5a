import { quoted } from "../../../lib/shell.ts";
import type { Filters } from "../filters.ts";

/** What `POST /logger/query` takes, as far as the explorer asks. */
export interface QueryRequest {
  projectId?: string;
  filters?: Filters;
  order?: "desc" | "asc";
  pagination?: { limit?: number; cursor?: string; includeTotal?: boolean };
  asOf?: string;
}

/**
 * The call as a command for a shell: the key is taken from the environment, so that it gets into no history. All that
 * anybody typed is inside single quotes, where a shell reads nothing into it.
 */
export function curlOf(origin: string, path: string, body: object, scope: string): string {
  return [
    `curl -sS ${quoted(`${origin}${path}`)}`,
    `-H "Authorization: Bearer \${TAFFRAIL_API_KEY:?Set it to an API key with ${scope}}"`,
    `-H ${quoted("Content-Type: application/json")}`,
    `--data-raw ${quoted(JSON.stringify(body))}`,
  ].join(" \\\n  ");
}
