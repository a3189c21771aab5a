/** What stands in place of a secret. */
export const REDACTED = "[REDACTED]";

/** How a member name is treated: not at all, its numbers and booleans kept (`maxTokens: 512`), or booleans alone kept. */
export type Secrecy = 0 | 1 | 2;

export type Redactor = readonly [
  secrecyOf: (name: string) => Secrecy,
  /** Whether a text may hold anything to mask; most do not, and `masked` is slow. */
  suspects: (text: string) => boolean,
  /** Masks secrets in running text: `name=value`, `"name": value` in any nesting of quotes, schemes, addresses. */
  masked: (text: string) => string,
];

/** What spellings of a name differ in besides case. */
const SEPARATOR = "[_.-]?";
/** Parts of names, and whole names; in lower case without separators `X-Api-Key`, `api_key` and `APIKEY` are one. */
const PARTS = `pass[_.-]?(?:w|phrase)|secret|token|authori[sz]ation|cookie|credential|bearer|signature|card[_.-]?number`;
const WHOLE = "pwd|auth|jwt|ssn|cvv|cvc|pin";
/**
 * A value: quoted, quoted inside a quoted text (to as many backslashes, or cut), an object or list, a scheme with its
 * credentials, or a bare word.
 */
const VALUE = String.raw`("(?:[^"\\]|\\.)*"?|(\\+)"[\s\S]*?(?:(?<!\\)\3"|$)|'[^']*'?|[[{](?:[^\]}]|[\]}](?=\s*[,\]}]))*[\]}]?|(?:bearer|basic|digest)\s+[^\s,;&"'<>]+|[^\s,;&"'<>)\]}#\\]+)`;
/** A header's value goes to the end of its line: cookies are separated by `; `, schemes by spaces. */
const HEADER_LINE = /((?:cookie|authorization)\s*:\s*)(?!\[|\\*["'{[])[^\r\n"]+/gi;
/** `Bearer ...`, and passwords in addresses. */
const SCHEME = /(\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}|(:\/\/[^\s:/?#@]{0,256}:)[^\s/?#@]{1,256}(?=@)/gi;
/** @param extra names of the user's own, in any spelling */
export function createRedactor(extra: readonly string[]): Redactor {
  const names = extra.map(plain);
  const secret = new RegExp(`${PARTS}|(?:api|private|access|signing|encryption|session)key|pwd$|^(?:${WHOLE})$`);
  const words = [PARTS, WHOLE, "key", ...names.map((name) => [...name].join(SEPARATOR))].join("|");
  const hint = new RegExp(`${words}|basic\\s|://|\\\\u`, "i");
  const pair = new RegExp(`((?:${words})[\\w$.-]{0,40}(?:\\\\*["'])?\\s*[:=]\\s*)${VALUE}`, "gi");

  function secrecy(name: string): Secrecy {
    const text = plain(name);
    if (names.includes(text)) return 2;
    // Names that describe tokens, or count them, rather than hold one.
    if (!secret.test(text) || /token(?:iz|is|type)/.test(text)) return 0;
    return /token(?!$)/.test(text) ? 1 : 2;
  }

  function pairs(text: string): string {
    let out = "";
    let done = 0;
    pair.lastIndex = 0;
    for (let found = pair.exec(text); found; found = pair.exec(text)) {
      const [, name = "", value = ""] = found;
      const from = found.index + name.length;
      // Bounded, so that no text takes quadratic time.
      const before = text.slice(Math.max(done, found.index - 40), found.index).replace(/[\s\S]*[^\w$.-]/, "");
      const kind = secrecy(before + name);
      if (kind === 0 || (kind === 1 && /^\d+$/.test(value))) {
        // The value may hold a pair of its own: `key={"password":"x"}`.
        pair.lastIndex = from;
      } else {
        out += text.slice(done, from) + value.replace(/^(\\*["']?)[\s\S]*/, `$1${REDACTED}$1`);
        done = from + value.length;
      }
    }
    return out + text.slice(done);
  }

  return [
    secrecy,
    (text) => hint.test(text),
    (text) => pairs(text.replace(HEADER_LINE, `$1${REDACTED}`)).replace(SCHEME, `$1$2${REDACTED}`),
  ];
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}
