import type { QueryError } from "./error.ts";
import { parse } from "./parse.ts";

/** Suggestions that take more code than a parser in a page should have. The service adds them to its errors. */

const DAY_MS = 86_400_000;
/** Characters around an error that are read for its suggestion, because some patterns take quadratic time. */
const MAX_READ = 400;

/**
 * Returns an error of the parser with what may be meant, where that depends on more than the place of the error.
 * @param now epoch milliseconds
 */
export function explained(query: string, error: QueryError, now: number): QueryError {
  return (
    dateMeant(query, error, now) ??
    listMeant(query, error) ??
    rangeMeant(query, error) ??
    regexMeant(query, error) ??
    error
  );
}

function dateMeant(query: string, error: QueryError, now: number): QueryError | null {
  const day = /^(today|yesterday)(?![^\s()|])/i.exec(query.slice(error.position))?.[1]?.toLowerCase();
  if (day === undefined || !error.message.includes("takes a time")) return null;
  const date = new Date(now - (day === "today" ? 0 : DAY_MS)).toISOString().slice(0, 10);
  return { ...error, suggestion: date };
}

const LIST = /([^\s:|()[\]"]+):(?:\(([^()|"]*)\)|\[([^[\]|"]*)\])$/;

/** `level:(error, fatal)`: the whole test, because the error may be at any of its values. */
function listMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  const length = query.slice(position, position + MAX_READ).search(/[)\]]/);
  if (length < 0) return null;
  const end = position + length + 1;
  const [, name = "", round, square] = LIST.exec(query.slice(Math.max(0, position - MAX_READ), end)) ?? [];
  const list = round ?? square ?? "";
  const start = end - list.length - 2;
  if (name === "" || position < start || !/,|\sor\s/.test(list)) return null;
  const items = list.split(/[\s,]+/).filter((item) => item !== "" && item.toUpperCase() !== "OR");
  const meant = `${name}:(${items.join(" OR ")})`;
  if (!parse(meant).ok) return null;
  return {
    message: "The values of a list are joined by `OR`",
    position: start,
    expected: ["OR", ")"],
    suggestion: meant,
  };
}

/** `level:warn...error`. */
function rangeMeant(query: string, error: QueryError): QueryError | null {
  const [word = ""] = /^[^\s()|"]{1,100}/.exec(query.slice(error.position)) ?? [];
  const meant = word.replace(/\.{3,}/, "..");
  const [test = ""] = /[^\s()|"]{1,100}:$/.exec(query.slice(Math.max(0, error.position - 101), error.position)) ?? [];
  return meant !== word && parse(test + meant).ok ? { ...error, suggestion: meant } : null;
}

/** `message:~"\d"`. */
function regexMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  const [written] = /[^\s:|()"]+:~$/.exec(query.slice(Math.max(0, position - MAX_READ), position)) ?? [];
  const [, source] = /^"((?:[^"\\]|\\[\s\S])*)"/.exec(query.slice(position, position + MAX_READ)) ?? [];
  if (written === undefined || source === undefined) return null;
  return {
    message: "A regular expression is written `~/.../`",
    position: position - 1,
    expected: ["~/regex/"],
    suggestion: `${written}/${source.replaceAll("/", "\\/")}/`,
  };
}
