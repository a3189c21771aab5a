import { inject } from "vitest";

/** Address of the server that the files of a lane share, which this starts if no file has: see `shared-server.ts`. */
export async function sharedServerUrl(): Promise<string> {
  const response = await fetch(inject("sharedServer"));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
