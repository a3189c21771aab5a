import { z } from "zod";
import { answerOf, type NamedTable } from "../answer.ts";
import { maxTokens, project } from "../arguments.ts";
import { type Cell, cellOf } from "../compact-table.ts";
import { tableOf } from "../rows.ts";
import { gapsIn, projectOf, ToolFault, type ToolPorts, tool } from "../tool.ts";

export const ingestHealth = tool({
  name: "ingest_health",
  title: "Ingest health",
  description:
    "Whether logs arrive: entries of the last hour and day by project and level, entries that are missing and why, and the state of the storage.",
  input: z.strictObject({ project, max_tokens: maxTokens }),
  question: () => null,
  run: async (args, ports) => {
    const of = projectOf(ports, args.project);
    const { health } = ports.access;
    if (health === null) throw new ToolFault("The service is being updated. Try again.");
    const own = of === null ? {} : { projectId: of.id };
    const day = await counted(ports, { query: "time:24h | stats count() as n by project, level", ...own });
    const hour = await counted(ports, {
      query: "time:1h | stats count() as n by project, level",
      asOf: day.asOf,
      ...own,
    });
    const { usage } = health;
    const at = (time: number | null) => (time === null ? "never" : new Date(time).toISOString());
    const guide = [
      `now: ${at(ports.now)}`,
      `ingested_today: ${usage.ingestedToday} (whole workspace)`,
      `flush: ${usage.flush.lastError === null ? "ok" : "failing"}, last ${at(usage.flush.lastAt)}, batches that wait: ${usage.flush.pendingBatches}`,
    ];
    const lastHour = new Map(hour.rows.map(([project, level, n]) => [`${project} ${level}`, n]));
    const rows = day.rows.map(([project = null, level = null, n = 0]): Cell[] => {
      return [project, level, lastHour.get(`${project} ${level}`) ?? 0, n];
    });
    const silent = ports.access.projects
      .filter(({ id }) => (of === null || of.id === id) && !rows.some(([project]) => project === id))
      .map(({ id }): Cell[] => [id, null, 0, 0]);
    const head = {
      matched: day.matched,
      exact: day.exact && hour.exact,
      as_of: day.asOf,
      gaps: gapsIn(ports, of?.id ?? null, { from: new Date(ports.now - DAY_MS).toISOString(), to: null }),
    };
    const table = { columns: ["project", "level", "last_hour", "last_day"], rows: [...rows, ...silent] };
    const first = missingTable(ports, of?.id ?? null);
    const draft = { head, guide, rows: table, hasMore: false, nextAfter: () => null, notes: [] };
    return answerOf(first === null ? draft : { ...draft, first }, args.max_tokens);
  },
});

const DAY_MS = 24 * 60 * 60 * 1000;

function counted(ports: ToolPorts, body: Readonly<Record<string, unknown>>) {
  return ports.search(body, (answer) => {
    const { matched, exact, complete, asOf } = answer;
    return { matched, exact: exact && complete, asOf, rows: tableOf(answer).rows };
  });
}

/** Rows of the ledger: entries of the last day that should be there and are not. */
function missingTable({ access }: ToolPorts, projectId: string | null): NamedTable | null {
  const missing = (access.health?.missing ?? []).filter((item) => projectId === null || item.projectId === projectId);
  if (missing.length === 0) return null;
  const rows = missing.map((item): Cell[] => {
    return [
      new Date(item.at).toISOString(),
      item.projectId,
      item.reason,
      item.entries,
      item.requests,
      cellOf(item.keyId),
    ];
  });
  return { name: "missing", columns: ["at", "project", "reason", "entries", "requests", "key"], rows };
}
