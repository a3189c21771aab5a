/*
 * In bundles for browsers, unless they are for development, instead of `names.ts`: the texts and lists of names would be in
 * every page. Without parameters, so that minifiers remove the calls.
 */

export function checkNames(): void {}

export function checkPageNames(): void {}
