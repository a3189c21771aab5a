import { StartFailure } from "./failure.ts";

/** What the start prints about the sandbox. */
export interface OpenSandbox {
  apiKey: string;
  /** ISO 8601. */
  resetsAt: string;
}

/** The sandbox of a server that has just started, created at the first start. */
export async function openSandbox(address: string): Promise<OpenSandbox> {
  const answer = await fetch(`${address}/sandbox`);
  if (!answer.ok) throw new StartFailure(`The service started but its sandbox cannot be reached (${answer.status}).`);
  // SAFETY: the service's own response, with the documented shape.
  const { data } = (await answer.json()) as { data: OpenSandbox };
  return data;
}

/** A command that shows the sandbox's newest errors when pasted into a shell. */
export function sandboxQuery(address: string, { apiKey }: OpenSandbox): string {
  return [
    `curl -s ${address}/logger/query -H "Authorization: Bearer ${apiKey}" -H 'Content-Type: application/json'`,
    `-d '{"filters":{"minLevel":"error"},"pagination":{"limit":3}}'; echo`,
  ].join(" ");
}
