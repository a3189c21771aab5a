import type { MadeKey } from "../../../model/types.ts";

type KeyForCalls = Pick<MadeKey, "secret" | "projectId" | "scopes">;

/** A line for a shell that works as it stands: it sends an entry, or, with a key that may not, asks for some. */
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

/** The client library with this key, which it takes from the environment: secrets have no place in code. */
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
