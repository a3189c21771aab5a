/** The whole service, with what the harness orders. Never deployed. */

export { AddressObject } from "../../../../src/objects/address/address.ts";
export { CompactorObject } from "../../../../src/objects/compactor/compactor.ts";
export { MatcherObject } from "../../../../src/objects/matcher/matcher.ts";
export { ScannerObject } from "../../../../src/objects/scanner/scanner.ts";
export { UserObject } from "../../../../src/objects/user/user.ts";
export { AlertMatcher } from "../../../../src/objects/workspace/alert-matcher.ts";
export { ColdWriter, TailBacklog } from "../../../../src/objects/workspace/entrypoints.ts";
export { default } from "../../../../src/worker.ts";
export { direct, WorkspaceObject } from "./commits.ts";
