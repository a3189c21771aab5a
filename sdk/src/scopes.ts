import { LEVELS } from "./levels.ts";

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
    const value = answering((name, scope) => {
      const type = isBuiltIn(category) ? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : name;
      const level = LEVELS.find((one) => one === type) ?? "info";
      return own(scope, name, Reflect.get(logger.category(category, type), level));
    });
    return own(logger, category, Object.create(value));
  });
}

function own<T>(object: object, name: string, value: T): T {
  Object.defineProperty(object, name, { value });
  return value;
}

function answering(answer: (name: string, asked: Scoped) => unknown): object {
  return new Proxy(
    {},
    {
      get: (target, name, asked) =>
        typeof name !== "string" || name in target || PROBES.test(name)
          ? Reflect.get(target, name)
          : answer(name, asked),
    },
  );
}
