import { useState } from "preact/hooks";
import { Copy } from "../../ui/copy.tsx";
import { Card } from "../../ui/page.tsx";
import { Wide } from "../../ui/wide.tsx";
import css from "./playground.module.css";
import { Tabs } from "./tabs.tsx";

export interface Snippet {
  name: string;
  title: string;
  /** Null while the composer holds nothing that could be sent. */
  code: string | null;
  note?: string;
}

/** The same call in other words, to be copied. */
export function CodePanel({ snippets }: { snippets: readonly Snippet[] }) {
  const [wanted, setWanted] = useState("");
  const chosen = snippets.find(({ name }) => name === wanted) ?? snippets[0];
  if (!chosen) return null;
  return (
    <Card title="The same in code">
      <Tabs label="Language" tabs={snippets} chosen={chosen.name} onChoose={setWanted}>
        {chosen.code === null ? (
          <p class={css.quiet}>It appears here once the entries above can be sent.</p>
        ) : (
          <div class={css.snippet}>
            <Wide label={chosen.title}>
              <pre>
                <code>{chosen.code}</code>
              </pre>
            </Wide>
            <Copy text={chosen.code} />
          </div>
        )}
        {chosen.note ? <p class={css.quiet}>{chosen.note}</p> : null}
      </Tabs>
    </Card>
  );
}
