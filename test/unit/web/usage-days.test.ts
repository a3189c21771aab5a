import { expect, test } from "vitest";
import { csvOf, seriesByLevel, seriesByProject, totalsOf, type UsageDays } from "../../../web/src/pages/usage/days.ts";

const project = (name: string, counts: Record<string, number>): UsageDays["projects"][number] => ({
  projectId: `proj_${name}`,
  name,
  entries: Object.values(counts).reduce((a, b) => a + b, 0),
  days: Object.entries(counts).map(([day, entries]) => ({ day, entries, levels: { info: entries - 1, error: 1 } })),
  complete: true,
});

const DAYS = ["2026-11-01", "2026-11-02", "2026-11-03"];
const usage = (...projects: UsageDays["projects"]): UsageDays => ({ days: DAYS, projects, complete: true });

test("bars have a value for each day, with 0 where there are no entries", () => {
  const both = usage(project("a", { "2026-11-01": 3 }), project("b", { "2026-11-01": 2, "2026-11-03": 9 }));
  expect(totalsOf(both)).toEqual([5, 0, 9]);
  expect(seriesByProject(both).map(({ name, values }) => [name, values])).toEqual([
    ["b", [2, 0, 9]],
    ["a", [3, 0, 0]],
  ]);
  const levels = seriesByLevel(both).filter(({ values }) => values.some((value) => value > 0));
  expect(levels.map(({ name, values }) => [name, values])).toEqual([
    ["error", [2, 0, 1]],
    ["info", [3, 0, 8]],
  ]);
});

test("the largest projects have a series each, the others one together", () => {
  const many = Array.from({ length: 8 }, (_, at) => project(`p${at}`, { "2026-11-02": 10 + at }));
  const series = seriesByProject(usage(...many, project("none", {})));
  expect(series.map(({ name }) => name)).toEqual(["p7", "p6", "p5", "p4", "p3", "3 others"]);
  expect(series.at(-1)?.values).toEqual([0, 33, 0]);
  expect(new Set(series.map(({ color }) => color)).size).toBe(6);
});

test("the file has a row for each day and project, by day, and no cell that a spreadsheet runs", () => {
  const text = csvOf(usage(project('=cmd("x")', { "2026-11-02": 4 }), project("a, b", { "2026-11-01": 2 })));
  expect(text.split("\r\n")).toEqual([
    "day,project_id,project,entries,trace,debug,log,info,warn,error,fatal",
    '2026-11-01,"proj_a, b","a, b",2,0,0,0,1,0,1,0',
    `2026-11-02,"proj_=cmd(""x"")","'=cmd(""x"")",4,0,0,0,3,0,1,0`,
    "",
  ]);
});
