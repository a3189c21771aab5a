import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Client } from "undici";
import { z } from "zod";
import type { WorkerSource } from "../../scripts/lib/runtime.ts";
import { newSecrets } from "../../scripts/lib/secrets.ts";
import { catalogBytes } from "../disk.ts";
import { send } from "../load/requests.ts";
import { commitOfSources } from "../machine.ts";
import type { BenchServer, Workshop } from "../servers.ts";
import { newTenant } from "../tenant.ts";
import { Driver, HOUR_MS, MINUTE_MS, storedSchema } from "./driver.ts";
import { linesOf } from "./entries.ts";

/**
 * Stored entries to query, as a service has them after a day: sent through ingest, flushed and merged, with the newest ones
 * in the recent tier. They are made once and kept in a directory; servers run on copies of it.
 */

/** The clock begins in the past, because compaction and cleanup wait for minutes and hours of it. */
const CLOCK_LEAD_MS = 8 * HOUR_MS;
/** Entries stay in the recent tier for a day. A state is used only for a part of it. */
const MAX_AGE_MS = 10 * HOUR_MS;
/**
 * Entries of a request: nearly the largest one that ingest accepts. A multiple of the largest range of a flush would leave no entry in
 * the recent tier.
 */
const REQUEST_ENTRIES = 19_500;
/** Entries between two flushes. */
const FLUSH_ENTRIES = 200_000;
/** Stored bytes of an entry in the recent tier, and the largest share of all entries there. */
const RECENT_ENTRY_BYTES = 48;
const RECENT_SHARE = 0.1;
/** The default of `RECENT_MAX_BYTES`. */
const RECENT_BYTES = 16_777_216;
/** The default of `RECENT_FULL_AGE_SECONDS`. */
const FULL_RANGE_MS = 30_000;
/** Reports while a state is made. */
const REPORTS = 5;

/** How entries are stored. */
export interface Recipe {
  name: string;
  entries: number;
  /** Entries of a request, and entries after which everything is flushed that is due. */
  requestEntries: number;
  flushEntries: number;
  recentBytes: number;
  isMerged: boolean;
}

/** A day of entries, as large requests of a busy day would leave them. */
export function dayRecipe(entries: number): Recipe {
  const recentBytes = Math.max(10_000, Math.min(RECENT_BYTES, entries * RECENT_ENTRY_BYTES * RECENT_SHARE));
  const flushEntries = Math.min(FLUSH_ENTRIES, Math.ceil(entries / 10));
  return {
    name: `day-${entries}`,
    entries,
    requestEntries: Math.min(REQUEST_ENTRIES, flushEntries),
    flushEntries,
    recentBytes: Math.floor(recentBytes),
    isMerged: true,
  };
}

/** Files of some thousand entries that are not merged. */
export function filesRecipe(files: number): Recipe {
  const perFile = 1500;
  return {
    name: `files-${files}`,
    entries: files * perFile,
    requestEntries: perFile,
    flushEntries: perFile,
    recentBytes: 10_000,
    isMerged: false,
  };
}

const stateSchema = z.object({
  data: z.object({ entries: z.int(), start: z.number(), end: z.number() }),
  workspaceId: z.string(),
  projectId: z.string(),
  key: z.string(),
  settings: z.record(z.string(), z.string()),
  madeAt: z.number(),
  /** Commit of the sources that stored the entries. */
  commit: z.string().nullable(),
  /** Bytes of the cold tier when everything had been merged, D1 with pages and indexes. */
  stored: storedSchema.extend({ catalogBytes: z.number() }),
  /** CPU microseconds of the service for an entry; `null` without `/proc`. */
  cpu: z.object({ ingest: z.number().nullable(), flush: z.number().nullable(), compaction: z.number().nullable() }),
});

export type TargetState = z.infer<typeof stateSchema>;

/** Directories of stored entries, by recipe. */
export class States {
  readonly #workshop: Workshop;
  readonly #root: string;
  readonly #report: (line: string) => void;
  #worker: WorkerSource | null = null;

  /** @param root directory that keeps states; `null` keeps none after this process */
  constructor(workshop: Workshop, root: string | null, report: (line: string) => void) {
    this.#workshop = workshop;
    this.#root = root ?? workshop.newDataDir();
    this.#report = report;
  }

  /** Directory for the data of another server with the same entries. */
  beside(recipe: Recipe, name: string): string {
    const directory = path.join(this.#root, `${recipe.name}-${name}`);
    mkdirSync(directory, { recursive: true });
    return directory;
  }

  /** Returns the state of a recipe, and makes it if there is none of the last hours. */
  async get(recipe: Recipe): Promise<TargetState> {
    const known = this.#read(recipe);
    if (known !== null) return known;
    const directory = path.join(this.#root, recipe.name);
    const partial = `${directory}.partial`;
    for (const old of [directory, partial]) rmSync(old, { recursive: true, force: true });
    // Entries of other servers are of the same day.
    rmSync(path.join(this.#root, `${recipe.name}-victorialogs`), { recursive: true, force: true });
    mkdirSync(partial, { recursive: true });
    const state = await this.#make(recipe, partial);
    writeFileSync(path.join(partial, "state.json"), JSON.stringify(state));
    renameSync(partial, directory);
    return state;
  }

  #read({ name }: Recipe): TargetState | null {
    const file = path.join(this.#root, name, "state.json");
    if (!existsSync(file)) return null;
    const state = stateSchema.parse(JSON.parse(readFileSync(file, "utf8")));
    return Date.now() - state.madeAt > MAX_AGE_MS ? null : state;
  }

  /** Starts the service, as `npm start` serves it, on a copy of a state. */
  async serve(recipe: Recipe): Promise<BenchServer> {
    const { settings } = await this.get(recipe);
    return this.#workshop.startService(undefined, settings, this.#copy(recipe));
  }

  /** The same with the clock and the counters of `bench/workers/driven.ts`. */
  async serveDriven(recipe: Recipe): Promise<BenchServer> {
    const { settings } = await this.get(recipe);
    return this.#workshop.startService(await this.#driven(), settings, this.#copy(recipe));
  }

  #copy({ name }: Recipe): string {
    const directory = this.#workshop.newDataDir();
    cpSync(path.join(this.#root, name), directory, { recursive: true });
    return directory;
  }

  async #driven(): Promise<WorkerSource> {
    this.#worker ??= await this.#workshop.bundle("driven", "service");
    return this.#worker;
  }

  async #make(recipe: Recipe, directory: string): Promise<TargetState> {
    const { entries, requestEntries, flushEntries, recentBytes, isMerged } = recipe;
    const settings = {
      ...newSecrets(),
      RECENT_MAX_BYTES: String(recentBytes),
      RECENT_MAX_AGE_SECONDS: "86400",
    };
    const server = await this.#workshop.startService(await this.#driven(), settings, directory);
    const madeAt = Date.now();
    const end = madeAt - CLOCK_LEAD_MS - MINUTE_MS;
    const data = { entries, start: end - 24 * HOUR_MS, end };
    // By the real clock, which D1 compares with registrations.
    const { workspaceId, projects } = await newTenant(server.url, 1);
    const [{ id: projectId, key } = { id: "", key: "" }] = projects;
    const driver = new Driver(server, workspaceId);
    await driver.waiting(-CLOCK_LEAD_MS);
    const cpu = { ingest: 0, flush: 0, compaction: 0 };
    const client = new Client(server.url);
    let next = linesOf(data, 0, Math.min(requestEntries, entries));
    for (let sent = 0; sent < entries; ) {
      const until = Math.min(entries, sent + flushEntries);
      const before = driver.cpu();
      while (sent < until) {
        const body = next;
        const count = Math.min(requestEntries, entries - sent);
        const sending = send(client, {
          path: `/logger/${projectId}/log`,
          headers: { "content-type": "application/x-ndjson", authorization: `Bearer ${key}` },
          body,
          expectedStatus: 201,
        });
        sent += count;
        // While the service stores the request.
        next = linesOf(data, sent, Math.min(requestEntries, entries - sent));
        const failure = await sending;
        if (failure !== null) throw new Error(`Entries before ${sent} were not stored: ${failure}`);
      }
      const ingested = driver.cpu();
      await driver.flush();
      cpu.ingest += ingested - before;
      cpu.flush += driver.cpu() - ingested;
      if (Math.floor((sent * REPORTS) / entries) > Math.floor(((until - flushEntries) * REPORTS) / entries)) {
        this.#report(`${recipe.name}: ${sent} of ${entries} entries are stored`);
      }
    }
    await client.close();
    // Full ranges do not stay.
    await driver.waiting(FULL_RANGE_MS);
    await driver.flush();
    const { recent, flushed } = await driver.waiting();
    if (recent + flushed !== entries) throw new Error(`${recent + flushed} of ${entries} entries are stored.`);
    const beforeMerges = driver.cpu();
    if (isMerged) {
      await driver.compact();
      cpu.compaction = driver.cpu() - beforeMerges;
      await driver.clean();
    }
    const stored = await driver.stored();
    if (stored.entries !== flushed) throw new Error(`The catalog has ${stored.entries} of ${flushed} flushed entries.`);
    await server.stop("keep");
    const perEntry = (micros: number, count: number) => (Number.isNaN(micros) || count === 0 ? null : micros / count);
    return {
      data,
      workspaceId,
      projectId,
      key,
      settings,
      madeAt,
      commit: commitOfSources(),
      stored: { ...stored, catalogBytes: catalogBytes(directory) },
      cpu: {
        ingest: perEntry(cpu.ingest, entries),
        flush: perEntry(cpu.flush, flushed),
        compaction: isMerged ? perEntry(cpu.compaction, flushed) : null,
      },
    };
  }
}
