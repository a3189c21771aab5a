/**
 * `npm run recover -- --url <address>`: rebuilds the catalog of the cold tier from the files in the bucket, through the
 * operator routes of a running service. Safe to repeat; changes nothing that the catalog has. The token comes from
 * OPERATOR_TOKEN or `--token`. Exits with 0, with 1 if a file cannot be read, and with 2 if it could not be completed.
 */
import { z } from "zod";
import { type OperatorClient, operatorProjects, operatorWorkspaces, runOperatorTool } from "./lib/operator-client.ts";

const recovered = z.object({
  items: z.array(z.object({ file: z.string() })),
  nextCursor: z.string().nullable(),
  segments: z.number(),
  entries: z.number(),
});

const totals = { projects: 0, segments: 0, entries: 0, unreadable: 0 };

await runOperatorTool("recover", recover);

async function recover(client: OperatorClient): Promise<0 | 1> {
  for await (const { id, slug } of operatorWorkspaces(client)) await recoverWorkspace(client, id, slug);
  const { projects, segments, entries, unreadable } = totals;
  console.log(`Recovered ${segments} segments with ${entries} entries of ${projects} projects.`);
  if (unreadable > 0) console.log(`${unreadable} files cannot be read.`);
  console.log("Run npm run reconcile now: it lists the entries that are in no file.");
  return unreadable === 0 ? 0 : 1;
}

async function recoverWorkspace(client: OperatorClient, workspaceId: string, slug: string): Promise<void> {
  const path = `/operator/workspaces/${workspaceId}`;
  for await (const id of operatorProjects(client, path)) {
    await recoverProject(client, `${workspaceId} (${slug})  ${id}`, `${path}/projects/${id}`);
  }
}

async function recoverProject(client: OperatorClient, whose: string, path: string): Promise<void> {
  totals.projects++;
  let segments = 0;
  let entries = 0;
  for await (const page of client.pages(`${path}/recover`, recovered, (data) => data.nextCursor, "POST")) {
    if (page === null) break;
    segments += page.segments;
    entries += page.entries;
    for (const { file } of page.items) console.log(`unreadable  ${whose}  ${file}`);
    totals.unreadable += page.items.length;
  }
  if (segments > 0) console.log(`recovered  ${whose}  ${entries} entries in ${segments} segments`);
  totals.segments += segments;
  totals.entries += entries;
}
