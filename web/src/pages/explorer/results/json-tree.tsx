import { ChevronDown, ChevronRight } from "lucide";
import { useContext, useState } from "preact/hooks";
import { visible } from "../../../lib/visible.ts";
import { Button } from "../../../ui/button.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { TextButton } from "../../../ui/text-button.tsx";
import type { DataCondition, FilterPatch, Scalar } from "../filters.ts";
import { AnsiText } from "./ansi-text.tsx";
import { writePath } from "./data-path.ts";
import css from "./json-tree.module.css";
import { LongText } from "./long-text.tsx";
import { Marked, SearchedText } from "./marked.tsx";
import { containsSearch } from "./search-match.ts";
import { isStackTrace } from "./stack-trace.ts";
import { StackView } from "./stack-view.tsx";
import { ValueActions } from "./value-actions.tsx";

/** Members or items shown at a time. */
const PAGE = 50;
/** A value deeper than this, or with more members, is closed initially, unless it contains a match of the search. */
const OPEN_DEPTH = 2;
const OPEN_MEMBERS = 12;

interface TreeProps {
  data: Record<string, unknown>;
  onFilter: (patch: FilterPatch) => void;
}

/** An entry's `data`. Scalars filter on a click; objects and lists expand. */
export function JsonTree({ data, onFilter }: TreeProps) {
  const filter = (names: readonly string[], condition: DataCondition): void =>
    onFilter({ data: { [writePath(names)]: condition } });
  return <Members value={data} names={[]} filter={filter} />;
}

interface NodeProps {
  names: readonly string[];
  filter: (names: readonly string[], condition: DataCondition) => void;
}

function Members({ value, names, filter }: NodeProps & { value: object }) {
  const search = useContext(SearchedText);
  const members = Object.entries(value);
  const [shown, setShown] = useState(() => pagesTo(search === "" ? -1 : firstMatching(members, search)));
  const left = members.length - shown;
  return (
    <ul class={css.members}>
      {members.slice(0, shown).map(([name, member]) => (
        <li key={name}>
          <Member name={name} value={member} names={[...names, name]} filter={filter} />
        </li>
      ))}
      {left > 0 ? (
        <li>
          <Button small look="quiet" onClick={() => setShown(shown + PAGE)}>
            Show {Math.min(PAGE, left)} more of {left.toLocaleString()}
          </Button>
        </li>
      ) : null}
    </ul>
  );
}

function Member({ name, value, names, filter }: NodeProps & { name: string; value: unknown }) {
  if (typeof value === "object" && value !== null) {
    return <Branch name={name} value={value} names={names} filter={filter} />;
  }
  return <Leaf name={name} value={scalarOf(value)} names={names} filter={filter} />;
}

function Branch({ name, value, names, filter }: NodeProps & { name: string; value: object }) {
  const count = Object.keys(value).length;
  const search = useContext(SearchedText);
  const [isOpen, setOpen] = useState(
    () => (names.length <= OPEN_DEPTH && count <= OPEN_MEMBERS) || (search !== "" && containsSearch(value, search)),
  );
  const isList = Array.isArray(value);
  const unit = isList ? "item" : "member";
  const summary = `${count.toLocaleString()} ${unit}${count === 1 ? "" : "s"}`;
  return (
    <>
      <div class={css.line}>
        <button
          type="button"
          class={css.toggle}
          aria-expanded={isOpen}
          disabled={count === 0}
          onClick={() => setOpen(!isOpen)}
        >
          <span class={css.arrow} aria-hidden="true">
            <Icon shape={isOpen ? ChevronDown : ChevronRight} size={14} />
          </span>
          <span class={css.name}>{visible(name)}</span>
          <span class={css.summary}>{isList ? `[${summary}]` : `{${summary}}`}</span>
        </button>
        <ValueActions names={names} value={value} filter={filter} />
      </div>
      {isOpen && count > 0 ? <Members value={value} names={names} filter={filter} /> : null}
    </>
  );
}

function Leaf({ name, value, names, filter }: NodeProps & { name: string; value: Scalar }) {
  const text = typeof value === "string" ? value : String(value);
  if (isStackTrace(text)) {
    return (
      <>
        <div class={css.line}>
          <span class={css.leaf}>
            <span class={css.name}>{visible(name)}</span>
          </span>
          <ValueActions names={names} value={value} filter={filter} />
        </div>
        <StackView text={text} />
      </>
    );
  }
  return (
    <div class={css.line}>
      <span class={css.leaf}>
        <span class={css.name}>{visible(name)}</span>
        <LongText text={text}>
          {(shown) => (
            <TextButton
              class={`${css.value} ${css[kindOf(value)]}`}
              title="Filter by this value"
              onPress={() => filter(names, value)}
            >
              {typeof value === "string" ? (
                <>
                  "<AnsiText text={shown} />"
                </>
              ) : value === null ? (
                shown
              ) : (
                <Marked text={shown} />
              )}
            </TextButton>
          )}
        </LongText>
      </span>
      <ValueActions names={names} value={value} filter={filter} />
    </div>
  );
}

function firstMatching(members: readonly [string, unknown][], search: string): number {
  return members.findIndex(([, member]) => containsSearch(member, search));
}

/** Members of the pages up to and including an index; one page for -1. */
function pagesTo(index: number): number {
  return Math.max(1, Math.ceil((index + 1) / PAGE)) * PAGE;
}

function kindOf(value: Scalar): "string" | "number" | "word" {
  if (typeof value === "string") return "string";
  return typeof value === "number" ? "number" : "word";
}

/** Narrows a JSON value that is neither an object nor a list. */
function scalarOf(value: unknown): Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}
