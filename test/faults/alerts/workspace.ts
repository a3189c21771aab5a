import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { CheckedAlert, CheckedDecision } from "../../../scripts/alerts/check.ts";
import { type Account, type CallOptions, call, createKey, createProject, type SignedIn } from "../../support/api.ts";
import { temporaryDir } from "../../support/server.ts";
import type { Random } from "../random.ts";
import { ServerKilled } from "../server.ts";
import type { Evidence } from "./evidence.ts";
import { RECEIVERS, type ReceiverName } from "./receivers.ts";
import { HARNESS_RULES } from "./rules.ts";
import type { Stage } from "./stage.ts";

/** Commits of one order, and entries that may wait before the harness waits for the rules. */
const ORDER_COMMITS = 1000;
const MOST_BEHIND = 40_000;
const REPORTED_COMMITS = 10_000;
/** One in so many orders is followed by a kill of the server, an end of the object, alarms. */
const KILL_ONE_IN = 8;
const END_ONE_IN = 6;
/** Milliseconds by which the clock moves on at the end, so that all windows end. */
const REST_MS = 30 * 60_000;
/** Milliseconds of the clock, and of the machine, between two looks at pending deliveries. */
const DELIVERY_MS = 60_000;
const DELIVERY_WAIT_MS = 300;
/** Turns in which everything must have been delivered. */
const DELIVERY_TURNS = 3000;
/** Rules that notify: of the others, decisions alone are checked. */
const NOTIFIED_RULES = 4;

type Rule = CheckedAlert & { id: string; name: string; position: { behind: number; seq: number; through: string } };
type Made = CheckedDecision & { id: string; reported: boolean };

/** One workspace with fifty rules: plays commits, kills, repeated alarms and changes of the version. */
export class WorkspaceRun {
  readonly #stage: Stage;
  readonly #random: Random;
  #account: Account;
  #projectId = "";
  #secret = "";
  #made = 0;

  constructor(stage: Stage, account: Account, random: Random) {
    this.#stage = stage;
    this.#account = account;
    this.#random = random;
  }

  /** Plays so many commits, and returns what they have led to. */
  async play(commits: number): Promise<Evidence> {
    const { server, versions } = this.#stage;
    this.#projectId = await createProject(server.url, this.#account);
    this.#secret = (await createKey(server.url, this.#account, this.#projectId)).secret;
    // Entries of a version without alerts, which its rules do not count.
    while (!versions.hasAlerts) {
      await this.#commit(Math.min(ORDER_COMMITS, commits - this.#made));
      await versions.killAndChange();
    }
    await this.#createRules();
    while (this.#made < commits) await this.#turn(Math.min(ORDER_COMMITS, commits - this.#made));
    while (!versions.hasAlerts) await versions.killAndChange();
    await this.#settle();
    const evidence = await this.#evidence();
    await this.#ask(`/projects/${this.#projectId}`, { method: "DELETE" });
    return evidence;
  }

  async #createRules(): Promise<void> {
    const destinations: string[] = [];
    for (const name of RECEIVERS) {
      const body = { kind: "webhook", name, url: this.#stage.receivers.urlOf(name) };
      const path = `/workspaces/${this.#account.workspaceId}/destinations`;
      destinations.push((await this.#ask<{ id: string }>(path, { body })).id);
    }
    for (const [index, rule] of HARNESS_RULES.entries()) {
      const body = { ...rule, destinations: index < NOTIFIED_RULES ? destinations : [] };
      await this.#ask(`/projects/${this.#projectId}/alerts`, { body });
    }
  }

  async #turn(count: number): Promise<void> {
    const { server, versions, note } = this.#stage;
    const random = this.#random;
    const { workspaceId } = this.#account;
    const made = this.#commit(count);
    // While the commits are made, or between them. A version without alerts does not stay for long.
    if (random.oneIn(versions.hasAlerts ? KILL_ONE_IN : 2)) {
      await wait(random.int(0, 400));
      await versions.killAndChange();
    }
    await made;
    if (random.oneIn(END_ONE_IN)) {
      await server.order({ do: "end", workspaceId });
      note("ended objects");
    }
    await this.#alarms(random.int(1, 2));
    if (versions.hasAlerts) await this.#waitFor(MOST_BEHIND);
  }

  /** Orders commits. Those that the server has not made when it is killed are lost. */
  async #commit(count: number): Promise<void> {
    const { server, clock, note } = this.#stage;
    const keyHash = createHash("sha256").update(this.#secret).digest("hex");
    const { workspaceId } = this.#account;
    const order = { do: "commit", workspaceId, keyHash, count, seed: this.#random.int(1, 2 ** 30) } as const;
    this.#made += count;
    note("ordered commits", count);
    if (this.#made % REPORTED_COMMITS === 0) this.#stage.report(`${this.#made} commits of the workspace are ordered`);
    try {
      clock.took(await server.order<number>(order));
    } catch (error) {
      if (!(error instanceof ServerKilled)) throw error;
    }
  }

  async #alarms(times: number): Promise<void> {
    this.#stage.note("alarms at once", times - 1);
    await this.#stage.server.order({ do: "alarms", workspaceId: this.#account.workspaceId, times });
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
    const { clock, report } = this.#stage;
    await this.#waitFor(0);
    await clock.forward(REST_MS);
    for (let turns = 0; turns < DELIVERY_TURNS; turns++) {
      await this.#alarms(2);
      await wait(DELIVERY_WAIT_MS);
      const pending = await this.#pending();
      if (turns % 100 === 99) report(`${pending} deliveries are pending`);
      if (turns > 5 && pending === 0) return;
      // The delay between attempts passes by the clock.
      await clock.forward(DELIVERY_MS);
    }
    throw new Error("Deliveries stay pending.");
  }

  async #pending(): Promise<number> {
    const path = `/workspaces/${this.#account.workspaceId}/notifications?state=pending&limit=200`;
    return (await this.#ask<{ items: unknown[] }>(path)).items.length;
  }

  /** Reads decisions and entries, and compares what was decided with what has arrived. */
  async #evidence(): Promise<Evidence> {
    const alerts: Evidence["alerts"] = [];
    const reported = new Set<string>();
    for (const [index, { id, name }] of (await this.#waitFor(0)).entries()) {
      const path = `/projects/${this.#projectId}/alerts/${id}`;
      const alert = await this.#ask<Rule>(path);
      const decisions = await this.#decisionsOf(`${path}/decisions`);
      alerts.push({ name, alert, decisions });
      if (index < NOTIFIED_RULES) for (const each of decisions) if (each.reported) reported.add(each.id);
    }
    for (const name of RECEIVERS) this.#compareArrived(name, reported);
    this.#stage.receivers.forget();
    this.#stage.note("notifications", reported.size);
    return { exports: await this.#export(), alerts };
  }

  /** Each notification must have arrived, always with the same content, and nothing else. */
  #compareArrived(name: ReceiverName, reported: ReadonlySet<string>): void {
    const { receivers, problems, note } = this.#stage;
    const arrived = receivers.arrived.get(name) ?? new Map<string, { attempts: number; contents: Set<string> }>();
    for (const id of reported) if (!arrived.has(id)) problems.push(`${name} did not get ${id}`);
    for (const [id, { attempts, contents }] of arrived) {
      note(`attempts at the ${name} receiver`, attempts);
      if (!reported.has(id)) problems.push(`${name} got ${id}, which was not decided`);
      if (contents.size !== 1) problems.push(`${name} got ${id} with ${contents.size} contents`);
    }
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

  /** @returns the files of the export */
  async #export(): Promise<string[]> {
    const { url } = this.#stage.server;
    const directory = temporaryDir();
    const files: string[] = [];
    for (let after = 0; ; ) {
      const from = `${url}/logger/${this.#projectId}/export?afterSeq=${after}`;
      const response = await fetch(from, { headers: { Authorization: `Bearer ${this.#secret}` } });
      if (response.status !== 200 || response.body === null) throw new Error(`The export answered ${response.status}.`);
      const file = path.join(directory, `${files.length}.ndjson`);
      let end = "";
      // SAFETY: the stream types of Node and of the platform are the same streams.
      const body = Readable.fromWeb(response.body as never);
      body.on("data", (part: Buffer) => {
        end = (end + part.toString("latin1")).slice(-TAIL_CHARACTERS);
      });
      await pipeline(body, createWriteStream(file));
      files.push(file);
      // SAFETY: the last line of an export is its manifest.
      const { manifest } = JSON.parse(end.trimEnd().split("\n").at(-1) ?? "") as { manifest: Manifest };
      if (manifest.complete || manifest.through <= after) return files;
      after = manifest.through;
    }
  }

  async #ask<Data>(path: string, options: CallOptions = {}): Promise<Data> {
    const { workspaceId } = this.#account;
    const { url } = this.#stage.server;
    const ask = () => call<Data>(url, path, { token: this.#account.accessToken, workspaceId, ...options });
    let answer = await ask();
    if (answer.status === 401) {
      // The clock has passed the end of the access token.
      const { email, password } = this.#account;
      const { body } = await call<SignedIn>(url, "/auth/login", { body: { email, password } });
      this.#account = { ...this.#account, accessToken: body.data.accessToken };
      answer = await ask();
    }
    if (answer.status >= 400) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  }
}

/** Characters of an export's end, which have its manifest. */
const TAIL_CHARACTERS = 64 * 1024;

interface Manifest {
  complete: boolean;
  through: number;
}
