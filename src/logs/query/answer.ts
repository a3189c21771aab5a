import { logId } from "../log-id.ts";
import type { Row } from "./collector.ts";
import type { QueryPage } from "./run-query.ts";

/**
 * A row as the service gives it, the JSON of a `StoredEntry`: bytes of UTF-8, one character each. A stored line is JSON
 * already, so it is completed as text: made into objects, an answer of small members would take twenty times its bytes.
 */
export function rowText({ line, seq, projectId, receivedAt }: Row): string {
  // Without its braces: every line has members.
  const members = line.slice(1, -1);
  const received = new Date(receivedAt).toISOString();
  const id = logId(projectId, seq);
  return `{"id":"${id}",${members},"seq":${seq},"projectId":"${projectId}","receivedAt":"${received}"}`;
}

/** The JSON of a page as the API gives it, in parts; bytes of UTF-8, one character each. */
export function* pageTexts({ rows, ...page }: QueryPage): Generator<string> {
  yield '{"logs":[';
  for (const [index, row] of rows.entries()) yield index === 0 ? rowText(row) : `,${rowText(row)}`;
  // Cursors, snapshots and numbers: all of it is ASCII.
  yield `],${JSON.stringify(page).slice(1)}`;
}
