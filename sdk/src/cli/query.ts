import { readByPost, type Service } from "./api.ts";
import type { QueryCommand } from "./commands.ts";
import { EXIT } from "./failure.ts";
import { toQueryFilters } from "./filters.ts";
import { type Io, writeLine } from "./io.ts";
import { jsonLine, prettyLine, type StoredEntry } from "./pretty.ts";
import { record } from "./record.ts";

/** Entries of a page. The limit of the service. */
const PAGE = 1000;

export async function query(io: Io, command: QueryCommand): Promise<number> {
  const { service, project, filters, from, to, order, limit, json, colors } = command;
  const request = {
    ...(project === null ? {} : { projectId: project }),
    ...toQueryFilters(filters, from, to),
    order,
  };
  for await (const entry of queryEntries(io, service, request, limit)) {
    await writeLine(io, json ? jsonLine(entry) : prettyLine(entry, colors));
  }
  return EXIT.ok;
}

/** Yields the entries of a query, up to `limit`. Continues after incomplete pages. */
export async function* queryEntries(
  io: Io,
  service: Service,
  request: Readonly<Record<string, unknown>>,
  limit: number,
  isKnown = false,
): AsyncGenerator<StoredEntry, void> {
  let left = limit;
  for (let cursor: string | null = null; left > 0; ) {
    const pagination: Record<string, unknown> = { limit: Math.min(left, PAGE), ...(cursor === null ? {} : { cursor }) };
    const data = record(
      await readByPost(io, service, "/logger/query", { ...request, pagination }, isKnown || cursor !== null),
    );
    const entries = entriesOf(data?.logs);
    yield* entries;
    left -= entries.length;
    const next: unknown = record(data?.pagination)?.nextCursor;
    if (typeof next !== "string") return;
    cursor = next;
  }
}

export function entriesOf(list: unknown): StoredEntry[] {
  // SAFETY: the service returns entries, whose members are read one by one.
  return Array.isArray(list) ? (list as StoredEntry[]) : [];
}
