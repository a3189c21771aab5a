/** What would move a terminal's cursor, color it or turn its text round. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/**
 * A text for a terminal: control characters are written as in JSON, and not obeyed. JSON stays the same JSON.
 * @param kept characters that stay as they are
 * @param before what is put before each that does not
 */
export function visible(text: string, kept = "", before = ""): string {
  return text.replace(CONTROLS, (control) =>
    kept.includes(control)
      ? control
      : before +
        (control < " "
          ? JSON.stringify(control).slice(1, -1)
          : `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}
