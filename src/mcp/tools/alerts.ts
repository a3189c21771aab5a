import { z } from "zod";
import { stateOf } from "../../alerts/rules.ts";
import { shownGroup } from "../../alerts/template.ts";
import { printDuration } from "../../query-language/values.ts";
import type { AgentAlert } from "../../workspace/agent-work.ts";
import { answerOf } from "../answer.ts";
import { maxTokens, project, QUERY, shownQuestion } from "../arguments.ts";
import { type Cell, cellOf } from "../compact-table.ts";
import { type AlertPreview, oneProject, projectOf, tool } from "../tool.ts";

export const alerts = tool({
  name: "alerts",
  title: "Alerts",
  description: "Alert rules with their state (ok, pending, firing), and what they decided lately, newest first.",
  input: z.strictObject({ project, max_tokens: maxTokens }),
  question: () => null,
  run: async (args, ports) => {
    const of = projectOf(ports, args.project);
    const found = await ports.alerts(of?.id ?? null);
    const decisions = found
      .flatMap((alert) => alert.decisions.map((decision) => ({ alert, decision })))
      .sort((a, b) => b.decision.num - a.decision.num);
    const rows = decisions.map(({ alert, decision }): Cell[] => {
      const { at, kind, group, value, seqRange, isReported } = decision;
      return [
        iso(at),
        alert.projectId,
        cellOf(alert.rule.definition.name),
        kind,
        cellOf(group === null ? null : shownGroup(decision)),
        value,
        seqRange?.from ?? null,
        seqRange?.to ?? null,
        isReported,
      ];
    });
    const columns = ["at", "project", "alert", "kind", "group", "value", "first_seq", "last_seq", "reported"];
    const draft = {
      head: { matched: rows.length, exact: true, as_of: null, gaps: 0 },
      guide: [`now: ${iso(ports.now)}`, `firing: ${found.filter(({ rule }) => stateOf(rule) === "firing").length}`],
      first: { name: "rules", columns: RULE_COLUMNS, rows: found.map(ruleRow) },
      rows: { columns, rows },
      hasMore: false,
      notes: [],
    };
    return answerOf({ ...draft, nextAfter: () => null }, args.max_tokens);
  },
});

const RULE_COLUMNS = ["id", "project", "name", "state", "query", "condition", "window", "firing_groups", "behind"];

function ruleRow({ projectId, rule }: AgentAlert): Cell[] {
  const { id, definition, firing, position } = rule;
  const { name, query, condition, windowMs } = definition;
  return [
    id,
    projectId,
    cellOf(name),
    stateOf(rule),
    cellOf(query),
    cellOf(condition),
    printDuration(windowMs),
    firing,
    position.lastSeq - position.seq,
  ];
}

/** Decisions of a preview that an answer has. */
const PREVIEWED = 20;

export const createAlert = tool({
  name: "create_alert",
  title: "Create an alert",
  description:
    "Two calls. Without `confirm`: replays the rule over the last 7 days and returns what it would have decided, and a `confirm`. With it and the same rule: creates the alert. Show the user the replay first.",
  scope: "alerts:write",
  input: z.strictObject({
    project,
    name: z.string().max(100),
    query: QUERY.describe("A filter, then at most `count by` two fields; no time."),
    condition: z
      .looseObject({ kind: z.string() })
      .describe(
        'In a window: `{"kind": "threshold", "value": 10}` at least 10 entries, `rate` (a second), `absence` (fewer), `{"kind": "change", "direction": "rise", "percent": 200}`.',
      ),
    window: z.string().max(10).describe("Whole minutes or hours: `5m`."),
    for: z.string().max(10).optional().describe("Breaches so long before it fires: `1m`."),
    message: z.string().max(2000).optional(),
    confirm: z.string().max(100).optional(),
    max_tokens: maxTokens,
  }),
  question: ({ name, query, confirm }) =>
    shownQuestion(`${confirm === undefined ? "preview" : "create"} ${name}: ${query}`),
  run: async (args, ports) => {
    const of = oneProject(ports, args.project);
    const { project: _, confirm, max_tokens, ...rule } = args;
    if (confirm !== undefined) {
      const id = await ports.createAlert(of.id, rule, confirm);
      return answerOf(done(`created: ${id} (without destinations: a member adds them in the console)`), max_tokens);
    }
    return answerOf(previewDraft(await ports.previewAlert(of.id, rule)), max_tokens);
  },
});

function previewDraft({ firings, decisions, from, through, complete, entries, notes, confirm }: AlertPreview) {
  const rows = decisions.slice(0, PREVIEWED).map(({ at, kind, group, value }): Cell[] => {
    return [iso(at), kind, cellOf(group), value];
  });
  return {
    ...done(
      `would_have_fired: ${firings} times from ${iso(from)} to ${iso(through)}`,
      `entries_read: ${entries}`,
      `confirm: ${confirm} (valid for 30 minutes, for this rule)`,
    ),
    head: { matched: decisions.length, exact: complete, as_of: null, gaps: 0 },
    rows: { columns: ["at", "kind", "group", "value"], rows },
    hasMore: decisions.length > PREVIEWED,
    notes: [...notes],
  };
}

/** An answer of words of the service alone. */
export function done(...guide: string[]) {
  return {
    head: { matched: 0, exact: true, as_of: null, gaps: 0 },
    guide,
    rows: { columns: [], rows: [] },
    hasMore: false,
    nextAfter: () => null,
    notes: [],
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
