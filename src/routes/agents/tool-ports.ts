import type { Context } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { isId } from "../../ids.ts";
import { COUNTED } from "../../limits/state.ts";
import { type LeasedMemory, withLeasedMemory } from "../../logs/query/memory.ts";
import { compileFilter } from "../../logs/search/compile-filter.ts";
import { FilterText } from "../../logs/search/query-text.ts";
import { runSearch } from "../../logs/search/run-search.ts";
import { unknownMembers } from "../../logs/search/run-suggest.ts";
import { SearchBody } from "../../logs/search/search-schema.ts";
import { ToolFault, type ToolPorts } from "../../mcp/tool.ts";
import { CHANGES_LIMITS, readChanges } from "../../tail/changes.ts";
import { readContext, type SeqSource } from "../../tail/context.ts";
import type { AgentAccess } from "../../workspace/agent-access.ts";
import { bySeq, type Reader, reportUnreadable, searchSource } from "../logs/reader.ts";
import { asFault, noteForTools, parsedBy } from "./tool-faults.ts";
import { workPorts } from "./work-ports.ts";

/** Memory that a search begins with, and that entries read by `seq` take, as rows of a query. */
const SEARCH_ROWS = 2_048;
const SEQ_ROWS = 10_240;

/** Returns what tools read for an admitted request, which is counted: its reads count no more. */
export function toolPorts(c: Context<AppEnv>, caller: Reader, access: AgentAccess): ToolPorts {
  const reader: Reader = { ...caller, charge: COUNTED };
  return {
    ...workPorts(c, reader),
    access,
    now: Date.now(),
    search: (body, use, options) =>
      asFault(async () => {
        const wanted = { ...parsedBy(SearchBody, body), ...options };
        const source = searchSource(c, reader, wanted.projectId);
        return withMemory(Math.max(SEARCH_ROWS, wanted.limit), async (memory) => {
          const result = await runSearch(source, wanted, undefined, memory);
          if (!result.ok) throw new ToolFault(FAULTS[result.reason] ?? ("message" in result ? result.message : ""));
          const { answer } = result;
          const unknown = await unknownMembers(source, wanted, answer, memory);
          const { matched, scanned } = answer;
          Object.assign(c.get("log"), { matched, scanned, work: Math.round(result.work + unknown.work) });
          return use({ ...answer, notes: [...answer.notes, ...unknown.notes].map(noteForTools) });
        });
      }),
    context: (projectId, wish, use) =>
      asFault(() =>
        withMemory(SEQ_ROWS, async (memory) => use(await readContext(seqSource(c, reader, projectId, memory), wish))),
      ),
    changes: (projectId, { after, filter, limit }, use) =>
      asFault(() => {
        const { query } = parsedBy(FilterText, filter.trim() === "" ? "*" : filter);
        const wanted = compileFilter(query.filter, Date.now());
        const most = Math.min(limit, CHANGES_LIMITS.entries);
        return withMemory(SEQ_ROWS, async (memory) =>
          use(await readChanges(seqSource(c, reader, projectId, memory), wanted, after, most)),
        );
      }),
  };
}

const FAULTS: Readonly<Record<string, string>> = {
  foreign_cursor: "next: Belongs to another query or another project.",
  future_snapshot: "as_of: This snapshot does not exist yet.",
};

async function withMemory<T>(rows: number, read: (memory: LeasedMemory) => Promise<T>): Promise<T> {
  const value = await withLeasedMemory({ rows }, async (memory) => {
    const found = { value: await read(memory) };
    memory.release();
    return found;
  });
  if (value === null) throw new ToolFault("Too many logs are being read at once. Try again.");
  return value.value;
}

function seqSource(c: Context<AppEnv>, reader: Reader, projectId: string, memory: LeasedMemory): SeqSource {
  const { workspaceId } = reader;
  if (isId("proj", projectId)) c.get("log").projectId = projectId;
  const source = bySeq(c, reader, projectId);
  return {
    scope: { workspaceId, projectId, report: reportUnreadable(c, workspaceId) },
    cold: source.cold,
    recent: (range) => {
      memory.renew();
      return source.recent(range);
    },
  };
}
