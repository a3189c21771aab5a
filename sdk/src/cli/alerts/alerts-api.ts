import { type Answer, formatRefusal, post, type Refusal, readByGet } from "../api.ts";
import { Failure } from "../failure.ts";
import type { Io } from "../io.ts";
import { record } from "../record.ts";
import type { AlertsCommand } from "./command.ts";
import type { NamedDestination, Plan, PlannedChange, Rule } from "./rule.ts";

/** An alert as the service returns it: its rule and its state. */
export type Alert = Record<string, unknown> & { id: string; name: string; version: number };

/** Returns the failure of a request that was refused. */
type OnRefusal = (refusal: Refusal) => Failure;

/** Milliseconds until a request is given up. A preview reads 7 days of entries. */
const TIMEOUT_MS = 60_000;

/** The calls of the service about the alerts of a project. Reads are retried. */
export class AlertsApi {
  readonly #io: Io;
  readonly #command: AlertsCommand;
  /** Whether the service has answered before. */
  #isKnown = false;

  constructor(io: Io, command: AlertsCommand) {
    this.#io = io;
    this.#command = command;
  }

  async list(): Promise<Alert[]> {
    const data = record(await this.#read("alerts"));
    return itemsOf(data).flatMap((item) => alertOf(item) ?? []);
  }

  /** Returns the alert with a name or an id. @throws Failure if there is none */
  async find(nameOrId: string): Promise<Alert> {
    const all = await this.list();
    const found = all.find(({ name }) => name === nameOrId) ?? all.find(({ id }) => id === nameOrId);
    if (found) return found;
    const names = all.map(({ name }) => name).join(", ");
    throw new Failure(`The project has no alert ${nameOrId}.${names === "" ? "" : ` It has ${names}.`}`);
  }

  async destinations(): Promise<NamedDestination[]> {
    const data = record(await this.#read("alert-destinations"));
    return itemsOf(data).map((item) => ({ id: String(item.id), name: String(item.name) }));
  }

  /** Yields what an alert has decided, newest first. */
  async *decisions(id: string, limit: number): AsyncGenerator<Record<string, unknown>, void> {
    let left = limit;
    for (let cursor: string | null = null; left > 0; ) {
      const query = new URLSearchParams({ limit: String(Math.min(left, 200)), ...(cursor === null ? {} : { cursor }) });
      const data = record(await this.#read(`alerts/${encodeURIComponent(id)}/decisions?${query}`));
      const items = itemsOf(data);
      yield* items;
      left -= items.length;
      if (typeof data?.nextCursor !== "string") return;
      cursor = data.nextCursor;
    }
  }

  change(alert: Alert, members: Rule): Promise<unknown> {
    const body = { version: alert.version, ...members };
    return this.#write("PATCH", `alerts/${encodeURIComponent(alert.id)}`, body);
  }

  remove({ id }: Alert): Promise<unknown> {
    return this.#write("DELETE", `alerts/${encodeURIComponent(id)}`, null);
  }

  /** Replays a rule over the last 7 days. */
  async preview(rule: Rule, onRefusal: OnRefusal = asFailure): Promise<Record<string, unknown>> {
    return record(await this.#send("POST", "alert-preview", rule, onRefusal)) ?? {};
  }

  /** Compares the alerts with a list. */
  async plan(alerts: readonly Rule[], prune: boolean, onRefusal: OnRefusal = asFailure): Promise<Plan> {
    return planOf(await this.#send("POST", "alert-plan", { alerts, prune }, onRefusal));
  }

  /** Makes the alerts those of a list. @param revision that they must have; `null`: any */
  async apply(
    alerts: readonly Rule[],
    prune: boolean,
    revision: string | null,
    onRefusal: OnRefusal = asFailure,
  ): Promise<Plan> {
    const body = { alerts, prune, ...(revision === null ? {} : { revision }) };
    return planOf(await this.#send("PUT", "alerts", body, onRefusal));
  }

  async #read(path: string): Promise<unknown> {
    const { service } = this.#command;
    const data = await readByGet(this.#io, service, this.#path(path), this.#isKnown, this.#headers());
    this.#isKnown = true;
    return data;
  }

  #write(method: "PATCH" | "DELETE", path: string, body: Rule | null): Promise<unknown> {
    return this.#send(method, path, body, asFailure);
  }

  async #send(
    method: "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body: unknown,
    onRefusal: OnRefusal,
  ): Promise<unknown> {
    const answer: Answer = await post(this.#command.service, {
      method,
      path: this.#path(path),
      body: body === null ? null : JSON.stringify(body),
      headers: this.#headers(),
      timeoutMs: TIMEOUT_MS,
      signal: this.#io.stop,
    });
    if (answer.kind === "ok") return answer.data;
    throw answer.kind === "refused" ? onRefusal(answer.refusal) : new Failure(answer.why);
  }

  #path(path: string): string {
    return `/projects/${encodeURIComponent(this.#command.project)}/${path}`;
  }

  #headers(): Record<string, string> {
    const { workspace } = this.#command;
    return workspace === null ? {} : { "X-Workspace-Id": workspace };
  }
}

function asFailure(refusal: Refusal): Failure {
  return new Failure(formatRefusal(refusal));
}

function itemsOf(data: Record<string, unknown> | null): Record<string, unknown>[] {
  return Array.isArray(data?.items) ? data.items.map((item) => record(item) ?? {}) : [];
}

function alertOf({ id, name, version, ...rest }: Record<string, unknown>): Alert | null {
  if (typeof id !== "string" || typeof name !== "string" || typeof version !== "number") return null;
  return { id, name, version, ...rest };
}

function planOf(answer: unknown): Plan {
  const data = record(answer);
  const changes = Array.isArray(data?.changes) ? data.changes : [];
  return {
    changes: changes.map((each): PlannedChange => {
      const change = record(each);
      const [before, after] = [record(change?.before), record(change?.after)];
      const kind = before === null ? "create" : after === null ? "delete" : "change";
      return { kind, name: String(change?.name), before, after };
    }),
    unchanged: Number(data?.unchanged ?? 0),
    others: Array.isArray(data?.others) ? data.others.map(String) : [],
    revision: typeof data?.revision === "string" ? data.revision : null,
  };
}
