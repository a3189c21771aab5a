import type { Context } from "hono";
import { z } from "zod";
import { type AppEnv, originOf } from "../../http/context.ts";
import { streamedSuccess } from "../../http/envelope.ts";
import { refuse } from "../../http/errors.ts";
import { type Resource, validated } from "../../http/resource.ts";
import { parseApiKey } from "../../keys/api-key.ts";
import { COUNTED } from "../../limits/state.ts";
import { toByteString } from "../../logs/query/case-folding.ts";
import { runSearch } from "../../logs/search/run-search.ts";
import { searchTexts } from "../../logs/search/search-query.ts";
import { BatchQueryBody, searchAnswerSchema } from "../../logs/search/search-schema.ts";
import { callWorkspace } from "../../rpc/call.ts";
import { SANDBOX_WORKSPACE_ID } from "../../sandbox/sandbox.ts";
import { publicLimit } from "../guards/address.ts";
import { searchSource, withReadMemory } from "../logs/reader.ts";

/** What the home page shows of the sandbox: its newest entries, their levels over time, and one table. */
const QUERIES = [
  { query: "*", limit: 40 },
  { query: "* | stats count() by level, bin(10m)", limit: 1000 },
  { query: "path:* | stats count(), p95(durationMs) by path | sort p95(durationMs) desc | limit 5", limit: 5 },
] as const;

/** Rows of all answers, for the memory of a read. */
const ROWS = 2048;

/** Milliseconds for which an isolate keeps the answers, so that visitors do not cost a read each. */
const KEPT_MS = 10_000;

/** The JSON of the answers, as bytes of UTF-8, one character each. A reset changes the project. */
interface Preview {
  projectId: string;
  until: number;
  data: string;
}

let kept: Preview | null = null;

const previewSchema = z.object({
  queries: z.array(z.string()).describe("The queries, in the order of the answers."),
  answers: z.array(searchAnswerSchema),
});

export function addSandboxPreview(sandbox: Resource): void {
  sandbox.route(
    {
      method: "GET",
      path: "/sandbox/preview",
      operation: "sandbox.preview",
      tag: "Sandbox",
      summary: "Get a view of the sandbox",
      description:
        "Answers of fixed queries, up to 10 seconds old. Uses no budget of the sandbox: the request counts by client IP, like every request without a credential.",
      security: "none",
      status: 200,
      response: previewSchema,
      errors: ["SERVICE_UNAVAILABLE"],
    },
    [publicLimit],
    preview,
  );
}

async function preview(c: Context<AppEnv>): Promise<Response> {
  const { projectId, apiKey } = await callWorkspace(c.env, SANDBOX_WORKSPACE_ID, "replay-safe", (stub) =>
    stub.sandbox(originOf(c)),
  );
  const now = Date.now();
  if (kept !== null && kept.projectId === projectId && kept.until > now) {
    return streamedSuccess([kept.data].values(), c.get("requestId"), { onProgress: () => {}, ended: () => {} });
  }
  const key = parseApiKey(apiKey);
  if (key === null) throw new RangeError("The sandbox has a key.");
  const reader = {
    caller: { kind: "key", hash: key.hash },
    workspaceId: SANDBOX_WORKSPACE_ID,
    charge: COUNTED,
  } as const;
  return withReadMemory(c, ROWS, async (memory) => {
    const answers: string[] = [];
    for (const body of QUERIES) {
      const wanted = validated(BatchQueryBody, body);
      const result = await runSearch(searchSource(c, reader, projectId), wanted, undefined, memory);
      if (!result.ok) return refuse("SERVICE_UNAVAILABLE", "The sandbox was reset. Try again.");
      answers.push([...searchTexts(result.answer)].join(""));
      memory.endPart();
    }
    const queries = toByteString(JSON.stringify(QUERIES.map(({ query }) => query)));
    const data = `{"queries":${queries},"answers":[${answers.join(",")}]}`;
    kept = { projectId, until: now + KEPT_MS, data };
    return { data: [data].values(), bytes: data.length };
  });
}
