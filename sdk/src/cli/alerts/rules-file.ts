import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, Scalar } from "yaml";
import { EXIT, Failure } from "../failure.ts";
import { record } from "../record.ts";
import type { NamedDestination, Rule, RuleDetail } from "./rule.ts";

/** Bytes of a file of rules. A workspace has at most 100 of them. */
const MAX_BYTES = 1024 * 1024;
/** Nodes that one alias may expand to: a small file cannot become a large one. */
const MAX_ALIASES = 100;
/** Problems that are reported at once. */
const MAX_PROBLEMS = 20;

/** What is wrong with a file of rules, and where. */
export interface RulesProblem {
  /** From 1; `null`: the whole file. */
  at: { line: number; column: number } | null;
  message: string;
}

/** A file of rules that is refused. The message has all problems with their places, as text for the terminal. */
export class RulesFailure extends Failure {
  readonly problems: readonly RulesProblem[];

  constructor(file: string, problems: readonly RulesProblem[]) {
    const lines = problems.slice(0, MAX_PROBLEMS).map(({ at, message }) => {
      return `${file}${at === null ? "" : `:${at.line}:${at.column}`}: ${message}`;
    });
    const more = problems.length - MAX_PROBLEMS;
    super([...lines, ...(more > 0 ? [`and ${more} more`] : [])].join("\n"), EXIT.usage);
    this.problems = problems;
  }
}

type Path = readonly (string | number)[];

/** Rules as a file has them, with their places. Errors name file, line and member. */
export class RulesFile {
  readonly #file: string;
  readonly #document: Document;
  readonly #lines: LineCounter;
  readonly rules: readonly Rule[];

  /** @throws RulesFailure if the text is not a list of rules */
  constructor(file: string, content: string) {
    this.#file = file;
    if (new TextEncoder().encode(content).length > MAX_BYTES)
      throw this.#failure([inFile(`larger than ${MAX_BYTES} bytes.`)]);
    this.#lines = new LineCounter();
    this.#document = parseDocument(content, { lineCounter: this.#lines, prettyErrors: false });
    const problems = this.#document.errors.map(({ pos: [offset], message }) => this.#at(offset, message));
    if (problems.length > 0) throw this.#failure(problems);
    this.rules = this.#readRules();
  }

  #readRules(): Rule[] {
    const top = record(this.#toJs());
    const list = top?.alerts;
    if (!Array.isArray(list)) throw this.#failure([this.#problem([], "The file must have a list `alerts`.")]);
    const unknown = Object.keys(top ?? {}).filter((name) => name !== "alerts");
    const problems = unknown.map((name) => this.#problem([name], "Unknown member. The file has `alerts` only."));
    const rules = list.map((each: unknown, at): Rule => {
      const rule = Array.isArray(each) ? null : record(each);
      if (rule === null) problems.push(this.#problem(["alerts", at], "Each alert must be a mapping."));
      return rule ?? {};
    });
    if (problems.length > 0) throw this.#failure(problems);
    return rules;
  }

  #toJs(): unknown {
    try {
      return this.#document.toJS({ maxAliasCount: MAX_ALIASES });
    } catch (error) {
      if (error instanceof ReferenceError) throw this.#failure([inFile(`${error.message}.`)]);
      throw error;
    }
  }

  /**
   * Returns the rules with ids of destinations in place of names.
   * @returns `unknown`: what is wrong if some are unknown, which the rules leave out; `null` if all are known
   */
  withIds(destinations: readonly NamedDestination[]): { rules: Rule[]; unknown: RulesFailure | null } {
    const ids = new Map([...destinations.map(({ id }) => [id, id] as const), ...destinations.map(namedId)]);
    const problems: RulesProblem[] = [];
    const rules = this.rules.map((rule, at) => {
      if (!Array.isArray(rule.destinations)) return rule;
      const found = rule.destinations.flatMap((name: unknown, place: number) => {
        const id = ids.get(String(name));
        if (id !== undefined) return [id];
        const known = destinations.map((each) => each.name).join(", ") || "none";
        const message = `The workspace has no destination ${JSON.stringify(name)}. It has: ${known}.`;
        problems.push(this.#problem(["alerts", at, "destinations", place], message));
        return [];
      });
      return { ...rule, destinations: found };
    });
    return { rules, unknown: problems.length > 0 ? this.#failure(problems) : null };
  }

  /**
   * Returns the failure of a request that was refused for what the file has; `null` if its details name no members.
   * @param prefix path of the member of the request that details begin with
   * @param also what else is wrong with the file
   */
  failureOf(details: readonly RuleDetail[], prefix: Path = [], also: RulesFailure | null = null): RulesFailure | null {
    const problems = details.flatMap(({ path, message, position }) => {
      if (typeof path !== "string") return [];
      const whole = [...prefix, ...path.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part))];
      if (whole[0] !== "alerts") return [];
      return [this.#problem(whole, String(message), typeof position === "number" ? position : 0)];
    });
    if (problems.length === 0) return null;
    const all = [...problems, ...(also?.problems ?? [])];
    const placeOf = ({ at }: RulesProblem) => [at?.line ?? 0, at?.column ?? 0] as const;
    return this.#failure(
      all.toSorted((a, b) => {
        const [[line, column], [otherLine, otherColumn]] = [placeOf(a), placeOf(b)];
        return line - otherLine || column - otherColumn;
      }),
    );
  }

  /** @param position UTF-16 offset in the text of the member */
  #problem(path: Path, message: string, position = 0): RulesProblem {
    return this.#at(this.#offsetOf(path, position), `${memberText(path, this.rules)}${message}`);
  }

  #at(offset: number, message: string): RulesProblem {
    const { line, col } = this.#lines.linePos(offset);
    return { at: { line, column: col }, message };
  }

  #failure(problems: readonly RulesProblem[]): RulesFailure {
    return new RulesFailure(this.#file, problems);
  }

  /** Returns the offset of a member, or of the innermost part of its path that exists. */
  #offsetOf(path: Path, position: number): number {
    let node: unknown = this.#document.contents;
    let offset = startOf(node) ?? 0;
    for (const part of path) {
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
        if (pair === undefined) break;
        // SAFETY: keys and values of a parsed document are nodes, or null.
        offset = startOf(pair.key) ?? offset;
        node = pair.value;
      } else if (isSeq(node) && typeof part === "number") {
        node = node.items[part];
        offset = startOf(node) ?? offset;
      } else break;
    }
    return position > 0 && isScalar(node) ? offsetIn(node, position, offset) : offset;
  }
}

function namedId({ id, name }: NamedDestination): readonly [string, string] {
  return [name, id];
}

function startOf(node: unknown): number | null {
  // SAFETY: nodes of a parsed document have a range.
  return typeof node === "object" && node !== null && "range" in node ? ((node as Node).range?.[0] ?? null) : null;
}

/** Returns the offset within the text of a scalar that is written as it is, in one line; otherwise that of the member. */
function offsetIn(scalar: Scalar, position: number, member: number): number {
  const start = startOf(scalar);
  if (start === null || scalar.source !== scalar.value) return member;
  if (scalar.type === Scalar.PLAIN) return start + position;
  return scalar.type === Scalar.QUOTE_DOUBLE || scalar.type === Scalar.QUOTE_SINGLE ? start + 1 + position : member;
}

/** Names a member: `alert "Errors", condition.value: `. */
function memberText(path: Path, rules: readonly Rule[] | undefined): string {
  const [first, at, ...rest] = path;
  if (first !== "alerts" || typeof at !== "number") return "";
  const name = rules?.[at]?.name;
  const alert = typeof name === "string" ? `alert ${JSON.stringify(name)}` : `alert ${at + 1}`;
  return `${[alert, ...(rest.length > 0 ? [rest.join(".")] : [])].join(", ")}: `;
}

function inFile(message: string): RulesProblem {
  return { at: null, message };
}
