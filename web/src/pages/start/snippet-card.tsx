import { KeyRound } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { Copy } from "../../ui/copy.tsx";
import { Icon } from "../../ui/icon.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { environmentOf, snippetsOf, type Target } from "./snippets.ts";
import css from "./start.module.css";

/** Local storage key of the language that the reader chose last. */
const CHOSEN_KEY = "taffrail.language";

/** Programs and configurations that send an entry, with the address and the key filled in. */
export function SnippetCard({ target }: { target: Target }) {
  const snippets = useMemo(() => snippetsOf(target), [target.origin, target.projectId, target.secret]);
  const [chosen, setChosen] = useState(() => localStorage.getItem(CHOSEN_KEY) ?? "");
  const [first] = snippets;
  const snippet = snippets.find(({ name }) => name === chosen) ?? first;
  if (snippet === undefined) return null;
  const choose = (name: string): void => {
    setChosen(name);
    localStorage.setItem(CHOSEN_KEY, name);
  };
  const environment = environmentOf(target);
  return (
    <section class={css.card} aria-label="Program">
      <Tabs label="Language or client" tabs={snippets} chosen={snippet.name} onChoose={choose}>
        {snippet.readsEnvironment ? <Code title="Address and key" text={environment} isSecret /> : null}
        <Code title={snippet.how} text={snippet.text} />
        {snippet.note === undefined ? null : <p class={css.note}>{snippet.note}</p>}
      </Tabs>
      {target.secret === null ? null : (
        <p class={css.key}>
          <Icon shape={KeyRound} />
          <span>
            The key <code>{target.secret.slice(0, 18)}…</code> is on this page only. Store it before you leave.
          </span>
          <Copy text={target.secret} label="Copy key" />
        </p>
      )}
    </section>
  );
}

function Code({ title, text, isSecret = false }: { title: string; text: string; isSecret?: boolean }) {
  return (
    <div class={css.code}>
      <div class={css.codeHead}>
        <span>{title}</span>
        <Copy text={text} label={isSecret ? "Copy variables" : "Copy snippet"} />
      </div>
      <ScrollBox label={title}>
        <pre>{text}</pre>
      </ScrollBox>
    </div>
  );
}
