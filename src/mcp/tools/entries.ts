import { z } from "zod";
import { ScanPacer } from "../../logs/query/budget.ts";
import { patternOf, patternWorkOf } from "../../logs/search/pattern.ts";
import { CHANGES_LIMITS } from "../../tail/changes.ts";
import { CONTEXT_LIMITS } from "../../tail/context.ts";
import { answerOf, type NamedTable } from "../answer.ts";
import { maxTokens, project, QUERY, shownQuestion } from "../arguments.ts";
import { cellOf, type Table } from "../compact-table.ts";
import { entryTable } from "../rows.ts";
import { gapsIn, oneProject, ToolFault, tool } from "../tool.ts";

/** Tools that read entries by `seq`: their number in the project, in the order of arrival. */

const neighbours = z.int().min(0).max(CONTEXT_LIMITS.neighbours).default(10);
/** Digits of the largest `seq`. */
const SEQ_CHARACTERS = 16;
const NOWHERE = { from: null, to: null };

export const logContext = tool({
  name: "log_context",
  title: "Log context",
  description: "An entry with what arrived before and after it, by its `seq` (and `project`, if you may read several).",
  input: z.strictObject({ seq: z.int().min(1), project, before: neighbours, after: neighbours, max_tokens: maxTokens }),
  question: ({ seq }) => `seq:${seq}`,
  run: async ({ seq, before, after, max_tokens, ...args }, ports) => {
    const { id } = oneProject(ports, args.project);
    const found = await ports.context(id, { seq, before, after }, (context) => {
      if (context === null) throw new ToolFault("seq: No such entry, or it has expired.");
      const earlier = context.before.length;
      const table = entryTable([...context.before, context.entry, ...context.after]);
      return { table, earlier, complete: context.complete };
    });
    const { table, earlier, complete } = found;
    // The nearest come first if not all fit.
    const order = table.rows.map((row, index) => ({ row, index, distance: Math.abs(index - earlier) }));
    const rows = order.sort((a, b) => a.distance - b.distance || a.index - b.index).map(({ row }) => row);
    const head = { matched: rows.length, exact: complete, as_of: null, gaps: gapsIn(ports, id, NOWHERE) };
    const guide = ["order: the entry itself, then the nearest by seq"];
    const draft = {
      head,
      guide,
      rows: { ...table, rows },
      hasMore: false,
      nextCharacters: 0,
      nextAfter: () => null,
      notes: [],
    };
    return answerOf(draft, max_tokens);
  },
});

export const changesSince = tool({
  name: "changes_since",
  title: "Changes since",
  description:
    "What arrived after a `seq`, oldest first: nothing twice, nothing missed. Without `seq` only the newest one, as `next`. Send `next` as `seq`.",
  input: z.strictObject({
    seq: z.int().min(0).optional(),
    query: QUERY.default("*").describe("Filter without pipes."),
    project,
    limit: z.int().min(1).max(CHANGES_LIMITS.entries).default(100),
    max_tokens: maxTokens,
  }),
  question: ({ query, seq }) => shownQuestion(`${query} seq:>${seq ?? "newest"}`),
  run: async ({ seq, query, limit, max_tokens, ...args }, ports) => {
    const { id, lastSeq } = oneProject(ports, args.project);
    const after = seq ?? lastSeq;
    const gaps = gapsIn(ports, id, NOWHERE);
    const empty: Table = { columns: [], rows: [] };
    if (after >= lastSeq) {
      const head = { matched: 0, exact: true, as_of: null, gaps };
      const draft = {
        head,
        rows: empty,
        hasMore: false,
        alwaysHasNext: true,
        nextAfter: () => String(lastSeq),
        notes: [],
      };
      return answerOf(draft, max_tokens);
    }
    const found = await ports.changes(id, { after, filter: query, limit }, (changes) => {
      const { entries, through } = changes;
      const table = entryTable(entries.map(({ text }) => text));
      return { table, through, lastSeq: changes.lastSeq, seqs: entries.map((entry) => entry.seq) };
    });
    const { table, through, seqs } = found;
    const isWhole = through >= found.lastSeq;
    const head = { matched: seqs.length, exact: isWhole, as_of: null, gaps };
    const nextAfter = (rows: number) => String(rows < seqs.length ? (seqs[rows - 1] ?? after) : through);
    const rest = { hasMore: !isWhole, alwaysHasNext: true, nextCharacters: SEQ_CHARACTERS, nextAfter, notes: [] };
    return answerOf({ head, first: await patternsOf(table), rows: table, ...rest }, max_tokens);
  },
});

/** Entries from which an answer begins with their patterns. */
const MANY = 20;
const PATTERNS = 12;

async function patternsOf({ columns, rows }: Table): Promise<NamedTable | undefined> {
  if (rows.length < MANY) return undefined;
  const message = columns.indexOf("message");
  const counts = new Map<string, number>();
  const pacer = new ScanPacer();
  for (const row of rows) {
    const text = String(row[message] ?? "");
    await pacer.pause(patternWorkOf(text));
    const pattern = patternOf(text);
    counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, PATTERNS);
  const shown = sorted.map(([pattern, count]) => [cellOf(pattern), count]);
  return { name: "patterns", columns: ["pattern", "count"], rows: shown };
}
