import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { needsLanguage, provideLanguage } from "./language.ts";

/** Loads the query language. */
export const LANGUAGE = lazyModule(async () => {
  const parts = await import("./language-parts.ts");
  provideLanguage(parts);
  return parts;
});

/** Loads the language if an address needs it. Until this returns `true`, the explorer would show everything. */
export function useLanguageFor(url: string): boolean {
  const mark = url.indexOf("?");
  const isNeeded = mark >= 0 && needsLanguage(url.slice(mark));
  return useLazy(LANGUAGE, isNeeded) !== null || !isNeeded;
}
