import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { unreachable } from "../../api/failure.ts";
import { useLoad } from "../../lib/load.ts";
import { useTitle } from "../../ui/page.tsx";
import { Select, type SelectOption } from "../../ui/select.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { isDark, themeVersion } from "../../ui/theme.tsx";
import { Contents } from "./contents.tsx";
import css from "./reference.module.css";
import type { ReferenceHandle } from "./reference-place.ts";

/** Not a part of the build: the worker serves it with Swagger UI, which it loads. */
const MODULE = "/docs/reference.js";

/** Makes the address another one after a failure, because the browser keeps the failure of a module. */
let again = "";

interface Choice {
  id: string;
  value: string;
  options: readonly SelectOption<string>[];
  onChange: (value: string) => void;
  label?: string;
  small?: boolean;
}

/** What `scripts/docs/reference.js` exports. */
interface ReferenceModule {
  showReference(root: HTMLElement, drawSelect: typeof drawChoice): Promise<ReferenceHandle>;
}

/** The API reference: Swagger UI in the colours of the console, with its selects, and the contents beside it. */
export function Reference() {
  useTitle("API reference");
  const root = useRef<HTMLDivElement>(null);
  const { data, failure, reload } = useLoad("reference", async () => {
    try {
      // SAFETY: the file of this release, which exports that.
      const { showReference } = (await import(/* @vite-ignore */ `${MODULE}${again}`)) as ReferenceModule;
      return root.current === null ? null : await showReference(root.current, drawChoice);
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
      <Contents reference={data} root={root} />
      <div class={css.text}>
        {failure ? <Failure failure={failure} onRetry={reload} /> : null}
        {data === null && failure === null ? <Loading /> : null}
        <div id="reference" ref={root} />
      </div>
    </div>
  );
}

/** Draws a select into an element of Swagger UI, which has another library of components. `null` removes it. */
function drawChoice(host: Element, choice: Choice | null): void {
  render(choice === null ? null : <Select {...choice} />, host);
}
