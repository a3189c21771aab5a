import type { TargetRow, TargetsAt, TargetsResults } from "../parts/targets.ts";
import { aligned, decimal, whole } from "../text-table.ts";

/** Bytes of an entry at rest: with files and filters, of these in D1, and what VictoriaLogs had when the target was set. */
const BYTES = { all: 36, catalog: 0.5, peer: 37 } as const;
/** CPU microseconds of an entry. */
const CPU = { flush: 5, flushAndCompaction: 8 } as const;
const ROUNDS = 3;

/** The targets of the cold tier and of the query language, for the terminal and docs/benchmarks.md. */
export function targetTables({ main, growth, needles, missing }: TargetsResults): string[] {
  const peer = main.peer === null ? "" : `, beside ${main.peer.version} with the same entries`;
  return [
    [
      `Targets, one client, ${whole(main.entries)} entries over 24 h in one project, ${whole(main.recent)} of them in the recent tier, the others in ${main.bytes.segments} merged segments, stored by commit ${main.storedBy ?? "unknown"}${peer} (medians; CPU of the server's process for a request)`,
      questionsTable(main),
      ...(missing.length === 0 ? [] : [`Not measured, because the service does not have it: ${missing.join(", ")}`]),
    ].join("\n"),
    ["Targets of storage and CPU, cold tier of the same entries", storageTable(main)].join("\n"),
    [
      "Reads of the bucket for a needle: rounds of reads that each began after the end of the one before, and ranges",
      aligned(
        ["needle", "files", "merged", "rounds", "ranges", "found", "target", ""],
        needles.map(({ name, files, isMerged, rounds, ranges, found, expected }) => [
          name,
          whole(files),
          isMerged ? "yes" : "no",
          String(rounds),
          whole(ranges),
          `${found} of ${expected}`,
          `at most ${ROUNDS} rounds`,
          reached(rounds <= ROUNDS),
        ]),
      ),
    ].join("\n"),
    ...(growth.length === 0 ? [] : [growthTable(growth)]),
  ];
}

function questionsTable({ rows }: TargetsAt): string {
  const heads = ["question", "ms", "CPU ms", "VictoriaLogs ms", "CPU ms", "x", "target", "", "answer"];
  return aligned(
    heads,
    rows.map((row) => [
      row.name,
      decimal(row.service.medianMs, 1),
      decimal(row.service.cpuMs, 0),
      decimal(row.peer?.medianMs ?? null, 1),
      decimal(row.peer?.cpuMs ?? null, 0),
      row.peer === null ? "-" : (row.service.medianMs / row.peer.medianMs).toFixed(2),
      targetText(row),
      verdictOf(row),
      row.wrong !== null ? "WRONG" : row.isIncomplete ? "incomplete" : "right",
    ]),
  );
}

function targetText({ goal }: TargetRow): string {
  if (goal === null) return "-";
  const { atMost, timesPeer } = goal;
  if (timesPeer === null) return `${atMost} ms`;
  return atMost === null ? `${timesPeer} x` : `${timesPeer} x (${atMost} ms without it)`;
}

function verdictOf({ service, peer, goal, isIncomplete, wrong }: TargetRow): string {
  if (goal === null) return "-";
  if (isIncomplete || wrong !== null) return reached(false);
  const most = goal.timesPeer !== null && peer !== null ? goal.timesPeer * peer.medianMs : goal.atMost;
  return most === null ? "-" : reached(service.medianMs <= most);
}

function reached(isReached: boolean): string {
  return isReached ? "reached" : "NOT reached";
}

function storageTable({ bytes, cpu, peer }: TargetsAt): string {
  const { file, filter, catalog } = bytes;
  const all = file + filter + catalog;
  const both = cpu.flush === null || cpu.compaction === null ? null : cpu.flush + cpu.compaction;
  // Entries compress differently, so the peer's bytes of the same ones count.
  const most = peer === null ? BYTES.all : (peer.bytesPerEntry * BYTES.all) / BYTES.peer;
  const row = (name: string, value: number | null, atMost: number | null, other: number | null = null) => [
    name,
    decimal(value, 2),
    decimal(other, 1),
    atMost === null ? "-" : `at most ${Number(atMost.toFixed(1))}`,
    atMost === null || value === null ? "-" : reached(value <= atMost),
  ];
  return aligned(
    ["figure of an entry", "measured", "VictoriaLogs", "target", ""],
    [
      row("bytes at rest: file, filter and catalog", all, most, peer?.bytesPerEntry ?? null),
      row("bytes of the file", file, null),
      row("bytes of the filter", filter, null),
      row("bytes of D1 after compaction, pages and indexes included", catalog, BYTES.catalog),
      row("CPU us of ingest, 19,500 a request", cpu.ingest, null),
      row("CPU us of the flush", cpu.flush, CPU.flush),
      row("CPU us of flush and compaction", both, CPU.flushAndCompaction),
    ],
  );
}

function growthTable(growth: readonly TargetsAt[]): string {
  const [least] = growth;
  const most = growth.at(-1);
  if (least === undefined || most === undefined) return "";
  const factor = most.entries / least.entries;
  const rowOf = ({ rows }: TargetsAt, name: string) => rows.find((row) => row.name === name);
  const cells = least.rows.map(({ name, grows, service }) => {
    const at = growth.map((size) => rowOf(size, name));
    const last = rowOf(most, name);
    const grown = (last?.service.medianMs ?? Number.NaN) / service.medianMs;
    // A needle reads the catalog of all segments, whose indices grow with the logarithm; a sum reads all entries.
    const mayGrow = grows === "linear" ? factor : 1 + Math.log(factor);
    return [
      name,
      ...at.flatMap((row) => [
        row?.isIncomplete ? "incomplete" : decimal(row?.service.medianMs ?? null, 1),
        decimal(row?.peer?.medianMs ?? null, 1),
      ]),
      grown.toFixed(1),
      `at most ${mayGrow.toFixed(1)}`,
      reached(grown <= mayGrow && at.every((row) => row?.isIncomplete === false)),
    ];
  });
  const sizes = growth.flatMap(({ entries }) => [`${entries / 1e6} M ms`, "VictoriaLogs"]);
  return [
    `Growth from ${whole(least.entries)} to ${whole(most.entries)} entries over 24 h`,
    aligned(["question", ...sizes, "grown by", "target", ""], cells),
  ].join("\n");
}
