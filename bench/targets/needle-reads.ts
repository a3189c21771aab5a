import { z } from "zod";
import type { BenchServer } from "../servers.ts";
import { RARE_TEXT, searchedTrace, traceIdAt } from "./entries.ts";
import { ServiceClient } from "./service.ts";
import { dayRecipe, filesRecipe, type Recipe, type States } from "./state.ts";

/** What a needle reads from the bucket. */
export interface NeedleReads {
  name: string;
  files: number;
  isMerged: boolean;
  /** Calls of the bucket that each began after the end of the one before. */
  rounds: number;
  /** Ranges of bytes: requests to R2. */
  ranges: number;
  /** Matching entries. */
  found: number;
  expected: number;
}

const readsSchema = z.object({ rounds: z.int(), ranges: z.int() });

/** Counts reads of the bucket for needles over many unmerged files, and over the merged files of a day. */
export async function needleReads(
  states: States,
  entries: number,
  files: number,
  report: (what: string, figure: string) => void,
): Promise<NeedleReads[]> {
  const found: NeedleReads[] = [];
  for (const recipe of [filesRecipe(files), dayRecipe(entries)]) {
    const server = await states.serveDriven(recipe);
    for (const needle of await countReads(states, recipe, server)) {
      found.push(needle);
      report(`${needle.name}, ${needle.files} files`, `${needle.rounds} rounds, ${needle.ranges} ranges`);
    }
    await server.stop();
  }
  return found;
}

async function countReads(states: States, recipe: Recipe, server: BenchServer): Promise<NeedleReads[]> {
  const { key, workspaceId, data, stored } = await states.get(recipe);
  const client = new ServiceClient(server.url, key);
  const reads = async () => readsSchema.parse(await (await fetch(`${server.url}/bench/${workspaceId}/reads`)).json());
  const needles = [
    { name: "one trace id", filters: { traceId: traceIdAt(searchedTrace(data)) }, expected: 1 },
    { name: "a trace id that does not occur", filters: { traceId: "f".repeat(32) }, expected: 0 },
    { name: "rare substring inside a word", filters: { search: RARE_TEXT }, expected: 5 },
  ];
  const counted: NeedleReads[] = [];
  for (const { name, filters, expected } of needles) {
    await reads();
    const { traceIds } = await client.ask({ path: "/logger/query", body: { filters, pagination: {} } });
    const { rounds, ranges } = await reads();
    const { isMerged } = recipe;
    counted.push({ name, files: stored.files, isMerged, rounds, ranges, found: traceIds.length, expected });
  }
  return counted;
}
