import { DENSITIES, type Density } from "../../ui/density.ts";
import { useTitle } from "../../ui/page.tsx";
import { ControlSamples } from "./control-samples.tsx";
import css from "./dev-ui.module.css";
import { StateSamples } from "./state-samples.tsx";
import { TokenSamples } from "./token-samples.tsx";

const THEMES = ["light", "dark"] as const;

/** Every component in its states, in both themes and densities: docs/design-system.md. Served locally only. */
export function DevUi() {
  useTitle("Components");
  return (
    <div class={css.page}>
      <h1>Components</h1>
      <div class={css.grid}>
        {THEMES.flatMap((theme) =>
          DENSITIES.map((each) => <Samples key={theme + each} theme={theme} density={each} />),
        )}
      </div>
    </div>
  );
}

function Samples({ theme, density }: { theme: (typeof THEMES)[number]; density: Density }) {
  const name = `${theme}, ${density}`;
  return (
    <section class={css.samples} data-theme={theme} data-density={density} aria-label={name}>
      <h2>{name}</h2>
      <TokenSamples />
      <ControlSamples />
      <StateSamples />
    </section>
  );
}
