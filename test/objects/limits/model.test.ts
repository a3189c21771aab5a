import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { limitHeaders } from "../../../src/http/headers.ts";
import type { LimitConfiguration } from "../../../src/limits/cascade.ts";
import type { RouteRef } from "../../../src/limits/state.ts";
import { runHousekeeping } from "../../../src/objects/workspace/cleanup.ts";
import { admit } from "../../../src/workspace/admission.ts";
import { liveCounters } from "../../../src/workspace/live-counters.ts";
import type { Caller } from "../../../src/workspace/permissions.ts";
import { writeLimits } from "../../../src/workspace/settings.ts";
import { WorkspaceState } from "../../../src/workspace/state.ts";
import { bearer } from "../accounts/support.ts";
import { addKey, addProject, newTenant, type Tenant, workspace } from "../ingest/support.ts";
import { CascadeModel, type Verdict } from "./cascade-model.ts";
import { type CALLERS, history, projectPlace, type REQUESTS, type Step } from "./histories.ts";

/** Total number of histories: a few hundred unless `npm run test:model` sets more. */
const RUNS = Number(env.MODEL_RUNS);
/** Histories in one turn of the object. */
const CHUNK = 250;

const START = 1_795_000_000_000;
const FAR_AHEAD = Date.now() + 365 * 24 * 3_600_000;
const NEED = { scope: null, role: "viewer", projectId: null } as const;

interface TestKey {
  keyId: string;
  secret: string;
  hash: string;
}

/** A workspace with two projects and a key each, and the names that histories use for them. */
class World {
  readonly tenant: Tenant;
  readonly #projects: readonly [string, string];
  readonly #keys: readonly TestKey[];

  constructor(tenant: Tenant, projects: readonly [string, string], keys: readonly TestKey[]) {
    this.tenant = tenant;
    this.#projects = projects;
    this.#keys = keys;
  }

  static async make(): Promise<World> {
    const tenant = await newTenant();
    const other = await addProject(tenant);
    const second = await addKey({ ...tenant, projectId: other });
    const rows = await runInDurableObject(workspace(tenant.workspaceId), (_, { storage }) =>
      storage.sql.exec<{ id: string; hash: string }>("SELECT id, hash FROM keys").toArray(),
    );
    const keys = [tenant, second].map(({ keyId, secret }) => {
      return { keyId, secret, hash: rows.find(({ id }) => id === keyId)?.hash ?? "" };
    });
    return new World(tenant, [tenant.projectId, other], keys);
  }

  /** A caller as the object identifies it, and the identifier of its counters. */
  caller(name: (typeof CALLERS)[number]): { caller: Caller; identifier: string; secret: string } {
    if (name === "user") {
      const userId = this.tenant.ownerId;
      return { caller: { kind: "user", userId }, identifier: `user:${userId}`, secret: "" };
    }
    const key = this.#keys[name === "key 0" ? 0 : 1];
    if (!key) throw new Error("There are two keys.");
    return { caller: { kind: "key", hash: key.hash }, identifier: `key:${key.keyId}`, secret: key.secret };
  }

  route({ method, pattern, project }: (typeof REQUESTS)[number]): RouteRef {
    const ids = [project === null ? this.tenant.workspaceId : this.#projects[project], "log_1"];
    return { method, pattern, path: pattern.replace(/:\w+/g, () => ids.shift() ?? "") };
  }

  /** Replaces the placeholders of rules by the workspace's ids. */
  configuration({ default: rest, rules }: LimitConfiguration): LimitConfiguration {
    const named = (path: string) =>
      path.replace(projectPlace(0), this.#projects[0]).replace(projectPlace(1), this.#projects[1]);
    // Copies the value, because fast-check creates objects without a prototype, which RPC does not accept.
    return { default: rest && { ...rest }, rules: rules.map((rule) => ({ ...rule, path: named(rule.path) })) };
  }
}

describe("the limits of a workspace", () => {
  it("match a plain model of cascade and window", { timeout: 1_800_000 }, async () => {
    const world = await World.make();
    const seen = { admitted: 0, refused: 0, live: 0 };
    for (let done = 0; done < RUNS; done += CHUNK) {
      await runInDurableObject(workspace(world.tenant.workspaceId), (_, { storage }) => {
        fc.assert(
          fc.property(history(12), (steps) => play(steps, world, storage, seen)),
          { numRuns: Math.min(CHUNK, RUNS - done) },
        );
      });
    }
    console.log(`${RUNS} histories: ${seen.admitted} admitted, ${seen.refused} refused, ${seen.live} counters shown`);
    expect(seen.admitted).toBeGreaterThan(RUNS);
    expect(seen.refused).toBeGreaterThan(RUNS);
    expect(seen.live).toBeGreaterThan(RUNS);
  });

  it("match the model through the worker too, with real evictions", { timeout: 300_000 }, async () => {
    // Only the date is mocked. The runtime's own timers continue.
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      await fc.assert(
        fc.asyncProperty(history(6), async (steps) => playOverHttp(steps, await World.make())),
        { numRuns: Math.max(10, Math.round(RUNS / 50)) },
      );
    } finally {
      vi.useRealTimers();
    }
  });
});

/** Plays one history on the object's modules in one turn, beginning without counts and settings. */
function play(
  steps: readonly Step[],
  world: World,
  storage: DurableObjectStorage,
  seen: { admitted: number; refused: number; live: number },
): void {
  const { sql } = storage;
  for (const table of ["rate_seconds", "rate_counters", "violations"]) sql.exec(`DELETE FROM ${table}`);
  // Keeps the object's alarm, which uses the real clock, out of the history.
  const quiet = {
    sql,
    transactionSync: <T>(work: () => T) => storage.transactionSync(work),
    getAlarm: async () => null,
    setAlarm: async () => {},
  };
  const model = new CascadeModel();
  let state = new WorkspaceState(quiet);
  let wall = START;
  for (const step of steps) {
    if (step.do === "request") {
      const { caller, identifier } = world.caller(step.caller);
      const route = world.route(step.request);
      const verdict = state.transaction((gate) => admit(gate, caller, NEED, { by: "route", route }, wall));
      if (!verdict?.limit) throw new Error("Everybody here is known.");
      const { limit } = verdict;
      const shown: Verdict = { admitted: verdict.ok, headers: limitHeaders(limit) };
      expect(shown).toEqual(model.request(identifier, route, wall));
      seen[verdict.ok ? "admitted" : "refused"]++;
    } else if (step.do === "configure") {
      const configuration = world.configuration(step.configuration);
      state.transaction((gate) => writeLimits(gate.sql, configuration));
      state.invalidateSettings();
      model.configuration = configuration;
    } else if (step.do === "pass") wall += step.ms;
    else if (step.do === "evict") {
      state = new WorkspaceState(quiet);
      model.restart();
    } else if (step.do === "sweep") {
      state.transaction((gate) => runHousekeeping(gate.sql, state.limiter, null, wall));
      model.sweep(wall);
    } else {
      const live = state.transaction((gate) => liveCounters(gate, wall)) ?? [];
      model.tick(wall);
      expect(sorted(live)).toEqual(sorted(model.live(wall)));
      seen.live += live.length;
    }
  }
}

function sorted<T extends { identifier: string; rule: string }>(rows: readonly T[]): T[] {
  return rows.toSorted((a, b) => `${a.identifier} ${a.rule}`.localeCompare(`${b.identifier} ${b.rule}`));
}

/** Plays one history through the worker, with keys. Sets limits by RPC, because access tokens depend on the clock. */
async function playOverHttp(steps: readonly Step[], world: World): Promise<void> {
  const { workspaceId, ownerId } = world.tenant;
  const model = new CascadeModel();
  // Far ahead of the runtime's clock, so that no alarm of the object runs.
  let wall = FAR_AHEAD;
  let isAwake = true;
  vi.setSystemTime(wall);
  for (const step of steps) {
    if (step.do === "request") {
      if (step.caller === "user" || step.request.pattern.startsWith("/projects")) continue;
      if (step.request.name === "settings" || step.request.name === "context") continue;
      const { identifier, secret } = world.caller(step.caller);
      const route = world.route(step.request);
      const request = new Request(`http://taffrail.test${route.path}`, {
        method: route.method,
        headers: { ...bearer(secret), "Content-Type": "application/json" },
        body: step.request.name === "query" ? "{}" : '{"message":"m"}',
      });
      isAwake = true;
      const response = await exports.default.fetch(request);
      await response.text();
      const expected = model.request(identifier, route, wall);
      const headers = Object.fromEntries(
        [...response.headers].flatMap(([name, value]) => (/ratelimit|retry/.test(name) ? [[name, value]] : [])),
      );
      const wanted = Object.entries(expected.headers).map(([name, value]) => [name.toLowerCase(), value]);
      expect({ refused: response.status === 429, headers }).toEqual({
        refused: !expected.admitted,
        headers: Object.fromEntries(wanted),
      });
    } else if (step.do === "configure") {
      const configuration = world.configuration(step.configuration);
      isAwake = true;
      await workspace(workspaceId).setLimits(ownerId, configuration);
      model.configuration = configuration;
    } else if (step.do === "pass") {
      wall += step.ms;
      vi.setSystemTime(wall);
    } else if (step.do === "evict" && isAwake) {
      isAwake = false;
      await evictDurableObject(workspace(workspaceId));
      model.restart();
    }
  }
}
