import { LogqlError } from "./error.ts";
import type { Template, TemplateArgument, TemplateCall, TemplatePart } from "./syntax.ts";
import { LOGQL_LIMITS, unsupported } from "./token-reader.ts";

/** Functions of templates, and the number of their arguments. */
export const TEMPLATE_FUNCTIONS: Readonly<Record<string, number>> = {
  ToLower: 1,
  ToUpper: 1,
  lower: 1,
  upper: 1,
  TrimSpace: 1,
  trim: 1,
  Trim: 2,
  TrimLeft: 2,
  TrimRight: 2,
  TrimPrefix: 2,
  TrimSuffix: 2,
  trimAll: 2,
  trimPrefix: 2,
  trimSuffix: 2,
  Replace: 4,
  replace: 3,
  trunc: 2,
  substr: 3,
  default: 2,
  __line__: 0,
  __timestamp__: 0,
};

const WORD =
  /\s*(?:(\.[\p{L}_][\p{L}\p{N}_]*)|(-?[0-9]+)(?![\p{L}\p{N}_.])|("(?:[^"\\\n]|\\.)*"|`[^`]*`)|([\p{L}_][\p{L}\p{N}_]*)|(\|))/uy;

/**
 * Reads a template of Go's `text/template`: texts, fields and the functions above.
 * @param position of the template in the query
 * @throws LogqlError
 */
export function parseTemplate(text: string, position: number): Template {
  const parts: TemplatePart[] = [];
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf("{{", at);
    if (open < 0) {
      parts.push({ kind: "text", text: text.slice(at) });
      break;
    }
    const close = endOfAction(text, open + 2);
    if (close < 0) throw new LogqlError("invalid template: unclosed action", position);
    let before = text.slice(at, open);
    let inner = text.slice(open + 2, close);
    let after = close + 2;
    // `{{- x -}}` removes the white space beside it.
    if (/^-\s/.test(inner)) {
      before = before.trimEnd();
      inner = inner.slice(1);
    }
    if (/\s-$/.test(inner)) {
      inner = inner.slice(0, -1);
      while (/\s/.test(text[after] ?? "")) after++;
    }
    if (before !== "") parts.push({ kind: "text", text: before });
    if (!/^\/\*[\s\S]*\*\/$/.test(inner.trim())) parts.push({ kind: "action", calls: callsOf(inner, position) });
    at = after;
    if (parts.length > LOGQL_LIMITS.items) throw new LogqlError("invalid template: too many actions", position);
  }
  return { text, parts };
}

/** Returns where an action ends: strings in it may contain braces. */
function endOfAction(text: string, from: number): number {
  let quote = "";
  for (let at = from; at < text.length; at++) {
    const character = text[at] ?? "";
    if (quote !== "") {
      if (character === "\\" && quote === '"') at++;
      else if (character === quote) quote = "";
    } else if (character === '"' || character === "`") quote = character;
    else if (text.startsWith("}}", at)) return at;
  }
  return -1;
}

function callsOf(action: string, position: number): TemplateCall[] {
  const calls: TemplateCall[] = [];
  let words: (TemplateArgument | { kind: "function"; name: string })[] = [];
  const finish = (): void => {
    calls.push(callOf(words, calls.length > 0, position));
    words = [];
  };
  WORD.lastIndex = 0;
  let at = 0;
  const inner = action.trimEnd();
  while (at < inner.length) {
    WORD.lastIndex = at;
    const match = WORD.exec(inner);
    if (match === null) throw unsupported(`\`{{${short(action)}}}\` in a template`, position);
    at = WORD.lastIndex;
    const [, field, number, string, name, pipe] = match;
    if (pipe !== undefined) finish();
    else if (field !== undefined) words.push({ kind: "field", name: field.slice(1) });
    else if (number !== undefined) words.push({ kind: "number", value: Number(number) });
    else if (string !== undefined) words.push({ kind: "string", text: unquoted(string, position) });
    else words.push({ kind: "function", name: name ?? "" });
  }
  finish();
  return calls;
}

function callOf(
  words: readonly (TemplateArgument | { kind: "function"; name: string })[],
  isPiped: boolean,
  position: number,
): TemplateCall {
  const [first, ...args] = words;
  if (first === undefined) throw new LogqlError("invalid template: an action has no value", position);
  const plain = args.map((arg): TemplateArgument => {
    if (arg.kind === "function") throw unsupported(`\`${short(arg.name)}\` as an argument in a template`, position);
    return arg;
  });
  if (first.kind !== "function") {
    if (args.length > 0 || isPiped) throw new LogqlError("invalid template: a value cannot take arguments", position);
    return { name: "value", args: [first] };
  }
  const { name } = first;
  const count = Object.hasOwn(TEMPLATE_FUNCTIONS, name) ? TEMPLATE_FUNCTIONS[name] : undefined;
  if (count === undefined) throw unsupported(`\`${short(name)}\` in a template`, position);
  const given = plain.length + (isPiped ? 1 : 0);
  if (given !== count)
    throw new LogqlError(`invalid template: \`${name}\` takes ${count} arguments, and has ${given}`, position);
  return { name, args: plain };
}

function unquoted(text: string, position: number): string {
  if (text.startsWith("`")) return text.slice(1, -1);
  try {
    return String(JSON.parse(text));
  } catch {
    throw new LogqlError("invalid template: a string has an escape that is not supported", position);
  }
}

function short(text: string): string {
  return text.trim().slice(0, 40);
}
