import { parseArgs } from "node:util";
import { z } from "zod";

/** Maximum attempts of a request to a busy or limited service. */
const TRIES = 10;
/** Maximum milliseconds of a response, and the delay of the next attempt if the response names none. */
const ANSWER_MS = 60_000;
const RETRY_MS = 1000;
const PAGE = "200";

const envelope = z.object({
  data: z.unknown(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

/** Reads operator routes of a service, one page at a time. */
export class OperatorClient {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /**
   * Reads a list to its end. Yields `null` and ends if the resource does not exist.
   * @param method `POST` for a list whose reading changes something
   * @throws Error if the service refuses, cannot be reached, or returns something else
   */
  async *pages<S extends z.ZodType>(
    path: string,
    schema: S,
    cursorOf: (data: z.output<S>) => string | null,
    method: "GET" | "POST" = "GET",
  ): AsyncGenerator<z.output<S> | null> {
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ limit: PAGE, ...(cursor === null ? {} : { cursor }) });
      const answer = await this.#call(method, `${path}?${query}`);
      if (answer === null) {
        // Without a token in the service's settings, the list of all workspaces does not exist.
        if (path === "/operator/workspaces")
          throw new Error("The service has no OPERATOR_TOKEN, or is of a version without operator routes.");
        yield null;
        return;
      }
      const data: z.output<S> = schema.parse(answer);
      yield data;
      cursor = cursorOf(data);
    } while (cursor !== null);
  }

  /** `data` of a response; `null` for 404. */
  async #call(method: string, path: string): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(new URL(path, this.#url), {
        method,
        headers: { Authorization: `Bearer ${this.#token}` },
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const text = await response.text();
      if (response.status === 404) return null;
      if ((response.status === 429 || response.status === 503) && attempt < TRIES) {
        const seconds = Number(response.headers.get("Retry-After"));
        await new Promise((resolve) => setTimeout(resolve, seconds > 0 ? seconds * 1000 : RETRY_MS));
        continue;
      }
      const { data, error } = parsed(text, path, response.status);
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${error?.message ?? text.slice(0, 200)}`);
      return data;
    }
  }
}

function parsed(text: string, path: string, status: number): z.output<typeof envelope> {
  try {
    return envelope.parse(JSON.parse(text));
  } catch {
    throw new Error(`${path} answered ${status} with a response that is not from this service.`);
  }
}

/**
 * Runs a tool of the operator against the service that the command line names. Sets the exit code: what the tool returns, or 2 if
 * it fails.
 * @param name of the npm script
 */
export async function runOperatorTool(name: string, run: (client: OperatorClient) => Promise<0 | 1>): Promise<void> {
  try {
    const { values } = parseArgs({ options: { url: { type: "string" }, token: { type: "string" } } });
    const token = values.token ?? process.env.OPERATOR_TOKEN;
    if (values.url === undefined || !URL.canParse(values.url)) {
      throw new Error(`Usage: npm run ${name} -- --url <address of the service>`);
    }
    if (!token) throw new Error("Set OPERATOR_TOKEN to the operator token of the service, or pass --token.");
    process.exitCode = await run(new OperatorClient(values.url, token));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 2;
  }
}

const workspaces = z.object({
  items: z.array(z.object({ id: z.string(), slug: z.string() })),
  nextCursor: z.string().nullable(),
});
const workspace = z.object({
  projects: z.object({
    items: z.array(z.object({ id: z.string(), flushedSeq: z.number() })),
    nextCursor: z.string().nullable(),
  }),
});

/** Reads all workspaces. */
export async function* operatorWorkspaces(client: OperatorClient): AsyncGenerator<{ id: string; slug: string }> {
  for await (const page of client.pages("/operator/workspaces", workspaces, (data) => data.nextCursor)) {
    yield* page?.items ?? [];
  }
}

/** Reads the ids of a workspace's projects that have entries in the cold tier. @param path of the workspace */
export async function* operatorProjects(client: OperatorClient, path: string): AsyncGenerator<string> {
  for await (const page of client.pages(path, workspace, (data) => data.projects.nextCursor)) {
    for (const { id, flushedSeq } of page?.projects.items ?? []) if (flushedSeq > 0) yield id;
  }
}
