import { levelOf } from "../entries.ts";
import type { Seed } from "../load/protocol.ts";
import { hasRareText, hasRareTicket, hasTrace, RARE_TEXT, RARE_TICKET, seedTimestamp } from "../seed.ts";
import type { BenchTenant } from "../tenant.ts";

/** The identity of an entry. */
export interface Row {
  projectId: string;
  seq: number;
}

export interface BenchQuery {
  name: string;
  headers: Record<string, string>;
  filters: Record<string, unknown>;
  /** Requested rows; the query ends when it has them. */
  limit: number;
  /** The only correct response, newest first. */
  expected: readonly Row[];
}

const LIMIT = 100;
const HOUR_MS = 60 * 60 * 1000;

/** The queries of the comparison in docs/benchmarks.md, with expected results computed from what was sent. */
export function benchQueries(seed: Seed, tenant: BenchTenant): BenchQuery[] {
  const asKey = keyHeaders(tenant, 0);
  const asUser = { authorization: `Bearer ${tenant.accessToken}`, "x-workspace-id": tenant.workspaceId };
  const lastHour = { from: seed.end - HOUR_MS, to: seed.end };
  const all = { from: seed.start, to: seed.end };
  const expect = (projects: readonly number[], { from, to }: typeof all, matches: Match) =>
    newest(seed, tenant, projects, from, to, matches);
  const one = [0];
  const every = Array.from({ length: seed.projects }, (_, project) => project);
  const text: Match = (_, index) => hasRareText(seed, index);
  const search = RARE_TEXT;
  return [
    {
      name: "newest 100 errors, one project",
      headers: asKey,
      filters: { level: "error" },
      limit: LIMIT,
      expected: expect(one, all, (_, index) => levelOf(index) === "error"),
    },
    {
      name: "rare substring inside a word, last hour, all projects",
      headers: asUser,
      filters: { search, ...lastHour },
      limit: LIMIT,
      expected: expect(every, lastHour, text),
    },
    {
      name: "rare substring inside a word, last hour, one project",
      headers: asKey,
      filters: { search, ...lastHour },
      limit: LIMIT,
      expected: expect(one, lastHour, text),
    },
    {
      name: "rare substring inside a word, 6 h, all projects",
      headers: asUser,
      filters: { search, ...all },
      limit: LIMIT,
      expected: expect(every, all, text),
    },
    {
      name: "rare substring inside a word, 6 h, one project",
      headers: asKey,
      filters: { search, ...all },
      limit: LIMIT,
      expected: expect(one, all, text),
    },
    {
      name: "rare data value, 6 h, one project",
      headers: asKey,
      filters: { data: { ticket: RARE_TICKET }, ...all },
      limit: LIMIT,
      expected: expect(one, all, (_, index) => hasRareTicket(seed, index)),
    },
    {
      name: "common substring, newest 100, all projects",
      headers: asUser,
      filters: { search: "orders" },
      limit: LIMIT,
      expected: expect(every, all, () => true),
    },
    {
      name: "one exact trace id, 6 h, all projects",
      headers: asUser,
      filters: { traceId: seed.traceId, ...all },
      limit: LIMIT,
      expected: expect(every, all, (project, index) => hasTrace(seed, project, index)),
    },
  ];
}

function keyHeaders(tenant: BenchTenant, project: number): Record<string, string> {
  return { authorization: `Bearer ${tenant.projects[project]?.key}` };
}

type Match = (project: number, index: number) => boolean;

/** The newest matching entries: from each project at most the requested number, then the newest of all of them. */
function newest(
  seed: Seed,
  tenant: BenchTenant,
  projects: readonly number[],
  from: number,
  to: number,
  matches: Match,
): Row[] {
  const found: (Row & { timestamp: number })[] = [];
  for (const project of projects) {
    const projectId = tenant.projects[project]?.id ?? "";
    let count = 0;
    for (let index = seed.perProject - 1; index >= 0 && count < LIMIT; index--) {
      const timestamp = seedTimestamp(seed, project, index);
      if (timestamp < from) break;
      if (timestamp >= to || !matches(project, index)) continue;
      found.push({ projectId, seq: index + 1, timestamp });
      count++;
    }
  }
  found.sort((a, b) => b.timestamp - a.timestamp);
  return found.slice(0, LIMIT).map(({ projectId, seq }) => ({ projectId, seq }));
}
