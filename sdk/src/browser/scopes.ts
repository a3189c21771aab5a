import { ALIASES, FOREIGN, LEVELS } from "../levels.ts";

/** Members that the language and tools read from any object. They are not categories. */
const PROBES = /^(?:then|toJSON|constructor|[_$@].*)$/;
/** Categories with hyphenated types, whose members are in camel case. */
const BUILT_IN = /^(?:ai|database|auth|queue)$/;

interface Scoped {
  category(category: string, type: string): Record<string, unknown>;
}

/** The prototype of loggers, which provides scopes like `logger.http.request`. */
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
