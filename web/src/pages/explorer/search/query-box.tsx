import { CornerDownLeft, Search } from "lucide";
import type { RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { QueryError } from "../../../../../src/query-language/error.ts";
import { analyze } from "../../../../../src/query-language/parse.ts";
import { Icon } from "../../../ui/icon.tsx";
import type { Times } from "../view/range.ts";
import { visible } from "../view/visible.ts";
import { askedQueries, rememberQuery } from "./history.ts";
import css from "./query-box.module.css";
import { basisText } from "./suggestions.ts";
import { useSuggestions } from "./use-suggestions.ts";

interface QueryBoxProps {
  workspaceId: string;
  projectId: string | null;
  times: Times;
  value: string;
  onSearch: (query: string) => void;
}

/** A text that the list offers: a whole query of the history, or one that continues what is typed. */
interface Option {
  label: string;
  /** The whole text with it, and where the cursor goes. */
  query: string;
  position: number;
  count?: number | undefined;
}

/**
 * The box of the query language. Enter asks; the arrow keys choose what the service suggests, or in an empty box an
 * earlier query.
 */
export function QueryBox({ workspaceId, projectId, times, value, onSearch }: QueryBoxProps) {
  const [text, setText] = useState(value);
  const [open, setOpen] = useState<{ position: number } | null>(null);
  const [activeLabel, setActiveLabel] = useState<string | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const shown = useRef<HTMLDivElement>(null);
  const place = useRef<HTMLSpanElement>(null);
  const caret = useRef<HTMLSpanElement>(null);
  const [listId, errorId] = [useId(), useId()];
  const asked = useRef(value);
  useEffect(() => {
    if (value !== asked.current) setText(value);
    asked.current = value;
  }, [value]);

  const { tokens, result } = useMemo(() => analyze(text), [text]);
  const typed = open === null || text.trim() === "" ? null : { query: text, position: open.position };
  const suggestions = useSuggestions(workspaceId, projectId, times, typed);
  const options = useMemo((): Option[] => {
    if (open === null) return [];
    if (text.trim() === "") {
      return askedQueries(workspaceId).map((query) => ({ label: query, query, position: query.length }));
    }
    return (suggestions?.items ?? []).map((item) => {
      const { start, end } = suggestions ?? { start: 0, end: 0 };
      const query = text.slice(0, start) + item.text + text.slice(end);
      return { label: item.text, query, position: start + item.text.length, count: item.count };
    });
  }, [open, text, suggestions]);
  const isOpen = options.length > 0;
  const basis = isOpen && suggestions?.basis && text.trim() !== "" ? basisText(suggestions.basis) : null;
  const active = options.findIndex(({ label }) => label === activeLabel);
  useEffect(() => {
    if (active >= 0) document.getElementById(`${listId}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [active]);
  // The text below the transparent input scrolls with it, and so does the caret under the box.
  const follow = (): void => {
    if (!shown.current || !input.current) return;
    shown.current.scrollLeft = input.current.scrollLeft;
    if (!place.current || !caret.current) return;
    const box = shown.current.getBoundingClientRect();
    const at = place.current.getBoundingClientRect().left - box.left;
    caret.current.style.marginInlineStart = `${Math.max(EDGE_PX, Math.min(at, box.width - EDGE_PX * 2))}px`;
  };
  useLayoutEffect(follow);

  const search = (query: string): void => {
    setOpen(null);
    const wrong = query.trim() !== "" && !analyze(query).result.ok;
    setRefused(wrong ? query : null);
    if (wrong) {
      requestAnimationFrame(showPlace);
      return;
    }
    asked.current = query;
    rememberQuery(workspaceId, query.trim());
    onSearch(query.trim());
  };
  // Where the text is wrong may be outside of the visible part.
  const showPlace = (): void => {
    if (!input.current || !place.current) return;
    const { offsetLeft } = place.current;
    const { scrollLeft, clientWidth } = input.current;
    if (offsetLeft < scrollLeft + EDGE_PX || offsetLeft > scrollLeft + clientWidth - EDGE_PX * 2) {
      input.current.scrollLeft = offsetLeft - clientWidth / 2;
    }
    follow();
  };
  const put = ({ query, position }: Option): void => {
    setText(query);
    setActiveLabel(null);
    setOpen({ position });
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(position, position);
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key } = event;
    const chosen = options[active];
    if (key === "ArrowDown" || key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen) setOpen({ position: input.current?.selectionStart ?? text.length });
      else {
        const next = active + (key === "ArrowDown" ? 1 : options.length - (active < 0 ? 0 : 1));
        setActiveLabel(options[next % options.length]?.label ?? null);
      }
    } else if (key === "Escape" && open !== null) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(null);
    } else if ((key === "Enter" || key === "Tab") && isOpen && chosen) {
      event.preventDefault();
      put(chosen);
    }
  };
  // A query that is still being written is wrong at its end most of the time.
  const error = refused === text && !result.ok ? result.error : null;
  return (
    <search class={css.search}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          search(text);
        }}
      >
        <div class={css.box}>
          <div class={css.shown} ref={shown} aria-hidden="true">
            {colored(text, tokens, error, place)}
          </div>
          <span class={css.sign}>
            <Icon shape={Search} />
          </span>
          <input
            ref={input}
            class={css.input}
            type="text"
            role="combobox"
            aria-label="Search"
            aria-expanded={isOpen}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={active < 0 ? undefined : `${listId}-${active}`}
            aria-invalid={error !== null}
            aria-describedby={error === null ? undefined : errorId}
            placeholder="timeout status:>=500"
            title="Text, field:value, OR, NOT, pipes: the query language"
            data-shortcut="search"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => {
              const { value: now, selectionStart } = currentTarget;
              setText(now);
              setActiveLabel(null);
              setOpen({ position: selectionStart ?? now.length });
              // The clear button of the field does not submit the form.
              if (now === "" && value !== "") search("");
            }}
            onKeyDown={onKeyDown}
            onScroll={follow}
            onBlur={() => setOpen(null)}
          />
          <button type="submit" class={css.go} aria-label="Search" data-tooltip="Search" data-shortcut-key="Enter">
            <Icon shape={CornerDownLeft} size={14} />
          </button>
          <div class={css.list} hidden={!isOpen}>
            <div class={css.options} id={listId} role="listbox" aria-label="Suggestions" tabIndex={-1}>
              {options.map((option, at) => (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input.
                <div
                  key={option.label}
                  id={`${listId}-${at}`}
                  class={css.option}
                  role="option"
                  aria-selected={at === active}
                  tabIndex={-1}
                  // Keeps the focus in the input.
                  onPointerDown={(event) => event.preventDefault()}
                  onClick={() => put(option)}
                >
                  <span class={css.label}>{visible(option.label)}</span>
                  {option.count === undefined ? null : <span class={css.count}>{option.count.toLocaleString()}</span>}
                </div>
              ))}
            </div>
            {basis === null ? null : <p class={css.basis}>{basis}</p>}
          </div>
        </div>
      </form>
      {error === null ? null : (
        <p class={css.error} id={errorId} role="alert">
          <span aria-hidden="true" class={css.caret} ref={caret}>
            ^
          </span>
          <span>
            {error.message}
            {error.suggestion === undefined ? "." : `. Did you mean ${error.suggestion}?`}
          </span>
        </p>
      )}
    </search>
  );
}

/** Pixels between the text and the edge of the box. */
const EDGE_PX = 34;

/** The text with its pieces in colors, and what is wrong underlined. */
function colored(
  text: string,
  tokens: ReturnType<typeof analyze>["tokens"],
  error: QueryError | null,
  place: RefObject<HTMLSpanElement | null>,
) {
  const parts = [];
  let at = 0;
  for (const { kind, start, end } of tokens) {
    if (start < at) continue;
    // From here on the text is wrong.
    if (error !== null && start >= error.position) break;
    if (start > at) parts.push(text.slice(at, start));
    parts.push(
      <span key={start} class={css[kind]}>
        {text.slice(start, end)}
      </span>,
    );
    at = end;
  }
  const rest = text.slice(at);
  if (error === null) parts.push(rest);
  else {
    // What follows the last piece may begin before the place of the error.
    const right = text.slice(at, Math.max(at, error.position));
    parts.push(right, <span key="place" ref={place} />, <span class={css.wrong}>{rest.slice(right.length)}</span>);
  }
  return parts;
}
