import { CATEGORY_TYPES, LEVELS } from "./levels.ts";
import type { Logger, LogLevel, LogMethod } from "./types.ts";

/** Names that others ask any object for, to find out what it is; they are no categories. */
const PROBES = /^(?:then|catch|toJSON|inspect|nodeType|tagName|asymmetricMatch|length|prototype|[_$@].*)$/;

type AnyLogger = Logger & { category(category: string, type: string): Logger };

/**
 * Answers for members a logger does not have: `logger.http`, `logger.billing`. Behind the logger's own members, so that
 * those are as fast as on any object; what it makes becomes an own member.
 */
export const loggerPrototype: object = new Proxy(Object.create(null), {
  get(_, name, logger: AnyLogger) {
    if (typeof name !== "string" || PROBES.test(name)) return undefined;
    if (name in Object.prototype) return Reflect.get(Object.prototype, name);
    const scope = scopeOf(logger, name);
    Object.defineProperty(logger, name, { value: scope });
    return scope;
  },
});

function scopeOf(logger: AnyLogger, category: string): object {
  const methods: Record<string, LogMethod> = Object.create(null);
  return new Proxy(methods, {
    get(_, name) {
      if (typeof name !== "string" || PROBES.test(name)) return undefined;
      const type = Object.hasOwn(CATEGORY_TYPES, category)
        ? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
        : name;
      const level = LEVELS.find((one): one is LogLevel => one === type) ?? "info";
      methods[name] ??= logger.category(category, type)[level];
      return methods[name];
    },
  });
}
