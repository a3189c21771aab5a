import { readByGet } from "./api.ts";
import type { AuditCommand } from "./commands.ts";
import { EXIT } from "./failure.ts";
import { type Io, writeLine } from "./io.ts";
import { jsonLine, paint, shown } from "./pretty.ts";
import { record } from "./record.ts";
import { formatTime } from "./time.ts";

/** Items of a page. The limit of the service. */
const PAGE = 200;

type Item = Record<string, unknown>;

/** Prints the audit of a workspace, newest items first. */
export async function audit(io: Io, command: AuditCommand): Promise<number> {
  for await (const item of auditItems(io, command)) {
    await writeLine(io, command.json ? jsonLine(item) : prettyItem(item, command.colors));
  }
  return EXIT.ok;
}

async function* auditItems(io: Io, command: AuditCommand): AsyncGenerator<Item, void> {
  const { service, workspace, filters, from, limit } = command;
  let left = limit;
  for (let cursor: string | null = null; left > 0; ) {
    const query = new URLSearchParams({ ...filters, limit: String(Math.min(left, PAGE)) });
    if (cursor !== null) query.set("cursor", cursor);
    const path = `/workspaces/${encodeURIComponent(workspace)}/audit?${query}`;
    const data = record(await readByGet(io, service, path, cursor !== null));
    const items = Array.isArray(data?.items) ? data.items.map((item) => record(item) ?? {}) : [];
    for (const item of items) {
      if (from !== null && Date.parse(String(item.at)) < from) return;
      yield item;
    }
    left -= items.length;
    // The service scans a limited part per request, so an empty page is not the end.
    const next: unknown = data?.nextCursor;
    if (typeof next !== "string") return;
    cursor = next;
  }
}

/** Formats an item as one line. */
function prettyItem(item: Item, colors: boolean): string {
  const name = (id: unknown, email: unknown): string => String(email ?? id);
  const target = item.targetEmail == null ? String(item.target) : `${item.targetEmail} (${item.target})`;
  const states = (["before", "after"] as const).flatMap((state) =>
    item[state] === undefined ? [] : [`${state}=${JSON.stringify(item[state])}`],
  );
  const where = `${item.address ?? "-"} ${item.requestId}`;
  return [
    paint(formatTime(String(item.at)), "2", colors),
    shown(name(item.actor, item.actorEmail)),
    paint(shown(String(item.action)), "34", colors),
    shown(target),
    ...states.map((state) => shown(state)),
    paint(shown(where), "2", colors),
  ].join(" ");
}
