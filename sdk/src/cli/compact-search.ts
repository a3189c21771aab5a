import { parse } from "../../../src/query-language/parse.ts";
import type { SearchCommand } from "./commands.ts";
import { EXIT, Failure } from "./failure.ts";
import { type Io, writeLine } from "./io.ts";
import { McpSession } from "./mcp.ts";
import { shown } from "./pretty.ts";
import { record } from "./record.ts";

/** Prints the answer that an agent gets: compact, and cut to a number of tokens. */
export async function compactSearch(io: Io, command: SearchCommand, maxTokens: number): Promise<number> {
  const { query, from, to, asOf, next, project, json, service } = command;
  const parsed = parse(query);
  const isTable = parsed.ok && parsed.columns !== null;
  const time = (ms: number | null) => (ms === null ? undefined : new Date(ms).toISOString());
  const wanted = {
    query,
    from: time(from),
    to: time(to),
    as_of: asOf ?? undefined,
    next: next ?? undefined,
    project: project ?? undefined,
    max_tokens: maxTokens,
  };
  const params = { name: isTable ? "aggregate_logs" : "search_logs", arguments: wanted };
  const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const answer = record(JSON.parse((await new McpSession(service, io.stop).answer(message)) ?? "{}"));
  const refusal = record(answer?.error);
  if (refusal !== null) throw new Failure(shown(String(refusal.message)));
  const result = record(answer?.result);
  const content = Array.isArray(result?.content) ? record(result.content[0]) : null;
  const text = String(content?.text ?? "");
  if (result?.isError === true) throw new Failure(shown(text));
  const lines = json ? [JSON.stringify(result?.structuredContent ?? null)] : text.split("\n");
  for (const line of lines) await writeLine(io, line);
  return EXIT.ok;
}
