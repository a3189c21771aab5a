import type { Client } from "undici";
import { SEED_BATCH, seedEntry } from "../seed.ts";
import type { Seed, SeedResult, SeedRun } from "./protocol.ts";
import { connect, disconnect, send } from "./requests.ts";

/** Sends each project its entries, oldest first, one batch after the other, so that entry `i` gets seq `i + 1`. */
export async function plant({ origin, projects, seed }: SeedRun): Promise<SeedResult> {
  const clients = connect(origin, projects.length);
  const startedAt = performance.now();
  const outcomes = await Promise.all(
    clients.map((client, number) => {
      const { path, authorization } = projects[number] ?? { path: "", authorization: "" };
      const headers = { "content-type": "application/json", authorization };
      return plantProject(client, path, headers, seed, number);
    }),
  );
  await disconnect(clients);
  return {
    acknowledged: outcomes.reduce((total, { acknowledged }) => total + acknowledged, 0),
    seconds: (performance.now() - startedAt) / 1000,
    firstFailure: outcomes.find(({ failure }) => failure !== null)?.failure ?? null,
  };
}

async function plantProject(
  client: Client,
  path: string,
  headers: Record<string, string>,
  seed: Seed,
  project: number,
): Promise<{ acknowledged: number; failure: string | null }> {
  let acknowledged = 0;
  while (acknowledged < seed.perProject) {
    const count = Math.min(SEED_BATCH, seed.perProject - acknowledged);
    const entries = Array.from({ length: count }, (_, at) => seedEntry(seed, project, acknowledged + at));
    const body = Buffer.from(JSON.stringify(entries));
    const failure = await send(client, { path, headers, body, expectedStatus: 201 });
    if (failure !== null) return { acknowledged, failure };
    acknowledged += count;
  }
  return { acknowledged, failure: null };
}
