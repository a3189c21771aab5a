import { lazyModule } from "../../../ui/use-lazy.ts";
import { provideLanguage } from "./language.ts";

/** Loads the query language. */
export const LANGUAGE = lazyModule(async () => {
  const parts = await import("./language-parts.ts");
  provideLanguage(parts);
  return parts;
});
