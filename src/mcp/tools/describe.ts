import { z } from "zod";
import { answerOf, type NamedTable } from "../answer.ts";
import { maxTokens, project } from "../arguments.ts";
import { type Cell, cellOf, type Table } from "../compact-table.ts";
import { tableOf } from "../rows.ts";
import { gapsIn, projectOf, type ToolPorts, tool } from "../tool.ts";

/** Newest entries whose fields are described. */
const SAMPLE = 2_000;
/** Values of a field. */
const VALUES = 6;

/** The query language in a few lines. `docs/query-language.md` has all of it. */
const CARD = [
  'language: `timeout` or "timed out": text in message or data, any case. `level:>=error`, `status:500..599`, `route:/api/*`, `user.id:*` (exists), `-a:b` (not).',
  "language: a space is AND; OR, NOT and parentheses as usual. `time:1h`, `time:2026-11-22`, `time:2h..1h`. Regular expressions: `message:~/x\\d+/i`.",
  "language: pipes: `| count by f` `| stats count() as n, p99(f) as slow, min(time) as first by g, bin(5m)` `| top 10 by f` `| rare 5 by f` `| facets 5` `| fields a, b` `| where n:>5` `| sort n desc` `| limit 20`.",
  "language: own fields: level category type message time received seq session trace span service host project pattern. All others are members of data.",
  "answers: repeat a question with its `as_of`; go on with `next`; `exact: false` means that more may match; `gaps` are entries that never arrived.",
] as const;

export const describeTool = tool({
  name: "describe",
  title: "Describe",
  description:
    "Call first: projects, retention, fields with types, frequency and top values, and a card of the query language.",
  input: z.strictObject({ project, max_tokens: maxTokens }),
  question: () => null,
  run: async (args, ports) => {
    const of = projectOf(ports, args.project);
    const query = `* | limit ${SAMPLE} | facets ${VALUES}`;
    const found = await ports.search({ query, ...(of === null ? {} : { projectId: of.id }) }, (answer) => {
      const { matched, asOf, notes, range } = answer;
      return { matched, asOf, notes, range, table: tableOf(answer) };
    });
    const { workspace } = ports.access;
    const facts = [
      `retention_days: ${workspace.retentionDays}`,
      `sampled: fields are those of the newest ${found.matched} entries (at most ${SAMPLE}); \`service:x | facets 3\` shows those of others`,
      `now: ${new Date(ports.now).toISOString()}`,
    ];
    const head = {
      matched: found.matched,
      exact: true,
      as_of: found.asOf,
      gaps: gapsIn(ports, of?.id ?? null, found.range),
    };
    const { rows, notes } = withFewRare(fieldRows(found.table, found.matched));
    const texts = { guide: facts, card: CARD, notes: [...notes, ...found.notes] };
    const draft = { head, ...texts, first: projectTable(ports), rows, hasMore: false, nextCharacters: 0 };
    return answerOf({ ...draft, nextAfter: () => null }, args.max_tokens);
  },
});

function projectTable({ access }: ToolPorts): NamedTable {
  const rows = access.projects.map(({ id, name, lastSeq, createdAt }): Cell[] => {
    return [id, cellOf(name), lastSeq, new Date(createdAt).toISOString()];
  });
  return { name: "projects", columns: ["id", "name", "last_seq", "created"], rows };
}

/** Makes one row of each field of the rows `field type entries value count`. */
function fieldRows({ rows }: Table, entries: number): Table {
  const fields = new Map<string, { type: Cell; percent: number; values: string[] }>();
  for (const [field = null, type = null, count = 0, value = null, times = 0] of rows) {
    const name = String(field);
    const percent = entries === 0 ? 0 : Math.round((Number(count) / entries) * 100);
    const known = fields.get(name) ?? { type, percent, values: [] };
    if (value !== null) known.values.push(`${String(value).slice(0, VALUE_CHARACTERS)} (${times})`);
    fields.set(name, known);
  }
  return {
    columns: ["field", "type", "percent", "top_values"],
    rows: [...fields].map(([name, { type, percent, values }]) => [name, type, percent, values.join(", ")]),
  };
}

/** Fields in less than half a percent of the entries: data with ids as names has one for each entry. */
const RARE = 20;

/** Leaves out fields that are rare and many, and states how many. */
function withFewRare(table: Table): { rows: Table; notes: string[] } {
  const percent = table.columns.indexOf("percent");
  const rare = table.rows.filter((row) => row[percent] === 0).length;
  if (rare <= RARE) return { rows: table, notes: [] };
  const left = rare - RARE;
  const rows = { ...table, rows: table.rows.slice(0, table.rows.length - left) };
  return {
    rows,
    notes: [`${left} more fields are in less than 0.5 % of these entries: \`| facets\` of a filter shows them.`],
  };
}

/** Characters of a value among the most frequent ones. */
const VALUE_CHARACTERS = 60;
