import { useEffect, useState } from "preact/hooks";

/** A module that is loaded once, when it is first needed. */
export interface LazyModule<T> {
  /** Starts loading early. A failure shows up when the module is used. */
  preload: () => void;
  load: () => Promise<T>;
  /** The module if it is loaded. */
  current: () => T | null;
}

/** @param importing resolves to nothing if a file of the release is missing: see `reload-if-outdated.ts` */
export function lazyModule<T>(importing: () => Promise<T | undefined>): LazyModule<T> {
  let loaded: T | null = null;
  const load = async (): Promise<T> => {
    loaded ??= (await importing()) ?? null;
    if (loaded === null) throw new Error("The module could not be loaded.");
    return loaded;
  };
  const module = { load, current: () => loaded, preload: () => void load().catch(() => undefined) };
  MODULES.push(module);
  return module;
}

const MODULES: LazyModule<unknown>[] = [];

/** Milliseconds after which all modules are loaded, so that an outage later does not make a list unusable. */
const LATER_MS = 4000;

/** Loads all modules when the page has been idle for a while. */
export function preloadLater(): void {
  setTimeout(() => {
    for (const { preload } of MODULES) preload();
  }, LATER_MS);
}

/**
 * Returns a module while it is wanted, `null` until it is loaded.
 * @param onFail called if it cannot be loaded
 */
export function useLazy<T>(module: LazyModule<T>, isWanted: boolean, onFail: () => void): T | null {
  const [, setLoaded] = useState(0);
  useEffect(() => {
    if (!isWanted || module.current() !== null) return;
    let isHere = true;
    module.load().then(
      () => isHere && setLoaded((before) => before + 1),
      () => isHere && onFail(),
    );
    return () => {
      isHere = false;
    };
  }, [isWanted]);
  return isWanted ? module.current() : null;
}
