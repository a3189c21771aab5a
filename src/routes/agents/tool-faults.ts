import type { z } from "zod";
import { ApiError } from "../../http/errors.ts";
import { ToolFault } from "../../mcp/tool.ts";

/** Members of a search by the names of the arguments. */
const ARGUMENTS: Readonly<Record<string, string>> = { asOf: "as_of", cursor: "next", projectId: "project" };

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
  throw new ToolFault(`${ARGUMENTS[member] ?? member}: ${issue?.message ?? "Invalid."}${place}${accepted}`);
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
