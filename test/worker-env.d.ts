import type { D1Migration } from "cloudflare:test";
import type { Env } from "../src/env.ts";

declare global {
  namespace Cloudflare {
    type Bindings =
      | "WORKSPACES"
      | "USERS"
      | "ADDRESSES"
      | "COMPACTORS"
      | "MATCHERS"
      | "SCANNERS"
      | "DB"
      | "COLD_DB"
      | "BUCKET"
      | "ASSETS"
      | "MAIL_QUEUE"
      | "VIOLATION_QUEUE"
      | "EMAIL";
    interface Env extends Pick<import("../src/env.ts").Env, Bindings> {
      // With their classes, so that tests can call methods and look inside.
      WORKSPACES: DurableObjectNamespace<import("../src/objects/workspace/workspace.ts").WorkspaceObject>;
      USERS: DurableObjectNamespace<import("../src/objects/user/user.ts").UserObject>;
      COMPACTORS: DurableObjectNamespace<import("../src/objects/compactor/compactor.ts").CompactorObject>;
      MATCHERS: DurableObjectNamespace<import("../src/objects/matcher/matcher.ts").MatcherObject>;
      SCANNERS: DurableObjectNamespace<import("../src/objects/scanner/scanner.ts").ScannerObject>;
      ADDRESSES: DurableObjectNamespace<import("../src/objects/address/address.ts").AddressObject>;
      MAIL_QUEUE: Queue<import("../src/mail/mail.ts").MailMessage>;
      VIOLATION_QUEUE: Queue<import("../src/limits/violations.ts").ViolationMessage>;
      SECOND_COLD_DB: D1Database;
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
