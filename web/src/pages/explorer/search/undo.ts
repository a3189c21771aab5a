/** A text with its cursor. */
export interface Edit {
  text: string;
  /** UTF-16 offset. */
  position: number;
}

/** Edits kept. */
const KEPT = 200;
/** Milliseconds within which typing is one step. */
const TOGETHER_MS = 600;

/**
 * The history of a text field. The browser's own history does not have what a program writes into the field: a suggestion, a
 * filter of the sidebar, a query of the list of earlier ones.
 */
export class UndoHistory {
  #past: Edit[] = [];
  #future: Edit[] = [];
  #now: Edit;
  #typedAt = Number.NEGATIVE_INFINITY;

  constructor(text: string) {
    this.#now = { text, position: text.length };
  }

  /** Records a text. Letters typed one after the other are one step. @param at epoch milliseconds of typing; `null` if not typed */
  put(next: Edit, at: number | null): void {
    const { text } = this.#now;
    if (next.text === text) {
      this.#now = next;
      return;
    }
    const isNextLetter = at !== null && at - this.#typedAt < TOGETHER_MS && isLetter(text, next);
    if (!isNextLetter) this.#past = [...this.#past.slice(1 - KEPT), this.#now];
    this.#typedAt = at ?? Number.NEGATIVE_INFINITY;
    this.#future = [];
    this.#now = next;
  }

  undo(): Edit | null {
    return this.#step(this.#past, this.#future);
  }

  redo(): Edit | null {
    return this.#step(this.#future, this.#past);
  }

  #step(from: Edit[], to: Edit[]): Edit | null {
    const edit = from.pop();
    if (edit === undefined) return null;
    to.push(this.#now);
    this.#now = edit;
    this.#typedAt = Number.NEGATIVE_INFINITY;
    return edit;
  }
}

/** Whether the text has one character more, which is no space: with a space a new step begins. */
function isLetter(before: string, { text, position }: Edit): boolean {
  const typed = text.slice(position - 1, position);
  return /\S/.test(typed) && text.slice(0, position - 1) + text.slice(position) === before;
}

export function isUndo({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === "z" && (ctrlKey || metaKey) && !shiftKey && !altKey;
}

export function isRedo({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean {
  if (altKey || !(ctrlKey || metaKey)) return false;
  return (key.toLowerCase() === "z" && shiftKey) || (key === "y" && ctrlKey);
}
