import type { LimitConfiguration, LimitRule } from "../../../src/limits/cascade.ts";
import type { RouteRef } from "../../../src/limits/state.ts";
import { LimitModel } from "./model.ts";

const PRESET = { limit: 1000, windowSeconds: 60 };

/** The part of a verdict that a client sees. */
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
  /** The counter's name in this model, deliberately unlike the service's. */
  counter: string;
  rule: string;
}

/** A direct implementation of the contract: a linear search of the rules, and a list of all admissions. */
export class CascadeModel {
  readonly #log = new LimitModel();
  configuration: LimitConfiguration = { default: null, rules: [] };
  /** Identifiers and counters of all admissions, in order. */
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

  /** Counters with admissions under the current rules. */
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

  /** Advances the clock without any other effect. */
  tick(wall: number): void {
    this.#log.check({ identifier: "clock", limit: 1, windowSeconds: 1, cost: 0 }, wall);
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
