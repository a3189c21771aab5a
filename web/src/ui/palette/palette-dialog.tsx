import { useEffect, useId, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { shownProject, shownWorkspace } from "../../model/shown-workspace.ts";
import { Dialog } from "../dialog.tsx";
import { allCommands, type Command, matching } from "./commands.ts";
import { type NamedSource, useNamedCommands } from "./named.ts";
import { commonCommands } from "./pages.ts";
import css from "./palette.module.css";

/** Commands shown. */
const SHOWN = 60;

interface PaletteDialogProps {
  /** Returns the text that was typed before the dialog had the focus. */
  typedEarly: () => string;
  named: NamedSource;
  onClose: () => void;
}

/** A list of all commands of the page, narrowed by a text. */
export function PaletteDialog({ typedEarly, named: source, onClose }: PaletteDialogProps) {
  const { path, route } = useLocation();
  const [text, setText] = useState("");
  /** Key of the active command; `null` for the first one. Places change when commands of the page are loaded. */
  const [active, setActive] = useState<string | null>(null);
  const id = useId();
  // Not once at the start: the commands of a page are loaded after its first rows.
  const ofPage = allCommands();
  // A page's own command of this name knows more, such as the project.
  const common = commonCommands(path, route).filter(({ label }) => ofPage.every((other) => other.label !== label));
  const own = [...ofPage, ...common];
  const workspaceId = shownWorkspace(path);
  const project = shownProject(path);
  const typed = text.trim();
  const named = useNamedCommands(source, workspaceId, typed !== "", route);
  const listed = typed === "" ? own.filter(({ needsText }) => !needsText) : [...own, ...named];
  const found = matching(listed, text).slice(0, SHOWN);
  if (workspaceId !== null && typed !== "") {
    const to = `/w/${workspaceId}${project}?${new URLSearchParams({ q: typed })}`;
    found.push({ id: "search", group: "Search", label: `Search logs for ${typed}`, run: () => route(to) });
  }
  const groups = [...new Set(found.map(({ group }) => group))];
  // In the order of the page: by groups.
  const ordered = groups.flatMap((group) => found.filter((command) => command.group === group));
  const place = ordered.findIndex((command) => keyOf(command) === active);
  const at = place < 0 ? Math.min(0, ordered.length - 1) : place;
  useEffect(() => setText((text) => typedEarly() + text), []);
  useEffect(() => document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" }), [at, text]);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    // After the dialog has given the focus back, because the command may move it.
    requestAnimationFrame(() => requestAnimationFrame(command.run));
  };
  return (
    <Dialog title="Commands" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        class={css.input}
        aria-label="Find a command, a page or a name"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={ordered.length === 0 ? undefined : `${id}-${at}`}
        aria-autocomplete="list"
        placeholder="Command, page, board, view, project, alert or member"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setActive(null);
        }}
        onKeyDown={(event) => {
          const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
          const next = ordered[(at + by + ordered.length) % Math.max(1, ordered.length)];
          if (by !== 0) setActive(next === undefined ? null : keyOf(next));
          else if (event.key === "Enter") run(ordered[at]);
          else return;
          event.preventDefault();
        }}
      />
      <div class={css.results}>
        <div class={css.list} id={`${id}-list`} role="listbox" aria-label="Commands" tabIndex={-1}>
          {groups.map((group, index) => (
            // biome-ignore lint/a11y/useSemanticElements: a group of options has no element.
            <div key={group} role="group" aria-labelledby={`${id}-group-${index}`}>
              <div class={css.group} id={`${id}-group-${index}`} role="presentation">
                {group}
              </div>
              {ordered.map((command, place) =>
                command.group !== group ? null : (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input.
                  <div
                    key={keyOf(command)}
                    id={`${id}-${place}`}
                    class={css.option}
                    role="option"
                    aria-selected={place === at}
                    tabIndex={-1}
                    onPointerDown={(event) => event.preventDefault()}
                    onClick={() => run(command)}
                  >
                    <span>{command.label}</span>
                    {command.shortcut === undefined ? null : <kbd>{command.shortcut}</kbd>}
                  </div>
                ),
              )}
            </div>
          ))}
        </div>
        {ordered.length === 0 ? <p class={css.none}>No such command</p> : null}
      </div>
    </Dialog>
  );
}

function keyOf({ group, id, label }: Command): string {
  return `${group} ${id ?? label}`;
}
