import { ApiFailure } from "../../api/failure.ts";
import { type Answer, type RequestOptions, request } from "../../api/request.ts";
import type { LogEntry, Project } from "../../model/types.ts";
import type { GuestAccess } from "../../session/guest.ts";
import type { Sandbox, SandboxState } from "./sandbox.ts";
import { suggest } from "./suggest.ts";

/** Entries from which suggestions are made: those that were loaded last. */
const SAMPLE = 500;

/** Error codes of the key of a sandbox that was reset. */
const RESET_CODES = new Set(["API_KEY_REVOKED", "INVALID_API_KEY"]);

/**
 * Access to the sandbox for the pages of a workspace. Reads go to the service with the public key; all that belong to one
 * search have its name, so that they count as one read. What a guest does not have (members, saved items, the ledger) is empty.
 */
export class SandboxAccess {
  readonly #state: Pick<SandboxState, "current" | "renew" | "note">;
  #searchId = newSearchId();
  #hasSearched = false;
  #sample: readonly LogEntry[] = [];

  constructor(state: Pick<SandboxState, "current" | "renew" | "note">) {
    this.#state = state;
  }

  readonly call: GuestAccess = async <T>(path: string, options: RequestOptions): Promise<Answer<T>> => {
    const sandbox = this.#state.current() ?? (await this.#state.renew());
    const [route = ""] = path.split("?", 1);
    if (route === "/logger/search/suggest") return local(suggest(options.body, this.#sample));
    if (route.startsWith("/logger/")) return this.#read<T>(sandbox, path, options);
    if (options.method !== undefined || options.body !== undefined) throw readOnly();
    if (route === "/projects") return local({ items: [projectOf(sandbox, 1)], nextCursor: null });
    if (route === `/projects/${sandbox.projectId}`) {
      return local(projectOf(sandbox, await this.#lastSeq(sandbox, options)));
    }
    return local({ items: [], nextCursor: null });
  };

  async #read<T>(sandbox: Sandbox, path: string, options: RequestOptions): Promise<Answer<T>> {
    if (options.followsSearch !== true && isNewSearch(path, options.body)) this.#beginSearch();
    const { workspaceId: _ofKey, ...sent } = options;
    try {
      const answer = await request<T>(path, { ...sent, token: sandbox.apiKey, searchId: this.#searchId });
      this.#state.note("reads", answer.limit);
      this.#keepSample(answer.data);
      return answer;
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      // Another limit applies to a revoked key.
      if (error.status !== 401) this.#state.note("reads", error.limit);
      // The page follows the new sandbox, which has another project.
      if (RESET_CODES.has(error.code)) await this.#state.renew();
      throw error;
    }
  }

  /** What a live view reads before its first search belongs to that search. */
  #beginSearch(): void {
    if (this.#hasSearched) this.#searchId = newSearchId();
    this.#hasSearched = true;
  }

  /** The newest `seq`, which the API has for members only: a count of the project states it, too. */
  async #lastSeq(sandbox: Sandbox, { signal }: RequestOptions): Promise<number> {
    const body = { interval: "1d" };
    const { data } = await this.#read<{ lastSeq?: number }>(sandbox, "/logger/stats", {
      body,
      ...(signal === undefined ? {} : { signal }),
    });
    return data.lastSeq ?? 0;
  }

  #keepSample(data: unknown): void {
    if (typeof data !== "object" || data === null || !("logs" in data) || !Array.isArray(data.logs)) return;
    // SAFETY: the entries of a query or a search.
    this.#sample = [...(data.logs as LogEntry[]), ...this.#sample].slice(0, SAMPLE);
  }
}

/** Whether a request asks something new. Counts, further pages and neighbours belong to the search before them. */
function isNewSearch(path: string, body: unknown): boolean {
  if (path === "/logger/search" || path === "/logger/search/batch") return !hasMember(body, "cursor");
  if (path !== "/logger/query") return false;
  return !(hasMember(body, "pagination") && hasMember(body.pagination, "cursor")) && !hasMember(body, "asOf");
}

function hasMember<Name extends string>(value: unknown, name: Name): value is Record<Name, unknown> {
  return typeof value === "object" && value !== null && name in value;
}

function newSearchId(): string {
  return crypto.randomUUID();
}

function projectOf({ workspaceId, projectId }: Sandbox, lastSeq: number): Project {
  return { id: projectId, name: "Demo shop", workspaceId, createdAt: new Date(0).toISOString(), lastSeq };
}

function readOnly(): ApiFailure {
  return new ApiFailure("The sandbox keeps nothing of a visitor. Create an account to save this.", {
    code: "FORBIDDEN",
    status: 403,
  });
}

function local<T>(data: unknown): Answer<T> {
  // SAFETY: the shape that the API documents for the path.
  return { data: data as T, status: 200, limit: null, headers: new Headers() };
}
