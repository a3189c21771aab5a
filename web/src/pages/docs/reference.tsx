import { useEffect, useRef } from "preact/hooks";
import { unreachable } from "../../api/failure.ts";
import { useLoad } from "../../lib/load.ts";
import { useTitle } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { isDark, themeVersion } from "../../ui/theme.tsx";
import css from "./docs.module.css";

/** Not a part of the build: the worker serves it with Swagger UI, which it loads. */
const MODULE = "/docs/reference.js";

/** Makes the address another one after a failure, because the browser keeps the failure of a module. */
let again = "";

/** What `scripts/docs/reference.js` exports. */
interface ReferenceModule {
  showReference(root: HTMLElement): Promise<void>;
}

/** The API reference: Swagger UI in the colours of the console. */
export function Reference() {
  useTitle("API reference");
  const root = useRef<HTMLDivElement>(null);
  const { data, failure, reload } = useLoad("reference", async () => {
    try {
      // SAFETY: the file of this release, which exports that.
      const { showReference } = (await import(/* @vite-ignore */ `${MODULE}${again}`)) as ReferenceModule;
      if (root.current !== null) await showReference(root.current);
      return true;
    } catch {
      again = `?${Date.now()}`;
      throw unreachable();
    }
  });
  useEffect(() => {
    // Swagger UI has dark colours for what the style sheet of the reference leaves alone.
    document.documentElement.classList.toggle("dark-mode", isDark());
    return () => document.documentElement.classList.remove("dark-mode");
  }, [themeVersion.value]);
  return (
    <div class={css.reference}>
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {data === null && failure === null ? <Loading /> : null}
      <div id="reference" ref={root} />
    </div>
  );
}
