/**
 * `npm run reconcile -- --url <address>`: compares what each project has moved to the cold tier with the content of
 * that tier, and the files of its segments with the bucket, through the operator routes of a running service. The token
 * comes from OPERATOR_TOKEN or `--token`. Exits with 0 if everything is present, with 1 if something is missing, and with
 * 2 if the comparison failed.
 */
import { z } from "zod";
import { type OperatorClient, operatorProjects, operatorWorkspaces, runOperatorTool } from "./lib/operator-client.ts";

const missing = z.object({
  items: z.array(z.object({ firstSeq: z.number(), lastSeq: z.number(), stored: z.number() })),
  nextCursor: z.string().nullable(),
  compared: z.number(),
  firstSeq: z.number().nullable(),
  flushedSeq: z.number(),
});

const files = z.object({
  items: z.array(
    z.object({
      file: z.string(),
      projectId: z.string(),
      firstSeq: z.number(),
      lastSeq: z.number(),
      entries: z.number(),
      problem: z.enum(["missing", "size"]),
    }),
  ),
  nextCursor: z.string().nullable(),
  compared: z.number(),
  noted: z.number(),
});

const totals = {
  workspaces: 0,
  projects: 0,
  ranges: 0,
  missingRanges: 0,
  missingEntries: 0,
  files: 0,
  damagedFiles: 0,
  noted: 0,
};

await runOperatorTool("reconcile", reconcile);

async function reconcile(client: OperatorClient): Promise<0 | 1> {
  for await (const { id, slug } of operatorWorkspaces(client)) await compareWorkspace(client, id, slug);
  const { workspaces: places, projects, ranges, missingRanges, missingEntries, damagedFiles, noted } = totals;
  console.log(`Compared ${ranges} ranges and ${totals.files} files of ${projects} projects in ${places} workspaces.`);
  if (noted > 0) console.log(`${noted} files that no segment names will be deleted in 7 days.`);
  if (missingRanges === 0 && damagedFiles === 0) {
    console.log("Nothing is missing.");
    return 0;
  }
  if (missingRanges > 0) console.log(`Missing: ${missingEntries} entries of ${missingRanges} ranges.`);
  if (damagedFiles > 0) console.log(`Missing or damaged: ${damagedFiles} files.`);
  return 1;
}

async function compareWorkspace(client: OperatorClient, workspaceId: string, slug: string): Promise<void> {
  totals.workspaces++;
  const path = `/operator/workspaces/${workspaceId}`;
  for await (const id of operatorProjects(client, path)) {
    await compareProject(client, `${workspaceId} (${slug})`, path, id);
  }
  await compareFiles(client, `${workspaceId} (${slug})`, path);
}

/** Compares the files that the segments of a workspace name with those in the bucket. */
async function compareFiles(client: OperatorClient, whose: string, path: string): Promise<void> {
  for await (const page of client.pages(`${path}/files`, files, (data) => data.nextCursor, "POST")) {
    // The workspace was deleted since it was listed, or the service is of a version without files.
    if (page === null) return;
    totals.files += page.compared;
    totals.noted += page.noted;
    for (const { file, projectId, firstSeq, lastSeq, entries, problem } of page.items) {
      totals.damagedFiles++;
      const what = problem === "missing" ? "is missing" : "has another size";
      console.log(
        `${problem}  ${whose}  ${projectId}  seq ${firstSeq} to ${lastSeq}, ${entries} entries: file ${file} ${what}`,
      );
    }
  }
}

async function compareProject(client: OperatorClient, whose: string, path: string, projectId: string): Promise<void> {
  totals.projects++;
  let isFirst = true;
  const route = `${path}/projects/${projectId}/missing`;
  for await (const page of client.pages(route, missing, (data) => data.nextCursor)) {
    // Deleted since it was listed.
    if (page === null) return;
    const from = page.firstSeq ?? page.flushedSeq + 1;
    if (isFirst && from > 1) {
      console.log(`not compared  ${whose}  ${projectId}  seq 1 to ${from - 1}: expired, or moved without a record`);
    }
    isFirst = false;
    totals.ranges += page.compared;
    for (const { firstSeq, lastSeq, stored } of page.items) {
      const count = lastSeq - firstSeq + 1;
      const lost = Math.max(0, count - stored);
      totals.missingRanges++;
      totals.missingEntries += lost;
      const what = stored > count ? `${stored} entries in the place of ${count}` : `${lost} of ${count} entries`;
      console.log(`missing  ${whose}  ${projectId}  seq ${firstSeq} to ${lastSeq}: ${what}`);
    }
  }
}
