import { exports } from "cloudflare:workers";
import { z } from "zod";

const result = z.looseObject({
  content: z.array(z.looseObject({ type: z.literal("text"), text: z.string() })),
  structuredContent: z.looseObject({}).optional(),
  isError: z.boolean().optional(),
});

export interface RpcAnswer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Sends one message of revision 2025-06-18 to the MCP server. A text is sent as it is. */
export async function rpc(
  token: string | null,
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<RpcAnswer> {
  const request = new Request("http://taffrail.test/mcp", {
    method: "POST",
    headers: {
      Accept: "application/json, text/event-stream",
      "Content-Type": "application/json",
      "MCP-Protocol-Version": "2025-06-18",
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof message === "string" ? message : JSON.stringify(message),
  });
  const response = await exports.default.fetch(request);
  const text = await response.text();
  const body = text === "" ? {} : z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  return { status: response.status, headers: response.headers, body };
}

export interface ToolAnswer {
  text: string;
  isError: boolean;
  /** Structured content. */
  data: Record<string, unknown>;
}

/** Calls a tool. */
export async function callTool(token: string, name: string, args: object = {}): Promise<ToolAnswer> {
  const answer = await rpc(token, { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  const { content, structuredContent = {}, isError = false } = result.parse(answer.body.result);
  return { text: content[0]?.text ?? "", isError, data: structuredContent };
}

/** Values of a column of structured content, be it one value of all rows. */
export function column(data: Record<string, unknown>, name: string): unknown[] {
  const { common, columns, rows } = table.parse(data);
  const at = columns.indexOf(name);
  return rows.map((row) => (at < 0 ? (common[name] ?? null) : row[at]));
}

const table = z.looseObject({
  common: z.record(z.string(), z.unknown()),
  columns: z.array(z.string()),
  rows: z.array(z.array(z.unknown())),
});
