import { Cascade } from "../../src/limits/cascade.ts";
import { Limiter } from "../../src/limits/limiter.ts";

/**
 * The whole service, with the bindings of its wrangler.toml and limits switched off: every request is admitted without
 * reading its rule, its counter or the disk. The difference to the service is the cost of exact limits. Never deployed.
 */

export { AddressObject } from "../../src/objects/address/address.ts";
export { CompactorObject } from "../../src/objects/compactor/compactor.ts";
export { MatcherObject } from "../../src/objects/matcher/matcher.ts";
export { ScannerObject } from "../../src/objects/scanner/scanner.ts";
export { UserObject } from "../../src/objects/user/user.ts";
export { WorkspaceObject } from "../../src/objects/workspace/workspace.ts";
export { default, direct } from "../../src/worker.ts";

const UNLIMITED = { limit: 1_000_000, windowSeconds: 60, rule: "none", suffix: "" };
const ADMITTED = { admitted: true, limit: 1_000_000, remaining: 1_000_000, resetAt: 0, retryAfter: 0 };

Cascade.prototype.limitOf = () => UNLIMITED;
Limiter.prototype.check = () => ADMITTED;
Limiter.prototype.flush = () => {};
