import { once } from "node:events";
import { createServer } from "node:http";
import { build } from "esbuild";
import { webHandler } from "../../src/adapters/web-handler.ts";
import { createProxy, type ProxyOptions } from "../../src/proxy/index.ts";
import type { LogEntry } from "../../src/types.ts";
import { type Reply, type Seen, type Sink, sleep, startSink } from "../support/sink.ts";

export interface Site {
  url: string;
  sink: Sink;
  /** Bytes of the requests of browsers. */
  sizes: number[];
  /** Number of requests that were beacons. */
  beacons(): number;
  /** Waits until `count` entries are stored, and a moment longer to detect surplus ones. */
  stored(count: number): Promise<LogEntry[]>;
  close(): Promise<void>;
}

/** Serves a page with the library as `Taffrail`, its proxy at `/logs`, and a service behind it. */
export async function startSite(
  answer?: (request: Seen, number: number) => Reply | Promise<Reply>,
  options: Partial<ProxyOptions> = {},
): Promise<Site> {
  const bundle = await build({
    entryPoints: [new URL("../../src/browser/index.ts", import.meta.url).pathname],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    globalName: "Taffrail",
    alias: { "#names": new URL("../../src/names.ts", import.meta.url).pathname },
    target: "es2022",
    tsconfigRaw: "{}",
  });
  const script = bundle.outputFiles[0]?.text ?? "";
  const sink = await startSink(answer);
  const sizes: number[] = [];
  let beacons = 0;
  const proxy = webHandler(
    createProxy({ apiUrl: sink.url, projectId: "proj_web", apiKey: "sk_server_0123456789", ...options }),
  );
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/logs")) {
      sizes.push(Number(request.headers["content-length"]));
      // Beacons cannot read their answers.
      if (request.headers["sec-fetch-mode"] === "no-cors") beacons++;
      proxy(request, response);
    } else if (request.url === "/script.js") {
      response.setHeader("Content-Type", "text/javascript");
      response.end(script);
    } else {
      response.setHeader("Content-Type", "text/html; charset=utf-8");
      response.end('<!doctype html><title>Page</title><script src="/script.js"></script>');
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    sink,
    sizes,
    beacons: () => beacons,
    async stored(count) {
      for (let waited = 0; sink.stored().length < count && waited < 8000; waited += 20) await sleep(20);
      await sleep(200);
      return sink.stored();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      await sink.close();
    },
  };
}
