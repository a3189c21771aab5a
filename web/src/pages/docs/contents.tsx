import { ChevronRight, Menu } from "lucide";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../../ui/icon.tsx";
import { isShortcut } from "../../ui/shortcuts/shortcuts.ts";
import css from "./reference.module.css";
import {
  nameOf,
  type Place,
  type ReferenceHandle,
  type ReferenceOperation,
  useHash,
  usePresent,
} from "./reference-place.ts";

interface ContentsProps {
  /** `null` until the reference is drawn: the filter is there before, so that no key is lost. */
  reference: ReferenceHandle | null;
  /** Element with the reference. */
  root: { readonly current: HTMLElement | null };
}

/** What the contents have until then. */
const NOTHING: ReferenceHandle = {
  groups: [],
  isOpen: () => false,
  open: () => undefined,
  onChange: () => () => undefined,
};

/** Groups and operations of the reference: a column, and in a narrow window a part that opens below its button. */
export function Contents({ reference: drawn, root }: ContentsProps) {
  const reference = drawn ?? NOTHING;
  const [filter, setFilter] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [, setChanges] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const present = usePresent(reference, root);
  const show = useHash(reference);
  useEffect(() => reference.onChange(() => setChanges((before) => before + 1)), [reference]);
  useSlash(() => setOpen(true), field);
  useLayoutEffect(() => {
    // By the list's own position: `scrollIntoView` would also move the page.
    const here = list.current?.querySelector<HTMLElement>("[aria-current]");
    const box = list.current;
    if (!here || !box || filter !== "") return;
    const offset = here.getBoundingClientRect().top - box.getBoundingClientRect().top;
    if (offset < 0 || offset > box.clientHeight - here.offsetHeight) box.scrollTop += offset - box.clientHeight / 3;
  }, [nameOf(present)]);

  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = reference.groups
    .map((group) => ({ ...group, operations: group.operations.filter((each) => matches(group.name, each, words)) }))
    .filter((group) => words.length === 0 || group.operations.length > 0);
  const found = groups.reduce((sum, group) => sum + group.operations.length, 0);
  const choose = (event: MouseEvent, place: Place): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (place.operation !== undefined) setOpen(false);
    show(place);
  };
  return (
    <nav
      class={css.contents}
      aria-label="Contents"
      data-open={isOpen}
      onKeyDown={(event) => {
        if (event.key === "Escape") setOpen(false);
      }}
    >
      <button
        type="button"
        class={css.opener}
        aria-expanded={isOpen}
        aria-controls="reference-contents"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon shape={Menu} />
        <span>Contents</span>
        <span class={css.here}>{labelOf(reference, present)}</span>
      </button>
      <div class={css.panel} id="reference-contents">
        <div class={css.filter}>
          <input
            ref={field}
            type="search"
            aria-label="Filter operations"
            aria-keyshortcuts="/"
            placeholder="Filter operations"
            autocomplete="off"
            spellcheck={false}
            value={filter}
            onInput={({ currentTarget }) => setFilter(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape" && filter !== "") {
                event.stopPropagation();
                setFilter("");
              }
            }}
          />
          {filter === "" ? <kbd>/</kbd> : null}
        </div>
        <p class={words.length > 0 && found === 0 && drawn !== null ? css.none : "visually-hidden"} role="status">
          {words.length === 0 || drawn === null
            ? ""
            : found === 0
              ? "No operation matches."
              : found === 1
                ? "1 operation"
                : `${found} operations`}
        </p>
        <ul class={css.groups} ref={list}>
          {groups.map(({ name, operations }) => {
            const isListed = words.length > 0 || reference.isOpen(name);
            const isHere = present?.group === name && present.operation === undefined;
            return (
              <li key={name}>
                <a
                  class={css.group}
                  href={hrefOf({ group: name })}
                  aria-expanded={isListed}
                  aria-current={isHere ? "location" : undefined}
                  onClick={(event) => choose(event, { group: name })}
                >
                  <Icon shape={ChevronRight} size={14} />
                  <span>{name}</span>
                  <span class={css.count}>{operations.length}</span>
                </a>
                {isListed ? (
                  <ul class={css.operations}>
                    {operations.map((operation) => (
                      <li key={operation.id}>
                        <a
                          class={css.operation}
                          href={hrefOf({ group: name, operation: operation.id })}
                          aria-current={
                            present?.group === name && present.operation === operation.id ? "location" : undefined
                          }
                          onClick={(event) => choose(event, { group: name, operation: operation.id })}
                        >
                          <span class={css.method} data-method={operation.method}>
                            {operation.method === "delete" ? "del" : operation.method}
                          </span>
                          <span class={css.summary}>
                            {operation.summary}
                            {words.length > 0 ? <span class={css.path}>{operation.path}</span> : null}
                          </span>
                        </a>
                      </li>
                    ))}
                  </ul>
                ) : null}
              </li>
            );
          })}
        </ul>
        <a class={css.documents} href="/docs/query-language.md">
          All documents
        </a>
      </div>
    </nav>
  );
}

/** Whether an operation has all words in its method, path, summary, id or group. */
function matches(group: string, { method, path, summary, id }: ReferenceOperation, words: readonly string[]): boolean {
  const text = `${method} ${path} ${summary} ${id} ${group}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** As Swagger UI writes it into the address. */
function hrefOf({ group, operation }: Place): string {
  return `#/${[group, operation]
    .filter((name) => name !== undefined)
    .map(encodeURIComponent)
    .join("/")}`;
}

function labelOf({ groups }: ReferenceHandle, place: Place | null): string {
  if (place === null) return "";
  const group = groups.find(({ name }) => name === place.group);
  return group?.operations.find(({ id }) => id === place.operation)?.summary ?? place.group;
}

/** `/` focuses the filter, which a narrow window hides until it is opened. */
function useSlash(reveal: () => void, field: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key !== "/" || !isShortcut(event)) return;
      event.preventDefault();
      reveal();
      field.current?.select();
      // In a narrow window it is shown in the next frame.
      if (document.activeElement !== field.current) requestAnimationFrame(() => field.current?.select());
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}
