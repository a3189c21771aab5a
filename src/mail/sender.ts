export interface Sender {
  name: string;
  address: string;
}

const SENDER = /^(?:([^<>"\r\n]*)<([^<>\s@]+@[^<>\s@]+)>|([^<>\s@]+@[^<>\s@]+))$/;

/** `Taffrail <mail@example.com>` or `mail@example.com`; null for anything else. */
export function parseSender(text: string): Sender | null {
  const match = SENDER.exec(text.trim());
  if (!match) return null;
  return { name: (match[1] ?? "").trim(), address: match[2] ?? match[3] ?? "" };
}
