import type { Template, TemplateCall } from "./syntax.ts";

/** What a template reads. */
export interface TemplateScope {
  /** Returns "" for a label that is missing. */
  labelOf(name: string): string;
  line: string;
  /** Epoch milliseconds. */
  timestamp: number;
}

/** Characters of a result, and of that of each call. Templates cannot loop, but may repeat the line. */
export const MAX_RESULT = 1024 * 1024;

/** Work units of each character that a call gets or returns. */
const CHARACTER_WORK = 4;

/**
 * Returns the text of a template; `null` if it, or what one of its calls returns, has more than `MAX_RESULT` characters.
 * @param spend called with the work units of each call
 */
export function runTemplate(
  { parts }: Template,
  scope: TemplateScope,
  spend: (units: number) => void = () => undefined,
): string | null {
  let text = "";
  for (const part of parts) {
    if (part.kind === "text") text += part.text;
    else {
      let last = "";
      for (const [at, call] of part.calls.entries()) {
        const given = last.length;
        last = run(call, at === 0 ? [] : [last], scope);
        spend((given + last.length) * CHARACTER_WORK);
        if (last.length > MAX_RESULT) return null;
      }
      text += last;
    }
    if (text.length > MAX_RESULT) return null;
  }
  return text;
}

function run({ name, args }: TemplateCall, piped: readonly string[], scope: TemplateScope): string {
  const given = args.map((arg) =>
    arg.kind === "field" ? scope.labelOf(arg.name) : arg.kind === "string" ? arg.text : String(arg.value),
  );
  const [a = "", b = "", c = "", d = ""] = [...given, ...piped];
  switch (name) {
    case "ToLower":
    case "lower":
      return a.toLowerCase();
    case "ToUpper":
    case "upper":
      return a.toUpperCase();
    case "TrimSpace":
    case "trim":
      return a.trim();
    // Go's own functions have the text first, those of Sprig last.
    case "Trim":
      return trimmed(a, b, true, true);
    case "TrimLeft":
      return trimmed(a, b, true, false);
    case "TrimRight":
      return trimmed(a, b, false, true);
    case "TrimPrefix":
      return a.startsWith(b) ? a.slice(b.length) : a;
    case "TrimSuffix":
      return a.endsWith(b) ? a.slice(0, a.length - b.length) : a;
    case "trimAll":
      return trimmed(b, a, true, true);
    case "trimPrefix":
      return b.startsWith(a) ? b.slice(a.length) : b;
    case "trimSuffix":
      return b.endsWith(a) ? b.slice(0, b.length - a.length) : b;
    case "Replace":
      return replaced(a, b, c, Number(d));
    case "replace":
      return replaced(c, a, b, -1);
    case "trunc":
      return truncated(b, Number(a));
    case "substr":
      return substring(c, Number(a), Number(b));
    case "default":
      return b === "" ? a : b;
    case "__line__":
      return scope.line;
    case "__timestamp__":
      return `${new Date(scope.timestamp)
        .toISOString()
        .replace("T", " ")
        .replace(/\.?0*Z$/, "")} +0000 UTC`;
    default:
      return a;
  }
}

function trimmed(text: string, characters: string, atStart: boolean, atEnd: boolean): string {
  const set = new Set(characters);
  const all = [...text];
  let [from, to] = [0, all.length];
  while (atStart && from < to && set.has(all[from] ?? "")) from++;
  while (atEnd && to > from && set.has(all[to - 1] ?? "")) to--;
  return all.slice(from, to).join("");
}

/**
 * Replaces the first `count` occurrences, all if it is negative. Stops when the result is longer than `MAX_RESULT`: a short text
 * may grow a thousandfold.
 */
function replaced(text: string, from: string, to: string, count: number): string {
  if (from === "") return text;
  const parts: string[] = [];
  let [at, length] = [0, 0];
  for (let left = count; left !== 0 && length <= MAX_RESULT; left--) {
    const found = text.indexOf(from, at);
    if (found < 0) break;
    parts.push(text.slice(at, found), to);
    length += found - at + to.length;
    at = found + from.length;
  }
  return parts.join("") + text.slice(at);
}

function truncated(text: string, count: number): string {
  const runes = [...text];
  if (count < 0 && runes.length + count > 0) return runes.slice(runes.length + count).join("");
  return count >= 0 && runes.length > count ? runes.slice(0, count).join("") : text;
}

function substring(text: string, start: number, end: number): string {
  const runes = [...text];
  if (start < 0) return runes.slice(0, Math.max(0, end)).join("");
  if (end < 0 || end > runes.length) return runes.slice(start).join("");
  return runes.slice(start, end).join("");
}
