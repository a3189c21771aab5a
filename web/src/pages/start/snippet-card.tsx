import { KeyRound } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { keep } from "../../lib/keep.ts";
import { Copy } from "../../ui/copy.tsx";
import { Icon } from "../../ui/icon.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { whenSelected } from "../../ui/secret-guard.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { highlighted, type Language } from "./highlight.ts";
import { environmentOf, snippetsOf, type Target } from "./snippets.ts";
import css from "./start.module.css";

/** Local storage key of the language that the reader chose last. */
const CHOSEN_KEY = "taffrail.language";

interface SnippetCardProps {
  target: Target;
  /** Called once the key was copied, alone or within a program. */
  onStored?: () => void;
}

/** Programs and configurations that send an entry, with the address and the key filled in. */
export function SnippetCard({ target, onStored = () => undefined }: SnippetCardProps) {
  const snippets = useMemo(() => snippetsOf(target), [target.origin, target.projectId, target.secret]);
  const [chosen, setChosen] = useState(() => localStorage.getItem(CHOSEN_KEY) ?? "");
  const [first] = snippets;
  const snippet = snippets.find(({ name }) => name === chosen) ?? first;
  if (snippet === undefined) return null;
  const choose = (name: string): void => {
    setChosen(name);
    keep(CHOSEN_KEY, name);
  };
  const environment = environmentOf(target);
  const { secret } = target;
  const copiedOf = (text: string) => (secret !== null && text.includes(secret) ? onStored : undefined);
  const title = target.projectId === null ? "Address and key, filled in with the project" : "Address and key";
  return (
    <section
      class={css.card}
      aria-label="Program"
      onCopy={secret === null ? undefined : whenSelected(secret, onStored)}
    >
      <Tabs label="Language or client" tabs={snippets} chosen={snippet.name} onChoose={choose}>
        {snippet.readsEnvironment ? (
          <Code title={title} text={environment} language="shell" isSecret onCopied={copiedOf(environment)} />
        ) : null}
        <Code title={snippet.how} text={snippet.text} language={snippet.language} onCopied={copiedOf(snippet.text)} />
        {snippet.note === undefined ? null : <p class={css.note}>{snippet.note}</p>}
      </Tabs>
      {secret === null ? null : (
        <p class={css.key}>
          <Icon shape={KeyRound} />
          <span>
            The key <code>{secret.slice(0, 18)}…</code> is on this page only. Store it before you leave.
          </span>
          <Copy text={secret} label="Copy key" onCopied={onStored} />
        </p>
      )}
    </section>
  );
}

interface CodeProps {
  title: string;
  text: string;
  language: Language;
  isSecret?: boolean;
  onCopied: (() => void) | undefined;
}

function Code({ title, text, language, isSecret = false, onCopied }: CodeProps) {
  const runs = useMemo(() => highlighted(text, language), [text, language]);
  return (
    <div class={css.code}>
      <div class={css.codeHead}>
        <span>{title}</span>
        <Copy text={text} label={isSecret ? "Copy variables" : "Copy snippet"} onCopied={onCopied} />
      </div>
      <ScrollBox label={title}>
        <pre>
          {runs.map(({ text, kind }, at) =>
            kind === null ? (
              text
            ) : (
              <span key={at} data-kind={kind}>
                {text}
              </span>
            ),
          )}
        </pre>
      </ScrollBox>
    </div>
  );
}
