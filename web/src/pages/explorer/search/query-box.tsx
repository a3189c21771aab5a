import { CornerDownLeft, Search } from "lucide";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Analysis } from "../../../../../src/query-language/parse.ts";
import { Icon } from "../../../ui/icon.tsx";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { language } from "../view/language.ts";
import { LANGUAGE } from "../view/load-language.ts";
import type { Times } from "../view/range.ts";
import { colored } from "./colored.tsx";
import { OptionList } from "./option-list.tsx";
import css from "./query-box.module.css";
import { QueryErrorText, useQueryError } from "./query-error.tsx";
import type { Offered, Option } from "./query-options.ts";
import { continuing } from "./suggestions.ts";
import { type Edit, isRedo, isUndo, UndoHistory } from "./undo.ts";

interface QueryBoxProps {
  workspaceId: string;
  projectId: string | null;
  times: Times;
  value: string;
  onSearch: (query: string) => void;
  /** Called with every change of the text, for a box whose text is part of a form. */
  onText?: (text: string) => void;
  /** Accessible name. */
  label?: string;
}

/** What the list offers, loaded when it first opens. */
const ASSIST = lazyModule(() => import("./query-options.ts"));
const NOTHING: Offered = { options: [], basis: null };

/**
 * The box of the query language. Enter asks; the arrow keys choose what the service suggests, or in an empty box an
 * earlier query. One line high; with the focus or an error, a longer query wraps.
 */
export function QueryBox({ workspaceId, projectId, times, value, onSearch, ...rest }: QueryBoxProps) {
  const { onText, label = "Search" } = rest;
  const [text, setText] = useState(value);
  const [open, setOpen] = useState<{ position: number } | null>(null);
  const [activeLabel, setActiveLabel] = useState<string | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  const shown = useRef<HTMLDivElement>(null);
  const place = useRef<HTMLSpanElement>(null);
  const caret = useRef<HTMLSpanElement>(null);
  const [listId, errorId] = [useId(), useId()];
  const asked = useRef(value);
  const [edits] = useState(() => new UndoHistory(value));
  useEffect(() => {
    if (value !== asked.current) {
      setText(value);
      edits.put({ text: value, position: value.length }, null);
    }
    asked.current = value;
  }, [value]);

  useEffect(() => onText?.(text), [text]);
  // Without the language a text has no colours yet, and the service finds its errors.
  const parts = language();
  const { tokens, result } = useMemo(() => parts?.analyze(text) ?? UNREAD, [text, parts]);
  const assist = useLazy(ASSIST, open !== null, () => setOpen(null));
  const [offered, setOffered] = useState<Offered>(NOTHING);
  const options = open === null ? NOTHING.options : offered.options;
  const isOpen = options.length > 0;
  const basis = isOpen ? offered.basis : null;
  const active = options.findIndex(({ label }) => label === activeLabel);
  useLayoutEffect(() => {
    if (active >= 0) document.getElementById(`${listId}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [active]);
  // The text below the transparent input scrolls with it, and so does the caret under the box.
  const follow = (): void => {
    if (!shown.current || !input.current) return;
    shown.current.scrollTop = input.current.scrollTop;
    if (!place.current || !caret.current) return;
    const { left, bottom } = place.current.getBoundingClientRect();
    const box = shown.current.getBoundingClientRect();
    caret.current.style.marginInlineStart = `${left - box.left}px`;
    // The caret points at the last line.
    caret.current.hidden = box.bottom - bottom > EDGE_PX / 2;
  };
  useLayoutEffect(() => {
    // Reading an offset would lay out the page once more before its first rows.
    if (text !== "") follow();
  });

  const search = async (query: string): Promise<void> => {
    setOpen(null);
    if (language() === null) await LANGUAGE.load().catch(() => undefined);
    const wrong = query.trim() !== "" && language()?.analyze(query).result.ok === false;
    setRefused(wrong ? query : null);
    if (wrong) {
      requestAnimationFrame(showPlace);
      return;
    }
    asked.current = query;
    // A history is not worth a message.
    ASSIST.load().then(
      ({ rememberQuery }) => rememberQuery(workspaceId, query.trim()),
      () => undefined,
    );
    onSearch(query.trim());
  };
  // Where the text is wrong may be outside of the visible lines.
  const showPlace = (): void => {
    if (!input.current || !place.current) return;
    const { offsetTop } = place.current;
    const { scrollTop, clientHeight } = input.current;
    if (offsetTop < scrollTop || offsetTop > scrollTop + clientHeight - EDGE_PX) {
      input.current.scrollTop = offsetTop - clientHeight / 2;
    }
    follow();
  };
  const put = ({ query, position }: Pick<Option, "query" | "position">): void => {
    edits.put({ text: query, position }, null);
    show({ text: query, position });
    setOpen({ position });
  };
  const show = ({ text, position }: Edit): void => {
    setText(text);
    setActiveLabel(null);
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(position, position);
    });
  };
  const step = (edit: Edit | null): void => {
    if (edit === null) return;
    setOpen(null);
    show(edit);
  };
  // A query that is still being written is wrong at its end most of the time. One of an address is not being written.
  const error = useQueryError(text, result, text === refused || text === value);
  const corrected = error?.corrected;
  const correct = (query: string): void => {
    const edit = { text: query, position: query.length };
    edits.put(edit, null);
    show(edit);
    void search(query);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key } = event;
    const chosen = options[active];
    if (key === "Enter" && event.altKey && corrected !== undefined) {
      event.preventDefault();
      correct(corrected);
    } else if (isUndo(event) || isRedo(event)) {
      event.preventDefault();
      step(isUndo(event) ? edits.undo() : edits.redo());
    } else if (key === " " && event.ctrlKey) {
      event.preventDefault();
      setOpen({ position: input.current?.selectionStart ?? text.length });
    } else if (key === "ArrowDown" || key === "ArrowUp") {
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
    } else if (key === "Enter" && !event.isComposing) {
      event.preventDefault();
      void search(text);
    } else if (key === "Tab" && !event.shiftKey && open !== null && text !== "") {
      const first = continuing(options, text.slice(0, open.position));
      if (first === undefined) return;
      event.preventDefault();
      put(first);
    }
  };
  return (
    <search class={css.search}>
      {assist === null || open === null ? null : (
        <assist.QueryOptions
          workspaceId={workspaceId}
          projectId={projectId}
          times={times}
          text={text}
          position={open.position}
          onOptions={setOffered}
        />
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void search(text);
        }}
      >
        <div class={css.box} data-wrong={error !== null}>
          <div class={css.lines}>
            <div class={css.shown} ref={shown} aria-hidden="true">
              {colored(text, tokens, error, place)}
            </div>
            <span class={css.sign}>
              <Icon shape={Search} />
            </span>
            <textarea
              ref={input}
              class={css.input}
              rows={1}
              aria-label={label}
              aria-haspopup="listbox"
              aria-controls={listId}
              aria-autocomplete="list"
              aria-activedescendant={active < 0 ? undefined : `${listId}-${active}`}
              aria-invalid={error !== null}
              aria-describedby={error === null ? undefined : errorId}
              placeholder="Search, such as timeout status:>=500"
              title="Text, field:value, OR, NOT, pipes: the query language"
              data-shortcut="search"
              // Four times a query's: each key in a megabyte, which is pasted by mistake, would take seconds.
              maxLength={32_768}
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              value={text}
              onInput={(event) => {
                const { currentTarget } = event;
                const { selectionStart: position } = currentTarget;
                const now = currentTarget.value.replaceAll("\n", " ");
                // A pasted query may have several lines.
                if (now !== currentTarget.value) {
                  currentTarget.value = now;
                  currentTarget.setSelectionRange(position, position);
                }
                setText(now);
                edits.put({ text: now, position }, event.timeStamp);
                setActiveLabel(null);
                setOpen({ position });
                // An emptied box shows everything again.
                if (now === "" && value !== "") void search("");
              }}
              onKeyDown={onKeyDown}
              // An empty box shows what may be asked, with what was asked before.
              onClick={() => {
                if (text === "") setOpen({ position: 0 });
              }}
              // The menus of the browser and gestures undo, too.
              onBeforeInput={(event) => {
                const { inputType } = event;
                if (inputType !== "historyUndo" && inputType !== "historyRedo") return;
                event.preventDefault();
                step(inputType === "historyUndo" ? edits.undo() : edits.redo());
              }}
              onScroll={follow}
              onBlur={({ currentTarget }) => {
                currentTarget.scrollTop = 0;
                setOpen(null);
              }}
            />
            <button
              type="submit"
              class={css.go}
              aria-label="Search"
              // The page still shows what was asked before.
              data-unasked={text.trim() !== value.trim()}
              data-tooltip="Search"
              data-shortcut-key="Enter"
            >
              <Icon shape={CornerDownLeft} size={14} />
            </button>
            <OptionList id={listId} options={options} active={active} basis={basis} onChoose={put} />
          </div>
        </div>
      </form>
      {error === null ? null : (
        <QueryErrorText id={errorId} text={text} error={error} caret={caret} onCorrect={correct} />
      )}
    </search>
  );
}

const UNREAD: Analysis = {
  result: { ok: true, query: { filter: { kind: "all" }, pipes: [] }, columns: null },
  tokens: [],
};

/** Pixels of a line with the room around it. */
const EDGE_PX = 34;
