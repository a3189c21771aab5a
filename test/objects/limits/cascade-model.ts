import type { LimitConfiguration, LimitRule } from "../../../src/limits/cascade.ts";
import type { RouteRef } from "../../../src/limits/state.ts";
import { LimitModel } from "./model.ts";

const PRESET = { limit: 1000, windowSeconds: 60 };

/** What a client sees of a verdict. */
export interface Verdict {
  admitted: boolean;
  headers: Record<string, string>;
}

export interface LiveRow {
  identifier: string;
  rule: string;
  limit: number;
  remaining: number;
  resetAt: number;
}

interface Applied {
  limit: number;
  windowSeconds: number;
  /** What the counter is called here: nothing like the name that the service gives it. */
  counter: string;
  rule: string;
}

/** The plain meaning of the contract: rules looked through one by one, and a list of everything ever admitted. */
export class CascadeModel {
  readonly #log = new LimitModel();
  configuration: LimitConfiguration = { default: null, rules: [] };
  /** Everybody who has been admitted to anything, in order. */
  readonly #seen: { identifier: string; counter: string }[] = [];

  request(identifier: string, route: RouteRef, wall: number): Verdict {
    const { limit, windowSeconds, counter } = this.#applied(route);
    const state = this.#log.check({ identifier: `${identifier}|${counter}`, limit, windowSeconds, cost: 1 }, wall);
    const headers: Record<string, string> = {
      "X-RateLimit-Limit": `${limit}`,
      "X-RateLimit-Remaining": `${state.remaining}`,
      "X-RateLimit-Reset": `${Math.ceil(state.resetAt / 1000)}`,
    };
    if (!state.admitted) headers["Retry-After"] = `${Math.max(1, Math.ceil(state.retryAfter / 1000))}`;
    const isNew = !this.#seen.some((one) => one.identifier === identifier && one.counter === counter);
    if (state.admitted && isNew) this.#seen.push({ identifier, counter });
    return { admitted: state.admitted, headers };
  }

  /** Counters that hold something under the rules there are now. */
  live(wall: number): LiveRow[] {
    const { configuration } = this;
    const settings = configuration.default ? [{ ...PRESET, counter: "settings", rule: "API_DEFAULT" }] : [];
    const named = [...configuration.rules.map(ofRule), ...settings, this.#rest()];
    return this.#seen.flatMap(({ identifier, counter }) => {
      const applied = named.find((one) => one.counter === counter);
      if (!applied) return [];
      const { rule, limit, windowSeconds } = applied;
      const asked = { identifier: `${identifier}|${counter}`, limit, windowSeconds, cost: 0 };
      const { remaining, resetAt } = this.#log.check(asked, wall);
      return remaining < limit ? [{ identifier, rule, limit, remaining, resetAt }] : [];
    });
  }

  /** The clock is looked at, and nothing else. */
  tick(wall: number): void {
    this.#log.check({ identifier: "nobody", limit: 1, windowSeconds: 1, cost: 0 }, wall);
  }

  sweep(wall: number): void {
    this.#log.sweep(wall);
  }

  restart(): void {
    this.#log.restart();
  }

  #applied(route: RouteRef): Applied {
    const { configuration } = this;
    if (isSamePattern(route.pattern, "/workspaces/:id/rate-limits")) {
      return configuration.default ? { ...PRESET, counter: "settings", rule: "API_DEFAULT" } : this.#rest();
    }
    for (const method of [route.method, "*"]) {
      for (const matches of [
        (rule: LimitRule) => rule.path === route.path,
        (rule: LimitRule) => isSamePattern(rule.path, route.pattern),
      ]) {
        const rule = configuration.rules.find((one) => one.method === method && matches(one));
        if (rule) return ofRule(rule);
      }
    }
    return this.#rest();
  }

  #rest(): Applied {
    const { default: own } = this.configuration;
    return own ? { ...own, counter: "rest", rule: "default" } : { ...PRESET, counter: "rest", rule: "API_DEFAULT" };
  }
}

function ofRule({ method, path, limit, windowSeconds }: LimitRule): Applied {
  const nameless = path.split("/").map((part) => (part.startsWith(":") ? ":" : part));
  return { limit, windowSeconds, counter: `${method} ${nameless.join("/")}`, rule: `${method} ${path}` };
}

function isSamePattern(one: string, other: string): boolean {
  const [a, b] = [one.split("/"), other.split("/")];
  return (
    a.length === b.length && a.every((part, at) => (part.startsWith(":") ? b[at]?.startsWith(":") : part === b[at]))
  );
}
