import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pack } from "../scripts/lib/pack.ts";

/** The code of an application that uses all frameworks. */
const CODE = `
import express from "express";
import { Hono } from "hono";
import { createLogger, type Logger } from "taffrail";
import { type BrowserLogger, createLogger as createPageLogger } from "taffrail/browser";
import { taffrail, taffrailErrors, webHandler } from "taffrail/express";
import { taffrail as honoTaffrail } from "taffrail/hono";
import { taffrailRequestError, withTaffrail } from "taffrail/next";
import { createLogger as createNodeLogger } from "taffrail/node";
import { pinoDestination } from "taffrail/pino";
import { createProxy } from "taffrail/proxy";
import { memoryTransport } from "taffrail/testing";
import { TaffrailTransport } from "taffrail/winston";
import { withTaffrail as workerWithTaffrail } from "taffrail/workers";

const logger: Logger = createLogger({ transport: memoryTransport() });
createNodeLogger({ transport: "console", shutdown: { timeoutMs: 5 }, spool: false });

// The members of Next's classes that a handler uses.
declare class NextRequest extends Request {
  get nextUrl(): { pathname: string; locale: string };
}
declare class NextResponse<Body = unknown> extends Response {
  static json<Body>(body: Body): NextResponse<Body>;
}
type Context = { params: Promise<{ id: string }> };

export const GET = withTaffrail(logger, async (request: NextRequest, { params }: Context) =>
  Response.json({ id: (await params).id, path: request.nextUrl.pathname }),
);
export const POST = withTaffrail(logger, async (request) => Response.json(await request.json()));
export const PUT = withTaffrail(logger, () => new Response(null, { status: 204 }));
export const PATCH = withTaffrail(logger, (request: Request) => Response.json(request.url), {
  waitUntil: (promise) => void promise,
});
// The type that Next requires of route handlers.
type RouteHandler = (request: NextRequest, context: Context) => Promise<Response | void> | Response | void;
export const routes: RouteHandler[] = [GET, POST, PUT, PATCH];
// @ts-expect-error the second argument of the handler is missing
GET(new Request("https://shop.example/"));

type OnRequestError = (
  error: unknown,
  request: Readonly<{ path: string; method: string; headers: NodeJS.Dict<string | string[]> }>,
  context: Readonly<{
    routerKind: "Pages Router" | "App Router";
    routePath: string;
    routeType: "render" | "route" | "action" | "proxy";
    renderSource?: "react-server-components" | "react-server-components-payload" | "server-rendering";
    revalidateReason: "on-demand" | "stale" | undefined;
  }>,
) => void | Promise<void>;
export const onRequestError: OnRequestError = taffrailRequestError(logger);

const app = express();
app.use(taffrail(logger));
app.get("/orders/:id", (request, response) => {
  request.log.info("Order looked up", { id: request.params.id });
  request.log.http.request("GET /");
  // @ts-expect-error not a member of a logger
  request.log.shout("no");
  response.end();
});
app.use(taffrailErrors());

const proxy = createProxy({
  apiUrl: process.env.TAFFRAIL_URL,
  projectId: process.env.TAFFRAIL_PROJECT,
  apiKey: process.env.TAFFRAIL_API_KEY,
});
app.all("/logs", webHandler(proxy));

function track(logger: Logger): void {
  logger.withContext({ requestId: "r1" }, () => logger.child({ a: 1 }).info("tracked"));
}
const page = createPageLogger({ url: "/logs" });
track(page);
export const same: BrowserLogger = logger;

const hono = new Hono<{ Variables: { logger: Logger } }>();
hono.use(honoTaffrail(logger));
hono.all("/logs", (c) => proxy(c.req.raw));
export default workerWithTaffrail(() => logger, { fetch: (request: Request) => hono.fetch(request) });
export const others = [pinoDestination(page), new TaffrailTransport(page)];
`;

/** The module resolutions of the compiler, with the files to compile. */
const RESOLUTIONS = [
  ["node16", "node16", ["app.mts", "app.cts"]],
  ["nodenext", "nodenext", ["app.mts", "app.cts"]],
  ["bundler", "preserve", ["app.ts", "app.mts", "app.cts"]],
] as const;

let dir = "";
// In the library's directory, so that the frameworks of its tests are found. The packed library takes precedence.
beforeAll(() => {
  dir = mkdtempSync(path.join(import.meta.dirname, ".types-"));
  cpSync(path.join(pack().consumer, "node_modules"), path.join(dir, "node_modules"), { recursive: true });
  // A separate package: in the library's package its name would resolve to its own build.
  writeFileSync(path.join(dir, "package.json"), '{"name":"application","private":true}');
  for (const ending of ["ts", "mts", "cts"]) writeFileSync(path.join(dir, `app.${ending}`), CODE);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test.each(RESOLUTIONS)(
  "10: applications of all frameworks compile as ESM and CJS with the module resolution %s",
  async (moduleResolution, module, files) => {
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      module,
      moduleResolution,
      target: "es2022",
      lib: ["es2024", "dom", "dom.iterable", "esnext.disposable"],
      types: ["node"],
    };
    const config = path.join(dir, `tsconfig.${moduleResolution}.json`);
    writeFileSync(config, JSON.stringify({ compilerOptions, files }));
    const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [tsc, "-p", config]).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    expect(stdout + stderr).toBe("");
  },
);
