import { BOARD_LIMITS, type Panel, SLOWEST_QUERIES } from "./panels.ts";
import type { ProjectRow } from "./projects.ts";
import { insertSaved, isTaken } from "./saved-items.ts";

/**
 * The panels of the board of a new project, of queries that show something for any sender: services and patterns of messages, which
 * all entries have. Of the slowest requests the console replaces the fields by those that the entries have. Tables are as high as their
 * ten rows.
 */
export const FIRST_PANELS: readonly Panel[] = [
  {
    id: "levels",
    title: "Entries by level",
    query: "* | stats count() by level, bin(5m)",
    kind: "bars",
    ...{ x: 0, y: 0, w: 12, h: 8 },
  },
  {
    id: "errors",
    title: "Errors by service",
    query: "level:>=error | count by service, bin(5m)",
    kind: "bars",
    ...{ x: 0, y: 8, w: 12, h: 7 },
  },
  {
    id: "messages",
    title: "Top errors",
    query: "level:>=error | top 10 by service, pattern",
    kind: "table",
    ...{ x: 0, y: 15, w: 12, h: 10 },
  },
  {
    id: "patterns",
    title: "Top patterns",
    query: "* | patterns 10",
    kind: "table",
    ...{ x: 0, y: 25, w: 6, h: 11 },
  },
  {
    id: "routes",
    title: "Slowest requests",
    query: SLOWEST_QUERIES[0],
    kind: "table",
    ...{ x: 6, y: 25, w: 6, h: 11 },
  },
];

/** Creates the board of a new project, in the transaction that creates the project. */
export function createFirstBoard(sql: SqlStorage, project: ProjectRow, userId: string, now: number): void {
  const content = { panels: FIRST_PANELS };
  const name = freeName(sql, project);
  insertSaved(sql, { kind: "board", name, project: project.num, isFirst: true, content }, userId, now);
}

/** Names that are tried with a number before the id of the project, which no other board of a project has. */
const NUMBERED = 9;

function freeName(sql: SqlStorage, { name, id }: ProjectRow): string {
  const endings = ["", ...Array.from({ length: NUMBERED - 1 }, (_, n) => ` ${n + 2}`), ` ${id}`];
  const names = endings.map((ending) => `${[...name].slice(0, BOARD_LIMITS.name - ending.length).join("")}${ending}`);
  return names.find((each) => !isTaken(sql, "board", each)) ?? id;
}
