/** What stands in place of a secret. */
export const REDACTED = "[REDACTED]";

/** How a member name is treated: not at all, its numbers and booleans kept (`maxTokens: 512`), or booleans alone kept. */
export type Secrecy = 0 | 1 | 2;

export interface Redactor {
  secrecy(name: string): Secrecy;
  /** Whether a text may hold anything to mask; most do not, and `text` is slow. */
  suspects(text: string): boolean;
  /** Masks secrets in running text: `name=value`, `"name": value` in any nesting of quotes, schemes, addresses. */
  text(text: string): string;
}

/** What spellings of a name differ in besides case. */
const SEPARATOR = "[_.-]?";
/** Parts of names, and whole names; in lower case without separators `X-Api-Key`, `api_key` and `APIKEY` are one. */
const PARTS = `pass${SEPARATOR}(?:w|phrase)|secret|token|authori[sz]ation|cookie|credential|bearer|signature|card${SEPARATOR}number`;
const WHOLE = "pwd|auth|jwt|ssn|cvv|cvc|pin";
const KEYS = "(?:api|private|access|signing|encryption|session)key";
/** Names that count or describe tokens rather than hold one. */
const TOKENS = /token(?!$)/;
const NO_TOKEN = /token(?:iz|is|type)/;
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
  const own = new Set(names);
  const secret = new RegExp(`${PARTS}|${KEYS}|pwd$|^(?:${WHOLE})$`);
  const words = [PARTS, WHOLE, "key", ...names.map((name) => [...name].join(SEPARATOR))].join("|");
  const hint = new RegExp(`${words}|basic\\s|://|\\\\u`, "i");
  const pair = new RegExp(`((?:${words})[\\w$.-]{0,40}(?:\\\\*["'])?\\s*[:=]\\s*)${VALUE}`, "gi");

  function secrecy(name: string): Secrecy {
    const text = plain(name);
    if (own.has(text)) return 2;
    if (!secret.test(text) || NO_TOKEN.test(text)) return 0;
    return TOKENS.test(text) ? 1 : 2;
  }

  function pairs(text: string): string {
    let out = "";
    let done = 0;
    pair.lastIndex = 0;
    for (let found = pair.exec(text); found; found = pair.exec(text)) {
      const [, name = "", value = ""] = found;
      const from = found.index + name.length;
      // Bounded, so that no text takes quadratic time.
      const whole = /[\w$.-]{0,40}$/.exec(text.slice(Math.max(done, found.index - 40), found.index))?.[0];
      const kind = secrecy(whole + name.replace(/[^\w$.-][\s\S]*/, ""));
      if (kind === 0 || (kind === 1 && /^\d+$/.test(value))) {
        // The value may hold a pair of its own: `key={"password":"x"}`.
        pair.lastIndex = from;
      } else {
        const quote = /^\\*["']?/.exec(value)?.[0];
        out += text.slice(done, from) + quote + REDACTED + quote;
        done = from + value.length;
      }
    }
    return out + text.slice(done);
  }

  return {
    secrecy,
    suspects: (text) => hint.test(text),
    text: (text) => pairs(text.replace(HEADER_LINE, `$1${REDACTED}`)).replace(SCHEME, `$1$2${REDACTED}`),
  };
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}
