import { readByGet } from "./api.ts";
import type { LedgerCommand } from "./commands.ts";
import { EXIT } from "./failure.ts";
import { type Io, writeLine } from "./io.ts";
import { jsonLine, paint, shown } from "./pretty.ts";
import { record } from "./record.ts";
import { formatTime } from "./time.ts";

/** Items of a page. The limit of the service. */
const PAGE = 200;

type Item = Record<string, unknown>;

/** What each reason means. Other reasons are printed as they are. */
const MEANINGS: Readonly<Record<string, string>> = {
  merged: "sent again, stored once",
  rejected: "not valid",
  limited: "rate limit; most clients send them again",
  full: "storage was full",
  "queue-full": "the client's queue was full",
  closed: "logged after the client's logger was closed",
  retries: "the client gave up after its retries",
  "too-large": "larger than an entry may be",
  unknown: "never arrived",
};

/** Prints the ledger of a project, newest items first, and the sum of each reason. */
export async function ledger(io: Io, command: LedgerCommand): Promise<number> {
  const sums = new Map<string, number>();
  for await (const item of ledgerItems(io, command)) {
    const reason = String(item.reason);
    sums.set(reason, (sums.get(reason) ?? 0) + Number(item.entries));
    await writeLine(io, command.json ? jsonLine(item) : prettyItem(item, command.colors));
  }
  if (command.json) return EXIT.ok;
  for (const [reason, entries] of [...sums].sort(([, a], [, b]) => b - a)) {
    const meaning = MEANINGS[reason];
    await writeLine(
      io,
      `${String(entries).padStart(9)} ${shown(reason)}${meaning === undefined ? "" : `: ${meaning}`}`,
    );
  }
  if (sums.size === 0) await writeLine(io, "No entries are known to be missing.");
  return EXIT.ok;
}

async function* ledgerItems(io: Io, command: LedgerCommand): AsyncGenerator<Item, void> {
  const { service, workspace, project, from, to, limit } = command;
  let left = limit;
  for (let cursor: string | null = null; left > 0; ) {
    const query = new URLSearchParams({ limit: String(Math.min(left, PAGE)) });
    if (from !== null) query.set("from", String(from));
    if (to !== null) query.set("to", String(to));
    if (cursor !== null) query.set("cursor", cursor);
    const path = `/projects/${encodeURIComponent(project)}/ledger?${query}`;
    const data = record(await readByGet(io, service, path, cursor !== null, { "X-Workspace-Id": workspace }));
    const items = Array.isArray(data?.items) ? data.items.map((item) => record(item) ?? {}) : [];
    yield* items;
    left -= items.length;
    const next: unknown = data?.nextCursor;
    if (typeof next !== "string") return;
    cursor = next;
  }
}

/** Formats an item as one line. */
function prettyItem(item: Item, colors: boolean): string {
  const gap = record(item.gap);
  const where = gap === null ? `${item.requests} requests` : `before seq ${gap.beforeSeq}, stream ${gap.stream}`;
  return [
    paint(formatTime(String(item.at)), "2", colors),
    String(item.entries).padStart(9),
    paint(shown(String(item.reason)), "34", colors),
    shown(String(item.keyId)),
    paint(shown(`${where}${gap?.open === true ? ", may still arrive" : ""}`), "2", colors),
  ].join(" ");
}
