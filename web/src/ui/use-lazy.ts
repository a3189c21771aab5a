import { useEffect, useState } from "preact/hooks";
import { loadAfterOutage } from "../lib/needed-loads.ts";
import { oneAtATime } from "../lib/one-at-a-time.ts";
import { recovery } from "../lib/retry.ts";

/** A module that is loaded once, when it is first needed. */
export interface LazyModule<T> {
  /** Starts loading early. After a failure, loads once more when the service is reachable again. */
  preload: () => void;
  /** During an outage waits for its end. */
  load: () => Promise<T>;
  /** The module if it is loaded. */
  current: () => T | null;
}

/** @param importing resolves to nothing if a file of the release is missing: see `reload-if-outdated.ts` */
export function lazyModule<T>(importing: () => Promise<T | undefined>): LazyModule<T> {
  let loaded: T | null = null;
  const importOnce = oneAtATime(importing);
  const keep = (module: T | undefined): T => {
    loaded ??= module ?? null;
    if (loaded === null) throw new Error("The module could not be loaded.");
    return loaded;
  };
  const preload = (onFail: () => void): void => {
    if (loaded === null) importOnce().then(keep).catch(onFail);
  };
  const module = {
    load: async () => loaded ?? keep(await importOnce().catch(() => loadAfterOutage(importOnce))),
    current: () => loaded,
    preload: () =>
      preload(() => {
        const unlisten = recovery.onSuccess(() => {
          unlisten();
          preload(() => undefined);
        });
      }),
  };
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
export function useLazy<T>(module: LazyModule<T>, isWanted: boolean, onFail?: () => void): T | null {
  const [, setLoaded] = useState(0);
  const shown = isWanted ? module.current() : null;
  useEffect(() => {
    // Not by the module's present state: an early load may have ended since this was rendered, and renders nothing itself.
    if (!isWanted || shown !== null) return;
    let isHere = true;
    module.load().then(
      () => isHere && setLoaded((before) => before + 1),
      () => isHere && onFail?.(),
    );
    return () => {
      isHere = false;
    };
  }, [isWanted]);
  return shown;
}
