/** What would move a terminal's cursor, color it or turn its text round; line ends and tabs are not among it. */
const CONTROLS = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/**
 * A text for a terminal: control characters are written as JSON may write them, and not obeyed. JSON stays the same JSON.
 * @param before what stands before the four digits
 */
export function visible(text: string, before = "\\u"): string {
  return text.replace(CONTROLS, (control) => before + control.charCodeAt(0).toString(16).padStart(4, "0"));
}
