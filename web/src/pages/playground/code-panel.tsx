import { useState } from "preact/hooks";
import { Copy } from "../../ui/copy.tsx";
import { Card } from "../../ui/page.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import css from "./playground.module.css";

export interface Snippet {
  name: string;
  title: string;
  /** `null` while the composer has nothing valid to send. */
  code: string | null;
  note?: string;
}

/** The same call as code to copy. */
export function CodePanel({ snippets }: { snippets: readonly Snippet[] }) {
  const [wanted, setWanted] = useState("");
  const chosen = snippets.find(({ name }) => name === wanted) ?? snippets[0];
  if (!chosen) return null;
  return (
    <Card title="Code">
      <Tabs label="Language" tabs={snippets} chosen={chosen.name} onChoose={setWanted}>
        {chosen.code === null ? (
          <p class={css.quiet}>Appears once the entries above are valid.</p>
        ) : (
          <div class={css.snippet}>
            <ScrollBox label={chosen.title}>
              <pre>
                <code>{chosen.code}</code>
              </pre>
            </ScrollBox>
            <Copy text={chosen.code} />
          </div>
        )}
        {chosen.note ? <p class={css.quiet}>{chosen.note}</p> : null}
      </Tabs>
    </Card>
  );
}
