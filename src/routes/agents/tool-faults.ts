import type { z } from "zod";
import { ApiError } from "../../http/errors.ts";
import { ToolFault } from "../../mcp/tool.ts";

/** Members of a search by the names of the arguments. */
const ARGUMENTS: Readonly<Record<string, string>> = { asOf: "as_of", cursor: "next", projectId: "project" };
/** What is wrong with members that the API and the tools name differently. */
const PROBLEMS: Readonly<Record<string, string>> = {
  asOf: "Not the `as_of` of an answer. Without it, the search covers what is stored now.",
  cursor:
    "Not the `next` of an answer to this query. Without it, the answer has the first rows; `none` means that none follow.",
};
/** What to write in place of a value that is not accepted. */
const HINTS: Readonly<Record<string, string>> = {
  from: " Durations are in the query: `time:1h`.",
  to: " Durations are in the query: `time:2h..1h`.",
};

/** @throws ToolFault with the first problem: what is wrong, what is accepted there, and what is likely meant */
export function parsedBy<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const member = String(issue?.path[0] ?? "query");
  const { position, expected }: Record<string, unknown> = issue?.code === "custom" ? (issue.params ?? {}) : {};
  const place = typeof position === "number" ? ` (at character ${position})` : "";
  const accepted =
    Array.isArray(expected) && expected.length > 0 ? ` Accepted there: ${expected.slice(0, 12).join(", ")}.` : "";
  const problem = PROBLEMS[member] ?? issue?.message ?? "Invalid.";
  throw new ToolFault(`${ARGUMENTS[member] ?? member}: ${problem}${place}${accepted}${HINTS[member] ?? ""}`);
}

/** Returns a note of a search in the words of the tools. */
export function noteForTools(note: string): string {
  return note.replaceAll("`nextCursor`", "`next`").replaceAll("`asOf`", "`as_of`");
}

/** Refusals of the service are words for the agent, too. */
export async function asFault<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError) throw new ToolFault(error.refusal.message);
    throw error;
  }
}
