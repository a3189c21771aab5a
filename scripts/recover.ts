/**
 * `npm run recover -- --url <address>`: rebuilds the catalog of the cold tier from the files in the bucket, through the
 * operator routes of a running service. Safe to repeat; changes nothing that the catalog has. The token comes from
 * OPERATOR_TOKEN or `--token`. Exits with 0, with 1 if a file cannot be read, and with 2 if it could not be completed.
 */
import { parseArgs } from "node:util";
import { z } from "zod";
import { OperatorClient } from "./lib/operator-client.ts";

const workspaces = z.object({
  items: z.array(z.object({ id: z.string(), slug: z.string() })),
  nextCursor: z.string().nullable(),
});
const workspace = z.object({
  projects: z.object({
    items: z.array(z.object({ id: z.string(), flushedSeq: z.number() })),
    nextCursor: z.string().nullable(),
  }),
});
const recovered = z.object({
  items: z.array(z.object({ file: z.string() })),
  nextCursor: z.string().nullable(),
  segments: z.number(),
  entries: z.number(),
});

const totals = { projects: 0, segments: 0, entries: 0, unreadable: 0 };

process.exitCode = await recover().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  return 2;
});

async function recover(): Promise<0 | 1> {
  const { values } = parseArgs({ options: { url: { type: "string" }, token: { type: "string" } } });
  const token = values.token ?? process.env.OPERATOR_TOKEN;
  if (values.url === undefined || !URL.canParse(values.url)) {
    throw new Error("Usage: npm run recover -- --url <address of the service>");
  }
  if (!token) throw new Error("Set OPERATOR_TOKEN to the operator token of the service, or pass --token.");
  const client = new OperatorClient(values.url, token);
  for await (const page of client.pages("/operator/workspaces", workspaces, (data) => data.nextCursor)) {
    for (const { id, slug } of page?.items ?? []) await recoverWorkspace(client, id, slug);
  }
  const { projects, segments, entries, unreadable } = totals;
  console.log(`Recovered ${segments} segments with ${entries} entries of ${projects} projects.`);
  if (unreadable > 0) console.log(`${unreadable} files cannot be read.`);
  console.log("Run npm run reconcile now: it lists the entries that are in no file.");
  return unreadable === 0 ? 0 : 1;
}

async function recoverWorkspace(client: OperatorClient, workspaceId: string, slug: string): Promise<void> {
  const path = `/operator/workspaces/${workspaceId}`;
  for await (const page of client.pages(path, workspace, (data) => data.projects.nextCursor)) {
    for (const { id, flushedSeq } of page?.projects.items ?? []) {
      if (flushedSeq > 0) await recoverProject(client, `${workspaceId} (${slug})  ${id}`, `${path}/projects/${id}`);
    }
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
