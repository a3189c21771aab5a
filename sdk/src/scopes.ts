import { noop } from "./gate.ts";
import { ALIASES, FOREIGN, LEVELS } from "./levels.ts";
import type { LogLevel, LogMethod } from "./types.ts";

/** Members that others ask any object for, to find out what it is; they are no categories. */
const PROBES = /^(?:then|catch|toJSON|inspect|nodeType|tagName|asymmetricMatch|length|prototype|[_$@].*)$/;
interface Scoped {
  category(category: string, type: string): object;
}

/**
 * A prototype that answers for members a logger does not have: `logger.http`, `logger.billing`. Behind the logger's own
 * members, so that those are as fast as on any object; what it makes becomes an own member.
 *
 * @param isBuiltIn tells categories whose types are written with hyphens, and in camel case as members
 */
export function scopePrototype(isBuiltIn: (category: string) => boolean): object {
  return answering((category, logger) => {
    if (FOREIGN.test(category)) return undefined;
    const level = ALIASES[category];
    const value = answering((name, scope) => {
      const type = isBuiltIn(category) ? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : name;
      const level = LEVELS.find((one) => one === type) ?? "info";
      const placed = logger.category(category, type);
      const method = Reflect.get(placed, level);
      // A level that is closed may open.
      return own(scope, name, method === noop ? forwarding(placed, level) : method);
    }, level && Function.prototype);
    return own(
      logger,
      category,
      level ? Object.setPrototypeOf(forwarding(logger, level), value) : Object.create(value),
    );
  });
}

function forwarding(logger: object, level: LogLevel): LogMethod {
  return (...args) => Reflect.get(logger, level)(...args);
}

/** Not enumerable, as opposed to what a logger has from the start. */
function own<T>(object: object, name: string, value: T): T {
  Object.defineProperty(object, name, { value, configurable: true });
  return value;
}

function answering(answer: (name: string, asked: Scoped) => unknown, target: object = {}): object {
  return new Proxy(target, {
    get: (target, name, asked) =>
      typeof name !== "string" || name in target || PROBES.test(name) ? Reflect.get(target, name) : answer(name, asked),
  });
}
