/** With a capital at its beginning: the API's messages about a field go on after the field's name. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
