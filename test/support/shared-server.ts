import { once } from "node:events";
import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { startServer, type TestServer } from "./server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address that responds with the address of the lane's shared server. */
    sharedServer: string;
  }
}

/**
 * Provides one server with the tests' usual settings to the files of a lane that neither stop it nor depend on its mails,
 * its sandbox or other settings. It starts when the first file requests it, so that other files run without it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<TestServer> | undefined;
  const desk = createServer((_request, response) => {
    server ??= startServer();
    server.then(
      ({ url }) => response.end(url),
      (error) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, "127.0.0.1");
  await once(desk, "listening");
  const address = desk.address();
  if (address === null || typeof address === "string") throw new Error("No port was assigned.");
  project.provide("sharedServer", `http://127.0.0.1:${address.port}`);
  return async () => {
    desk.closeAllConnections();
    desk.close();
    await server?.then(({ stop }) => stop());
  };
}
