import { quoted } from "../../../lib/shell.ts";
import type { LogEntry } from "../../../model/types.ts";

/** An entry as one line of text: time, level, source, message, and the members of `data` as `name=value`. */
export function textOf({ timestamp, level, category, type, service, message, data }: LogEntry): string {
  const members = Object.entries(data ?? {}).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${name}=${/^[\w./:@+-]+$/.test(text) ? text : JSON.stringify(text)}`;
  });
  const source = service ?? `${category}/${type}`;
  return [timestamp, level.toUpperCase(), source, message, ...members].join(" ");
}

export function jsonOf(entry: LogEntry): string {
  return JSON.stringify(entry, null, 2);
}

/** A command that fetches an entry. The key comes from the environment, so that no shell history has it. */
export function entryCurl(origin: string, { projectId, id }: LogEntry): string {
  return [
    `curl -sS ${quoted(`${origin}/logger/${projectId}/log/${encodeURIComponent(id)}`)}`,
    `-H "Authorization: Bearer \${TAFFRAIL_API_KEY:?Set it to an API key with logs:read}"`,
  ].join(" \\\n  ");
}
