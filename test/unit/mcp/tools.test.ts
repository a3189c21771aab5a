import { expect, it } from "vitest";
import { z } from "zod";
import { INSTRUCTIONS, TOOLS } from "../../../src/mcp/server.ts";
import { tokensOf } from "../../../src/mcp/tokens.ts";

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
