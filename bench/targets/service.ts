import { z } from "zod";
import type { Answer, Comparison } from "./comparison.ts";

const cell = z.union([z.string(), z.number(), z.null()]);
const tableSchema = z.object({
  kind: z.literal("table"),
  columns: z.array(z.object({ name: z.string() })),
  rows: z.array(z.array(z.unknown())),
  complete: z.boolean(),
  exact: z.boolean(),
});
const entriesSchema = z.object({
  logs: z.array(z.object({ traceId: z.string().optional() })),
  pagination: z.object({ nextCursor: z.string().nullable() }),
  complete: z.boolean(),
});
const suggestionsSchema = z.record(z.string(), z.unknown());

/** Entries of an answer. */
export const PAGE = 100;

export class WrongAnswer extends Error {}
/** An answer whose work was limited. It is no fault, and reaches no target. */
export class IncompleteAnswer extends Error {}

/** Asks a service as a client with an API key. */
export class ServiceClient {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** @throws WrongAnswer if the status is not 200 */
  async #post(path: string, body: unknown): Promise<unknown> {
    const answer = await fetch(`${this.#url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${this.#key}` },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new WrongAnswer(`${answer.status} ${text.slice(0, 300)}`);
    return z.object({ data: z.unknown() }).parse(JSON.parse(text)).data;
  }

  /** Whether the service has an endpoint: every other answer than 404. */
  async has(path: string): Promise<boolean> {
    const answer = await fetch(`${this.#url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${this.#key}` },
      body: "{}",
    });
    await answer.text();
    return answer.status !== 404;
  }

  /**
   * Asks a question to its end: a query of entries whose work was limited is continued.
   * @throws WrongAnswer if an answer is refused
   * @throws IncompleteAnswer if a table lacks entries
   */
  async ask({ path, body }: Comparison["request"]): Promise<Answer> {
    const traceIds: string[] = [];
    for (let pagination: object = {}; ; ) {
      const page = Object.hasOwn(body, "pagination") ? { pagination: { limit: PAGE, ...pagination } } : {};
      const data = await this.#post(path, { ...body, ...page });
      const table = tableSchema.safeParse(data);
      if (table.success) return answerOf(table.data);
      const { logs, complete, pagination: next } = entriesSchema.parse(data);
      traceIds.push(...logs.flatMap(({ traceId }) => traceId ?? []));
      if (complete || next.nextCursor === null || traceIds.length >= PAGE) {
        return { rows: [], traceIds: traceIds.slice(0, PAGE), isExact: true };
      }
      pagination = { cursor: next.nextCursor };
    }
  }

  /** @throws WrongAnswer if nothing is suggested */
  async suggest(query: string): Promise<void> {
    const data = suggestionsSchema.parse(await this.#post("/logger/search/suggest", { query, position: query.length }));
    if (!Object.values(data).some((value) => Array.isArray(value) && value.length > 0)) {
      throw new WrongAnswer(`no suggestion for ${query}`);
    }
  }
}

function answerOf({ columns, rows, complete, exact }: z.infer<typeof tableSchema>): Answer {
  if (!complete) throw new IncompleteAnswer();
  const named = rows.map((row) =>
    Object.fromEntries(columns.map(({ name }, at) => [name, cell.catch(null).parse(row[at])])),
  );
  return { rows: named, traceIds: [], isExact: exact };
}
