import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { asUser, call, createTenant, type FoundLogs, type Tenant } from "../../support/api.ts";

/** Number of responses by request and result, such as `query 200` or `ingest 503 SERVICE_UNAVAILABLE`. */
export type Tally = Record<string, number>;

interface Asked {
  status: number;
  code: string | null;
  retryAfter: string | null;
  message: string | null;
}

/** Clients of one tenant that send, search and sign in, and record what was acknowledged. */
export class Load {
  readonly url: string;
  readonly tenant: Tenant;
  /** Messages of acknowledged entries, in no particular order. */
  readonly acknowledged = new Set<string>();
  /** Responses since the last `take`. */
  #tally: Tally = {};
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  static async of(url: string): Promise<Load> {
    const tenant = await createTenant(url);
    await call(url, `/workspaces/${tenant.account.workspaceId}/rate-limits`, {
      ...asUser(tenant.account),
      method: "PUT",
      body: { default: { limit: 1_000_000 } },
    });
    return new Load(url, tenant);
  }

  private constructor(url: string, tenant: Tenant) {
    this.url = url;
    this.tenant = tenant;
  }

  /** Starts two clients that send, one that searches, one that signs in, and one that polls `/health`. */
  start(): void {
    this.#isOver = false;
    const actions = [
      () => this.ingest(),
      () => this.ingest(),
      () => this.query(),
      () => this.login(),
      () => this.health(),
    ];
    this.#running = Promise.all(
      actions.map(async (act) => {
        while (!this.#isOver) {
          const { status } = await act();
          await wait(status < 300 ? 5 : 50);
        }
      }),
    );
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /** Returns the responses since the last call. */
  take(): Tally {
    const tally = this.#tally;
    this.#tally = {};
    return tally;
  }

  async ingest(key?: string, message = ""): Promise<Asked> {
    const messages = key === undefined ? Array.from({ length: 20 }, () => randomUUID()) : [message];
    const asked = await this.#ask("ingest", `/logger/${this.tenant.projectId}/log`, {
      token: this.tenant.key.secret,
      body: messages.map((text) => ({ message: text, data: { filler: text.repeat(10) } })),
      headers: key === undefined ? {} : { "Idempotency-Key": key },
    });
    if (asked.status === 201) for (const text of messages) this.acknowledged.add(text);
    return asked;
  }

  query(): Promise<Asked> {
    const { key } = this.tenant;
    return this.#ask("query", "/logger/query", { token: key.secret, body: { filters: { search: "a" } } });
  }

  login(): Promise<Asked> {
    const { email, password } = this.tenant.account;
    return this.#ask("login", "/auth/login", { body: { email, password } });
  }

  health(): Promise<Asked> {
    return this.#ask("health", "/health", {});
  }

  /** Messages of all stored entries, in order of `seq`. */
  async stored(): Promise<string[]> {
    const found: FoundLogs["logs"] = [];
    const token = this.tenant.key.secret;
    let cursor: string | null = "";
    while (cursor !== null) {
      const pagination: object = { limit: 1000, ...(cursor === "" ? {} : { cursor }) };
      const page: FoundLogs = (
        await call<FoundLogs>(this.url, "/logger/query", { token, body: { order: "asc", pagination } })
      ).body.data;
      found.push(...page.logs);
      cursor = page.pagination.nextCursor;
    }
    found.sort((a, b) => a.seq - b.seq);
    const gap = found.findIndex(({ seq }, index) => seq !== index + 1);
    if (gap >= 0) throw new Error(`There is no entry with seq ${gap + 1}.`);
    return found.map(({ message }) => message);
  }

  async #ask(name: string, path: string, options: Parameters<typeof call>[2]): Promise<Asked> {
    let asked: Asked;
    try {
      const { status, headers, body } = await call(this.url, path, options);
      const { code, message } = body?.error ?? { code: null, message: null };
      asked = { status, code, message, retryAfter: headers.get("Retry-After") };
    } catch (error) {
      asked = { status: 0, code: String(error), message: null, retryAfter: null };
    }
    const kind = [name, asked.status, asked.code].filter((part) => part !== null).join(" ");
    this.#tally[kind] = (this.#tally[kind] ?? 0) + 1;
    return asked;
  }
}

/** The kinds of responses that are neither a success nor a 503 with a retry time. */
export function faultsOf(tally: Tally): string[] {
  return Object.keys(tally).filter((kind) => !/ (?:20[01]|503 SERVICE_UNAVAILABLE)$/.test(kind));
}
