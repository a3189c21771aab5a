/**
 * Computes the decisions of an alert again from an export, and compares them with what the service has decided:
 *
 *   npm run check:alerts -- alert.json decisions.json export.ndjson
 *
 * `alert.json` and `decisions.json` are the responses of `GET /projects/{projectId}/alerts/{alertId}` and of
 * `.../decisions` (one page or an array of pages); `export.ndjson` is `GET /logger/{projectId}/export`.
 */
import { readFileSync } from "node:fs";
import type { StoredEntry } from "../src/logs/entry.ts";
import { type CheckedAlert, type CheckedDecision, checkAlert } from "./alerts/check.ts";

const [alertFile, decisionsFile, exportFile] = process.argv.slice(2);
if (alertFile === undefined || decisionsFile === undefined || exportFile === undefined) {
  console.error("Usage: npm run check:alerts -- alert.json decisions.json export.ndjson");
  process.exit(2);
}

/** Returns the data of a response, or what is in its place. */
function dataOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && "data" in value ? value.data : value;
}

function* linesOf(text: string): Generator<StoredEntry> {
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const value: unknown = JSON.parse(line);
    // The last line of an export is its manifest.
    // SAFETY: the other lines are entries.
    if (typeof value === "object" && value !== null && "seq" in value) yield value as StoredEntry;
  }
}

// SAFETY: responses of the service.
const alert = dataOf(JSON.parse(readFileSync(alertFile, "utf8"))) as CheckedAlert;
const pages = [JSON.parse(readFileSync(decisionsFile, "utf8"))].flat().map(dataOf);
// SAFETY: as above.
const decisions = pages.flatMap((page) => (page as { items: CheckedDecision[] }).items);
const { expected, ...differences } = checkAlert(alert, decisions, linesOf(readFileSync(exportFile, "utf8")));
const { missed, doubled, wrong } = differences;
for (const [name, texts] of Object.entries(differences)) for (const text of texts) console.log(`${name}: ${text}`);
console.log(
  `${expected} decisions expected, ${missed.length} missed, ${doubled.length} doubled, ${wrong.length} wrong`,
);
process.exitCode = missed.length + doubled.length + wrong.length === 0 ? 0 : 1;
