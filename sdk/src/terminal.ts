/** Control characters that a terminal interprets, and characters of bidirectional text, except line feeds and tabs. */
const CONTROLS = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/**
 * Escapes control characters as JSON does, so that a terminal does not interpret them. JSON remains equivalent.
 * @param before prefix of the four digits
 */
export function visible(text: string, before = "\\u"): string {
  return text.replace(CONTROLS, (control) => before + control.charCodeAt(0).toString(16).padStart(4, "0"));
}
