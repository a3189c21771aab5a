/*
 * Replaces `names.ts` in production bundles for browsers, which would contain its texts and lists of names. The
 * functions have no parameters, so that minifiers remove the calls.
 */

export function checkNames(): void {}

export function checkPageNames(): void {}
