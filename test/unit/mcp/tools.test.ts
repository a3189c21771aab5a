import { expect, it, vi } from "vitest";
import { z } from "zod";
import { ALONE_UNITS, WorkMeter } from "../../../src/logs/query/budget.ts";
import { tokensOf } from "../../../src/mcp/answer.ts";
import { INSTRUCTIONS, TOOLS } from "../../../src/mcp/server.ts";
import { ToolFault, type ToolPorts } from "../../../src/mcp/tool.ts";
import { changesSince } from "../../../src/mcp/tools/entries.ts";

/** Tokens of the list and of the instructions, which an agent reads in every conversation: of tools that read, and of all. */
const CEILINGS = { read: 2_150, all: 2_800 } as const;

it("21.2: lists the tools in a fixed order, those that change something only for their scope, at a bounded cost of tokens", () => {
  expect(TOOLS.map(({ name, scope = "logs:read" }) => `${name} ${scope}`)).toEqual([
    "describe logs:read",
    "search_logs logs:read",
    "aggregate_logs logs:read",
    "log_patterns logs:read",
    "log_context logs:read",
    "changes_since logs:read",
    "alerts logs:read",
    "ingest_health logs:read",
    "save_view views:write",
    "create_alert alerts:write",
  ]);
  for (const [which, ceiling] of Object.entries(CEILINGS)) {
    const listed = TOOLS.filter(({ scope }) => which === "all" || scope === undefined);
    const list = listed.map(({ name, title, description, input }) => {
      return { name, title, description, inputSchema: z.toJSONSchema(input, { io: "input" }) };
    });
    const tokens = tokensOf(JSON.stringify(list)) + tokensOf(INSTRUCTIONS);
    expect([which, tokens < ceiling, tokens]).toEqual([which, true, tokens]);
    // A ceiling far above the cost would not notice what is added.
    expect(tokens).toBeGreaterThan(ceiling * 0.8);
  }
});

it("pauses while it finds the patterns of messages that take long", async () => {
  const message = `'"x `.repeat(500);
  const entries = Array.from({ length: 100 }, (_, at) => {
    const seq = at + 1;
    return { seq, text: JSON.stringify({ seq, level: "info", message: `${at}${message}` }) };
  });
  const refuse = () => Promise.reject(new ToolFault("It is not read."));
  const project = { id: "proj_0123456789AB", name: "p", createdAt: 0, lastSeq: entries.length, unflushedEntries: 0 };
  const ports: ToolPorts = {
    access: { workspace: { id: "ws_1", name: "w", retentionDays: 30 }, projects: [project], gaps: [], health: null },
    now: 0,
    changes: async (_, __, use) => use({ entries, through: entries.length, lastSeq: entries.length }),
    ...{ search: refuse, context: refuse, alerts: refuse, saveView: refuse, previewAlert: refuse, createAlert: refuse },
  };
  const paused = vi.spyOn(WorkMeter.prototype, "paused");
  const added = vi.spyOn(WorkMeter.prototype, "add");
  await changesSince.run(changesSince.input.parse({ seq: 0 }), ports);
  const units = added.mock.calls.reduce((sum, [each]) => sum + each, 0);
  const pauses = paused.mock.calls.length;
  for (const spy of [paused, added]) spy.mockRestore();
  // At least 200 ns of each quote, and no step longer than one message.
  expect(units).toBeGreaterThan((100 * 1000 * 200) / 1.5);
  expect(pauses).toBeGreaterThan(units / (ALONE_UNITS + units / 100) - 1);
});
