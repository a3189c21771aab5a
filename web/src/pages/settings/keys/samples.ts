import type { MadeKey } from "../../../model/types.ts";

type KeyForCalls = Pick<MadeKey, "secret" | "projectId" | "scopes">;

/** A shell command that works as it is: sends an entry, or queries some if the key may only read. */
export function curlLine({ secret, projectId, scopes }: KeyForCalls, origin: string): string {
  const [path, body] = scopes.includes("logs:write")
    ? [`/logger/${projectId}/log`, { level: "info", message: "Hello from curl" }]
    : ["/logger/query", { pagination: { limit: 10 } }];
  return [
    `curl ${origin}${path}`,
    `-H 'Authorization: Bearer ${secret}'`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(body)}'`,
  ].join(" \\\n  ");
}

/** Client library code for this key, which it reads from the environment, because code must not contain secrets. */
export function clientCode({ secret, projectId }: KeyForCalls, origin: string): string {
  return `// TAFFRAIL_API_KEY=${secret}
import { createLogger } from "taffrail/node";

const logger = createLogger({
  apiUrl: "${origin}",
  projectId: "${projectId}",
  apiKey: process.env.TAFFRAIL_API_KEY,
});
logger.info("Hello from the client");`;
}
