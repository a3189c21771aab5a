import { DurableObject } from "cloudflare:workers";

/** A version of the service from before alerts, with what the harness orders. Its configuration names matcher objects. */

export { AddressObject } from "../../../../src/objects/address/address.ts";
export { CompactorObject } from "../../../../src/objects/compactor/compactor.ts";
export { ScannerObject } from "../../../../src/objects/scanner/scanner.ts";
export { UserObject } from "../../../../src/objects/user/user.ts";
export { ColdWriter, TailBacklog } from "../../../../src/objects/workspace/entrypoints.ts";
export { default } from "../../../../src/worker.ts";
export { direct, WorkspaceObject } from "./commits.ts";

export class MatcherObject extends DurableObject {}
