import { noop } from "./level-switch.ts";
import { ALIASES, FOREIGN, LEVELS } from "./levels.ts";
import type { LogLevel, LogMethod } from "./types.ts";

/** Members that the language and tools read from any object. They are not categories. */
const PROBES = /^(?:then|catch|toJSON|inspect|nodeType|tagName|asymmetricMatch|length|prototype|[_$@].*)$/;
interface Scoped {
  category(category: string, type: string): object;
}

/**
 * Creates a prototype that provides scopes like `logger.http` and `logger.billing`. A scope becomes an own member of
 * the logger at first use, so that its next use is fast.
 *
 * @param isBuiltIn whether a category's types have hyphens, and their members are in camel case
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
      // A disabled level may be enabled later.
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

/** Defines a member that is not enumerable, unlike the members that a logger is created with. */
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
