import { MatcherObject as FirstMatcherObject } from "../../../../src/objects/matcher/matcher.ts";

/**
 * Another version of the variant, which runs in turn with the first one: it has no class of matchers yet, so workspace objects do
 * their work without them.
 */

export * from "./worker.ts";
export { default } from "./worker.ts";

export class MatcherObject extends FirstMatcherObject {
  override match(): never {
    throw new TypeError("This version has no matchers.");
  }
}
