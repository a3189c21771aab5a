import { expect, it } from "vitest";
import { z } from "zod";
import { INSTRUCTIONS, TOOLS } from "../../../src/mcp/server.ts";
import { tokensOf } from "../../../src/mcp/tokens.ts";

/** Tokens of the list and of the instructions, which an agent reads in every conversation. */
const CEILING = 2_050;

it("21.2: lists the tools in a fixed order, at a bounded cost of tokens", () => {
  expect(TOOLS.map(({ name }) => name)).toEqual([
    "describe",
    "search_logs",
    "aggregate_logs",
    "log_patterns",
    "log_context",
    "changes_since",
    "ingest_health",
  ]);
  const list = TOOLS.map(({ name, title, description, input }) => {
    return { name, title, description, inputSchema: z.toJSONSchema(input, { io: "input" }) };
  });
  const tokens = tokensOf(JSON.stringify(list)) + tokensOf(INSTRUCTIONS);
  expect(tokens).toBeLessThan(CEILING);
  // A ceiling far above the cost would not notice what is added.
  expect(tokens).toBeGreaterThan(CEILING * 0.8);
});
