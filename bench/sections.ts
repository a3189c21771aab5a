import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../scripts/lib/paths.ts";
import type { Part } from "./options.ts";
import { publish } from "./publish.ts";
import { faultsOf, type Measured, type Results, verdictsOf } from "./results.ts";
import { tableOf } from "./table.ts";

const RESULTS_FILE = path.join(ROOT, "bench", "results.json");
const DOCS_FILE = path.join(ROOT, "docs", "benchmarks.md");

/**
 * Sections of the published results, in the order of the page. A section comes from one run, so that its figures were
 * measured side by side; sections can come from different runs.
 */
const SECTIONS = {
  service: ["ingest", "limits", "limitCost", "query", "tiers", "tail", "rows", "memory"],
  alerts: ["alerts"],
  doors: ["doors"],
  targets: ["targets"],
} as const satisfies Record<string, readonly (keyof Measured)[]>;

type Section = keyof typeof SECTIONS;
type Published = Partial<Record<Section, Results>>;

/** Whether a run of these parts measures whole sections, so that it can be published. */
export function areSections(parts: readonly Part[]): boolean {
  const asked = new Set<keyof Measured>(parts);
  // The cost of a limit is measured with the part `limits`.
  if (asked.has("limits")) asked.add("limitCost");
  return Object.values(SECTIONS).every((keys) => {
    const measured = keys.filter((key) => asked.has(key)).length;
    return measured === 0 || measured === keys.length;
  });
}

/** Replaces the sections that a run measured, in `bench/results.json` and in docs/benchmarks.md. */
export function publishSections(results: Results): void {
  // SAFETY: only this function writes the file.
  const published = JSON.parse(readFileSync(RESULTS_FILE, "utf8")) as Published;
  for (const section of sectionNames()) {
    const measured = sectionOf(results, section);
    if (measured !== null) published[section] = measured;
  }
  writeFileSync(RESULTS_FILE, jsonOf(published));
  const tables = sectionNames().flatMap((section) => {
    const measured = published[section];
    return measured === undefined ? [] : [`\`\`\`\n${tableOf(measured)}\n\`\`\``];
  });
  publish(DOCS_FILE, tables.join("\n\n"));
}

/** Results as JSON. Four digits are all that such figures support. */
export function jsonOf(results: Results | Published): string {
  const rounded = (_name: string, value: unknown) =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
  return `${JSON.stringify(results, rounded, 2)}\n`;
}

function sectionNames(): Section[] {
  // SAFETY: keys of the object.
  return Object.keys(SECTIONS) as Section[];
}

/** What a run measured of a section; `null`: nothing. */
function sectionOf(results: Results, section: Section): Results | null {
  const keys = new Set<string>(SECTIONS[section]);
  const others = new Set<string>(Object.values(SECTIONS).flat());
  // SAFETY: only optional members are left out.
  const kept = Object.fromEntries(
    Object.entries(results).filter(([key]) => keys.has(key) || !others.has(key)),
  ) as unknown as Results;
  if (!SECTIONS[section].some((key) => kept[key] !== undefined)) return null;
  return { ...kept, verdicts: verdictsOf(kept), faults: faultsOf(kept) };
}
