import { createContext, runInContext } from "node:vm";
import { beforeAll, describe, expect, test } from "vitest";
import { bundle } from "../scripts/lib/bundle.ts";
import { entryPoints, type Packed, pack } from "../scripts/lib/pack.ts";

const NAMES = entryPoints().map(({ name }) => name.replace(/^\./, "taffrail"));

/** Globals that every web-standard runtime has. They need no process and no page. */
const WEB = {
  TextEncoder,
  TextDecoder,
  URL,
  URLSearchParams,
  Headers,
  Request,
  Response,
  ReadableStream,
  AbortController,
  AbortSignal,
  fetch,
  setTimeout,
  clearTimeout,
  queueMicrotask,
  performance,
  console,
};

/** Realms, and their globals besides the web-standard ones. */
const REALMS: readonly [name: string, conditions: string[], globals: () => object][] = [
  ["a realm without process, location and document", [], () => ({})],
  ["an edge runtime, whose process has only env", ["edge-light"], () => ({ process: { env: {} } })],
  // A bundler without the condition uses Node's modules.
  ["an edge runtime that gets Node's modules", ["node"], () => ({ process: { env: {} } })],
  ["Workers without compatibility flags", ["workerd", "worker"], () => ({})],
  ["a server that renders with a browser's modules", ["browser"], () => ({ process: { env: {} } })],
];

/** Globals of a server that renders pages. Modules must not use randomness: Next forbids it while it prerenders. */
const TRAPS = `
  const trapped = () => { globalThis.trapped = true; throw new Error("touched"); };
  Math.random = trapped;
  Date.now = trapped;
  for (const name of ["sessionStorage", "localStorage", "crypto"]) Object.defineProperty(globalThis, name, { get: trapped });
`;

/** The module of a page, evaluated and rendered. */
const RENDERED = `
  import { createLogger } from "taffrail/browser";
  import { createLogger as createServerLogger } from "taffrail";
  const reported = [];
  const logger = createLogger({
    url: "/logs",
    level: "trace",
    defaultMeta: { release: "1" },
    beforeSend: () => reported.push("beforeSend"),
    onError: () => reported.push("onError"),
    onDrop: () => reported.push("onDrop"),
  });
  logger.info("rendered", { password: "x" });
  logger.error(new Error("rendered"));
  logger.http.request("GET /");
  logger.category("auth", "login").child({ a: 1 }).fatal("rendered");
  const inner = logger.withContext({ a: 1 }, () => 7);
  globalThis.result = (async () => ({
    reported,
    inner,
    explained: logger.explain("info").sent,
    sessionId: logger.sessionId,
    flushed: await logger.flush(),
    closed: await logger.close(),
    stats: logger.stats(),
    trapped: globalThis.trapped === true,
    missing: Object.keys(createServerLogger({ transport: "memory" })).filter((name) => !(name in logger)),
  }))();
`;

let packed: Packed;
beforeAll(() => {
  packed = pack();
});

describe.each(REALMS)("8: import in %s", (_name, conditions, globals) => {
  test.each(NAMES)("%s reads no member of another runtime", async (name) => {
    const code = `import * as all from ${JSON.stringify(name)}; globalThis.all = all;`;
    const script = await bundle(packed, code, conditions, "iife");
    const realm = createContext({ ...WEB, ...globals(), require: modules });
    runInContext(script, realm);
    expect(Object.keys(realm.all).length).toBeGreaterThan(0);
  });
});

describe("9: a page's logger on a server that renders the page", () => {
  test.each([["browser"], ["node"], ["edge-light"]])(
    "does nothing with the modules for %s, and has the members of every logger",
    async (condition) => {
      const script = await bundle(packed, RENDERED, [condition], "iife");
      const realm = createContext({
        ...WEB,
        process: { env: {} },
        require: (name: string) => process.getBuiltinModule(name),
      });
      runInContext(TRAPS, realm);
      runInContext(script, realm);
      const nothing = { delivered: 0, dropped: 0, pending: 0 };
      expect(await realm.result).toEqual({
        reported: [],
        inner: 7,
        explained: false,
        sessionId: "",
        flushed: nothing,
        closed: nothing,
        stats: {
          ...nothing,
          logged: 0,
          sampledOut: 0,
          filtered: 0,
          pendingBytes: 0,
          requests: 0,
          retries: 0,
          spooled: 0,
        },
        trapped: false,
        missing: [],
      });
    },
  );

  test("throws for invalid options", async () => {
    const code = `import { createLogger } from "taffrail/browser"; createLogger({ url: "/logs", level: "loud" });`;
    const script = await bundle(packed, code, ["browser"], "iife");
    expect(() => runInContext(script, createContext({ ...WEB }))).toThrow("level must be one of");
  });
});

describe("8: taffrail/node creates a logger that sends", () => {
  test.each([
    ["on the edge, where CompressionStream throws", "edge-light", "x".repeat(5000)],
    ["with a process without events and stubs of Node's modules", "node", "short"],
  ])("%s", async (_name, condition, text) => {
    const code = `import { createLogger } from "taffrail/node";
      const logger = createLogger({ apiUrl: "http://logs.example", projectId: "proj_a", batch: { maxRetries: 0 } });
      logger.info("on the edge", { text: ${JSON.stringify(text)} });
      globalThis.result = logger.flush();`;
    const script = await bundle(packed, code, [condition], "iife");
    const bodies: string[] = [];
    const answer = async (_url: string, { body }: { body: Uint8Array<ArrayBuffer> }): Promise<Response> => {
      bodies.push(new TextDecoder().decode(body));
      return Response.json({ success: true, data: { rejected: [] } }, { status: 201 });
    };
    const CompressionStream = stub("CompressionStream");
    const realm = createContext({
      ...WEB,
      crypto,
      fetch: answer,
      CompressionStream,
      process: { env: {} },
      require: modules,
    });
    runInContext(script, realm);
    expect(await realm.result).toEqual({ delivered: 1, dropped: 0, pending: 0 });
    expect(bodies.join()).toContain(text);
  });
});

/** A module of Node as edge runtimes provide it. */
function modules(name: string): unknown {
  return new Proxy({}, { get: () => stub(name) });
}

/** A function that exists, but throws when it is called. */
function stub(name: string): unknown {
  return class {
    constructor() {
      throw new Error(`${name} is not supported here.`);
    }
  };
}
