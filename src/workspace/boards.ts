import { BOARD_LIMITS, type Panel, SLOWEST_QUERIES } from "./panels.ts";
import type { ProjectRow } from "./projects.ts";
import { insertSaved, isTaken } from "./saved-items.ts";

/**
 * The panels of the board of a new project. They fit entries of the client library's adapters and OTLP's routes; of the slowest paths
 * the console replaces the fields by those that the entries have.
 */
export const FIRST_PANELS: readonly Panel[] = [
  {
    id: "levels",
    title: "Entries by level",
    query: "* | stats count() by level, bin(5m)",
    kind: "bars",
    ...{ x: 0, y: 0, w: 12, h: 7 },
  },
  {
    id: "errors",
    title: "Errors by type",
    query: "level:>=error | top 10 by category, type",
    kind: "table",
    ...{ x: 0, y: 7, w: 6, h: 8 },
  },
  {
    id: "routes",
    title: "Slowest paths",
    query: SLOWEST_QUERIES[0],
    kind: "table",
    ...{ x: 6, y: 7, w: 6, h: 8 },
  },
  {
    id: "patterns",
    title: "Top patterns",
    query: "* | patterns 10",
    kind: "table",
    ...{ x: 0, y: 15, w: 12, h: 9 },
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
