import { ALIASES, FOREIGN, LEVELS } from "../levels.ts";

/** Members that others ask any object for; they are no categories. */
const PROBES = /^(?:then|toJSON|constructor|[_$@].*)$/;
/** Some of their types are written with hyphens, and the scopes of those in camel case. */
const BUILT_IN = /^(?:ai|database|auth|queue)$/;

interface Scoped {
  category(category: string, type: string): Record<string, unknown>;
}

/** Answers for `logger.http.request` and the like. */
export const prototype: object = answering((category, logger: Scoped) => {
  if (FOREIGN.test(category)) return undefined;
  const level = ALIASES[category];
  const scope = answering((name) => {
    const type = BUILT_IN.test(category) ? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : name;
    return logger.category(category, type)[LEVELS.find((level) => level === type) ?? "info"];
  }, level && Function.prototype);
  return level ? Object.setPrototypeOf((...args: unknown[]) => Reflect.get(logger, level)(...args), scope) : scope;
});

function answering<T>(answer: (name: string, asked: T) => unknown, target: object = Object.create(null)): object {
  return new Proxy(target, {
    get: (_, name, asked) =>
      typeof name === "string" && !(name in target) && !PROBES.test(name)
        ? answer(name, asked)
        : Reflect.get(target, name),
  });
}
