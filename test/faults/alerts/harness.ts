import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type CheckedAlert, type CheckedDecision, checkAlert } from "../../../scripts/alerts/check.ts";
import type { StoredEntry } from "../../../src/logs/entry.ts";
import {
  type Account,
  type CallOptions,
  call,
  createKey,
  createProject,
  register,
  type SignedIn,
} from "../../support/api.ts";
import { Random } from "../random.ts";
import { bundleVariant, FaultServer, ServerKilled } from "../server.ts";
import { RECEIVERS, type ReceiverName, Receivers } from "./receivers.ts";
import { HARNESS_RULES } from "./rules.ts";

export interface AlertFaultOptions {
  commits: number;
  seed: number;
  report: (line: string) => void;
}

/** Commits of one order, and entries that may wait before the harness waits for the rules. */
const ORDER_COMMITS = 1000;
const MOST_BEHIND = 40_000;
/** One in so many orders is followed by a kill of the server, an end of the object, alarms. */
const KILL_ONE_IN = 8;
const END_ONE_IN = 6;
/** Milliseconds by which the clock moves on at the end, so that all windows end. */
const REST_MS = 30 * 60_000;
const SETTINGS = {
  ...{ AUTH_LIMIT: "1000000", LOG_LEVEL: "error", OUTBOUND_NETWORK: "loopback" },
  // Most entries are in the cold tier soon, by the clock that moves.
  ...{ RECENT_MAX_AGE_SECONDS: "600", RECENT_MAX_BYTES: "4000000" },
};
/** Rules that notify: of the others, decisions alone are checked. */
const NOTIFIED_RULES = 4;

type Rule = CheckedAlert & { id: string; name: string; position: { behind: number; seq: number; through: string } };
type Made = CheckedDecision & { id: string; reported: boolean };

/** Plays commits, kills, repeated alarms and changes of the version, and checks what was decided and delivered. */
export class AlertFaults {
  readonly figures: Record<string, number> = { commits: 0, kills: 0, "ended objects": 0, "alarms at once": 0 };
  readonly #server: FaultServer;
  readonly #receivers: Receivers;
  readonly #random: Random;
  readonly #report: (line: string) => void;
  #account: Account;
  #projectId = "";
  #secret = "";
  #offsetMs = 0;
  #version = 0;

  static async run({ commits, seed, report }: AlertFaultOptions): Promise<Record<string, number>> {
    const variants = ["worker.ts", "worker-b.ts"].map((file) => `test/faults/worker/alerts/${file}`);
    const [first = "", second = ""] = [await bundleVariant(variants[0]), await bundleVariant(variants[1])];
    const server = await FaultServer.startVersions([first, second], SETTINGS);
    const receivers = await Receivers.start();
    const faults = new AlertFaults(server, receivers, await register(server.url), seed, report);
    try {
      await faults.#begin();
      await faults.#play(commits);
      await faults.#settle();
      await faults.#check();
      return faults.figures;
    } catch (error) {
      report(server.output.slice(-20).join("\n"));
      throw error;
    } finally {
      receivers.stop();
      await server.stop();
    }
  }

  private constructor(
    server: FaultServer,
    receivers: Receivers,
    account: Account,
    seed: number,
    report: (line: string) => void,
  ) {
    this.#server = server;
    this.#receivers = receivers;
    this.#account = account;
    this.#random = new Random(seed);
    this.#report = report;
  }

  async #begin(): Promise<void> {
    const { url } = this.#server;
    this.#projectId = await createProject(url, this.#account);
    this.#secret = (await createKey(url, this.#account, this.#projectId)).secret;
    const destinations: string[] = [];
    for (const name of RECEIVERS) {
      const body = { kind: "webhook", name, url: this.#receivers.urlOf(name) };
      const path = `/workspaces/${this.#account.workspaceId}/destinations`;
      destinations.push((await this.#ask<{ id: string }>(path, { body })).id);
    }
    for (const [index, rule] of HARNESS_RULES.entries()) {
      const body = { ...rule, destinations: index < NOTIFIED_RULES ? destinations : [] };
      await this.#ask(`/projects/${this.#projectId}/alerts`, { body });
    }
  }

  async #play(commits: number): Promise<void> {
    const keyHash = createHash("sha256").update(this.#secret).digest("hex");
    const { workspaceId } = this.#account;
    const random = this.#random;
    while ((this.figures.commits ?? 0) < commits) {
      const count = Math.min(ORDER_COMMITS, commits - (this.figures.commits ?? 0));
      const seed = random.int(1, 2 ** 30);
      const order = { do: "commit", workspaceId, keyHash, count, seed } as const;
      const made = this.#server.order<number>(order).catch((error: unknown) => this.#lost(error));
      // While the commits are made, or between them.
      const isKilled = random.oneIn(KILL_ONE_IN);
      if (isKilled) await wait(random.int(0, 400));
      const offset = await (isKilled ? this.#kill(made) : made);
      if (offset !== null) this.#offsetMs = offset;
      this.#count("commits", count);
      if (random.oneIn(END_ONE_IN)) {
        await this.#server.order({ do: "end", workspaceId });
        this.#count("ended objects");
      }
      await this.#alarms(random.int(1, 2));
      await this.#waitFor(MOST_BEHIND);
      if ((this.figures.commits ?? 0) % 50_000 === 0) this.#report(`${this.figures.commits} commits`);
    }
  }

  /** @returns `null`: how far the commits have moved the clock is not known */
  async #kill(made: Promise<unknown>): Promise<null> {
    await this.#server.kill9();
    await made;
    this.#version = 1 - this.#version;
    await this.#server.restart(this.#version);
    this.#count("kills");
    // Later than any of the commits.
    this.#offsetMs += ORDER_COMMITS * 200;
    await this.#server.order({ do: "clock", offsetMs: this.#offsetMs });
    return null;
  }

  #lost(error: unknown): null {
    if (!(error instanceof ServerKilled)) throw error;
    return null;
  }

  async #alarms(times: number): Promise<void> {
    this.#count("alarms at once", times - 1);
    await this.#server.order({ do: "alarms", workspaceId: this.#account.workspaceId, times });
  }

  /** Waits until the rules have no more than so many entries left. */
  async #waitFor(behind: number): Promise<Rule[]> {
    for (let before = -1, waits = 0; ; waits++) {
      const { items } = await this.#ask<{ items: Rule[] }>(`/projects/${this.#projectId}/alerts`);
      const [first] = items;
      if (first === undefined || first.position.behind <= behind) return items;
      if (first.position.behind !== before) waits = 0;
      before = first.position.behind;
      if (waits > 300) throw new Error(`The rules stand still, ${before} entries behind.`);
      await wait(200);
      await this.#alarms(1);
    }
  }

  /** Lets all windows end, and all notifications arrive. */
  async #settle(): Promise<void> {
    await this.#waitFor(0);
    this.#offsetMs += REST_MS;
    await this.#server.order({ do: "clock", offsetMs: this.#offsetMs });
    for (let turns = 0; ; turns++) {
      await this.#alarms(2);
      await wait(1000);
      const pending = await this.#pending();
      if (turns % 20 === 19) this.#report(`${pending} deliveries are pending`);
      if (turns > 5 && pending === 0) return;
      // The delay between attempts passes by the clock.
      this.#offsetMs += 20_000;
      await this.#server.order({ do: "clock", offsetMs: this.#offsetMs });
    }
  }

  async #pending(): Promise<number> {
    const path = `/workspaces/${this.#account.workspaceId}/notifications?state=pending&limit=200`;
    return (await this.#ask<{ items: unknown[] }>(path)).items.length;
  }

  async #check(): Promise<void> {
    this.#report("checking");
    const entries = await this.#exported();
    this.#count("entries", entries.length);
    const problems = [...this.#receivers.bad];
    const reported = new Set<string>();
    for (const [index, { id, name }] of (await this.#waitFor(0)).entries()) {
      const path = `/projects/${this.#projectId}/alerts/${id}`;
      const alert = await this.#ask<Rule>(path);
      const decisions = await this.#decisionsOf(`${path}/decisions`);
      const { expected, ...differences } = checkAlert(alert, decisions, entries);
      this.#count("decisions", expected);
      this.#report(`${name}, ${alert.query}, ${alert.window}: ${expected} decisions`);
      for (const [kind, texts] of Object.entries(differences)) {
        this.#count(kind, texts.length);
        problems.push(...texts.slice(0, 5).map((text) => `${name} ${kind}: ${text}`));
      }
      if (index < NOTIFIED_RULES) for (const each of decisions) if (each.reported) reported.add(each.id);
    }
    for (const name of RECEIVERS) problems.push(...this.#undelivered(name, reported));
    this.#count("notifications", reported.size);
    if (problems.length > 0) throw new Error(problems.slice(0, 40).join("\n"));
  }

  /** Each notification must have arrived, always with the same content, and nothing else. */
  #undelivered(name: ReceiverName, reported: ReadonlySet<string>): string[] {
    const arrived = this.#receivers.arrived.get(name) ?? new Map<string, { attempts: number; contents: Set<string> }>();
    const problems = [...reported].filter((id) => !arrived.has(id)).map((id) => `${name} did not get ${id}`);
    for (const [id, { attempts, contents }] of arrived) {
      this.#count(`attempts at the ${name} receiver`, attempts);
      if (!reported.has(id)) problems.push(`${name} got ${id}, which was not decided`);
      if (contents.size !== 1) problems.push(`${name} got ${id} with ${contents.size} contents`);
    }
    return problems;
  }

  async #decisionsOf(path: string): Promise<Made[]> {
    const all: Made[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const page = await this.#ask<{ items: Made[]; nextCursor: string | null }>(`${path}?limit=200${query}`);
      all.push(...page.items);
      cursor = page.nextCursor;
    }
    return all;
  }

  async #exported(): Promise<StoredEntry[]> {
    const entries: StoredEntry[] = [];
    for (let after = 0; ; ) {
      const url = `${this.#server.url}/logger/${this.#projectId}/export?afterSeq=${after}`;
      const response = await fetch(url, { headers: { Authorization: `Bearer ${this.#secret}` } });
      if (response.status !== 200 || response.body === null) throw new Error(`The export answered ${response.status}.`);
      let isComplete = false;
      let rest = "";
      for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + part).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const value: Record<string, unknown> = JSON.parse(line);
          // SAFETY: lines with a `seq` are entries; the last one says how far the export has got.
          if ("seq" in value) entries.push(value as unknown as StoredEntry);
          else isComplete = Object(value.manifest).complete === true;
        }
      }
      const last = entries.at(-1)?.seq ?? 0;
      if (isComplete || last === after) return entries;
      after = last;
    }
  }

  async #ask<Data>(path: string, options: CallOptions = {}): Promise<Data> {
    const { workspaceId } = this.#account;
    const ask = () => call<Data>(this.#server.url, path, { token: this.#account.accessToken, workspaceId, ...options });
    let answer = await ask();
    if (answer.status === 401) {
      // The clock has passed the end of the access token.
      const { email, password } = this.#account;
      const { body } = await call<SignedIn>(this.#server.url, "/auth/login", { body: { email, password } });
      this.#account = { ...this.#account, accessToken: body.data.accessToken };
      answer = await ask();
    }
    if (answer.status >= 400) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  }

  #count(name: string, more = 1): void {
    this.figures[name] = (this.figures[name] ?? 0) + more;
  }
}
