import type { Filter, OwnField, ValueTest } from "../../../query-language/syntax.ts";
import type { LogFilter } from "../../query/filter.ts";
import { literalOfValue, literalsOf } from "../../search/literals.ts";
import {
  containsTests,
  eitherTest,
  idTest,
  MAX_TESTS,
  memberTest,
  type TokenTest,
  tokenTestsOf,
} from "./token-tests.ts";

/** Returns the conditions on tokens that an entry must meet to pass a filter, its rest included. All tests must hold. */
export function allTokenTestsOf(filter: LogFilter): TokenTest[] {
  const own = tokenTestsOf(filter);
  if (filter.rest === null) return own;
  const { values, others } = requiredBy(filter.rest.filter);
  return [...values, ...own, ...others].slice(0, MAX_TESTS);
}

/** Tests that must all hold. */
interface Required {
  /** Of ids and of members with their values, which exclude most. */
  values: TokenTest[];
  /** Of members with any value, and of parts of texts. */
  others: TokenTest[];
}

const NOTHING: Required = { values: [], others: [] };

function requiredBy(filter: Filter): Required {
  switch (filter.kind) {
    case "and": {
      const parts = filter.filters.map(requiredBy);
      return { values: parts.flatMap(({ values }) => values), others: parts.flatMap(({ others }) => others) };
    }
    case "or":
      return either(filter.filters.map(requiredBy));
    case "text":
      return { values: [], others: literalsOf(filter.test).flatMap(containsTests) };
    case "field": {
      const { field, test } = filter;
      if (field.kind === "own") return requiredOfOwn(field.name, test);
      if (field.kind === "column") return NOTHING;
      // Tokens have the path of an array for its items.
      const names = field.path.filter((part) => typeof part === "string");
      return requiredOfMember([names], test);
    }
    default:
      return NOTHING;
  }
}

/** Returns tests of which one alternative of each part must hold. */
function either(parts: readonly Required[]): Required {
  const strongest = parts.map(({ values, others }) => values[0] ?? others[0]);
  const weakest = parts.map(({ values, others }) => others.at(-1) ?? values.at(-1));
  const [strong, weak] = [strongest, weakest].map((tests) =>
    tests.includes(undefined) ? null : eitherTest(tests.filter((test) => test !== undefined)),
  );
  return { values: strong ? [strong] : [], others: weak ? [weak] : [] };
}

function requiredOfOwn(name: OwnField, test: ValueTest): Required {
  switch (name) {
    case "session":
      return requiredOfId(0, test);
    case "trace":
      return requiredOfId(1, test);
    case "span":
      return requiredOfId(2, test);
    case "message":
      return { values: [], others: containsTests(literalOfValue(test)) };
    case "service":
    case "host":
      return requiredOfMember([[name], [name, "name"]], test);
    default:
      return NOTHING;
  }
}

function requiredOfId(member: 0 | 1 | 2, test: ValueTest): Required {
  switch (test.kind) {
    case "is":
      return { values: [idTest(member, test.text, "folded")], others: [] };
    case "exact":
      return { values: [idTest(member, test.text, "exact")], others: [] };
    case "anyOf":
      return either(test.tests.map((each) => requiredOfId(member, each)));
    default:
      return NOTHING;
  }
}

/** @param paths of which one has the value */
function requiredOfMember(paths: readonly (readonly string[])[], test: ValueTest): Required {
  const testOf = (text: string | null, match: "exact" | "folded") => {
    const found = eitherTest(paths.map((names) => memberTest(names, text, match)));
    return found === null ? [] : [found];
  };
  if (test.kind === "anyOf") return either(test.tests.map((each) => requiredOfMember(paths, each)));
  const others = [...testOf(null, "folded"), ...containsTests(literalOfValue(test))];
  if (test.kind === "is") return { values: testOf(test.text, "folded"), others };
  return { values: test.kind === "exact" ? testOf(test.text, "exact") : [], others };
}
