import type { D1Migration } from "cloudflare:test";
import type { Env } from "../src/env.ts";

declare global {
  namespace Cloudflare {
    type Bindings =
      | "WORKSPACES"
      | "USERS"
      | "ADDRESSES"
      | "DB"
      | "COLD_DB"
      | "ASSETS"
      | "MAIL_QUEUE"
      | "VIOLATION_QUEUE"
      | "EMAIL";
    interface Env extends Pick<import("../src/env.ts").Env, Bindings> {
      MIGRATIONS: D1Migration[];
      COLD_MIGRATIONS: D1Migration[];
      MODEL_RUNS: string;
    }
    interface GlobalProps {
      mainModule: typeof import("../src/worker.ts");
    }
  }
}

export type { Env };
