/** Replaces a secret. */
export const REDACTED = "[REDACTED]";

/**
 * Which values of a member are masked: 0 for none, 1 for all but numbers and booleans (`maxTokens: 512`), 2 for all but
 * booleans.
 */
export type Secrecy = 0 | 1 | 2;

export type Redactor = readonly [
  secrecyOf: (name: string) => Secrecy,
  /** Whether a text may contain a secret. Most texts do not, and `masked` is slow. */
  suspects: (text: string) => boolean,
  /**
   * Masks secrets in text: `name=value`, `"name": value` in any nesting of quotes, credentials of schemes, passwords in
   * URLs, and numbers of payment cards, unless `name` is the name of an id or a time.
   */
  masked: (text: string, name?: string) => string,
];

/** Separators in which spellings of a name differ. */
const SEPARATOR = "[_.-]?";
/** Parts of secret names, and whole secret names. They are compared in lower case without separators. */
const PARTS = `pass[_.-]?(?:w|phrase)|secret(?!ar[iy])|token|[cx]srf|authori[sz]ation|cookie|credential|bearer|signature|card[_.-]?number`;
const WHOLE = "pwd|auth|jwt|ssn|cvv|cvc|pin";
/**
 * A value: quoted, quoted inside a quoted text (up to the same number of backslashes, or truncated), an object or list,
 * a scheme with its credentials, or a bare word.
 */
const VALUE = String.raw`("(?:[^"\\]|\\.)*"?|(\\+)"[\s\S]*?(?:(?<!\\)\3"|$)|'[^']*'?|[[{](?:[^\]}]|[\]}](?=\s*[,\]}]))*[\]}]?|(?:bearer|basic|digest)\s+[^\s,;&"'<>]+|[^\s,;&"'<>)\]}#\\]+)`;
/** A header, whose value extends to the end of its line: cookies are separated by `; `, schemes by spaces. */
const HEADER_LINE = /((?:cookie|authorization)\s*:\s*)(?!\[|\\*["'{[])[^\r\n"]+/gi;
/** `Bearer ...`, and passwords in URLs. */
const SCHEME = /(\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}|(:\/\/[^\s:/?#@]{0,256}:)[^\s/?#@]{1,256}(?=@)/gi;
/** The number of digits of a card, or groups of digits with one space or hyphen between them. */
const DIGITS = /(?<![a-z\d.])(?:\d{13,19}|\d{4}(?:[ -]\d{3,6})+)(?![a-z\d]|\.\d)/gi;
/** The least number of digits that a card has. */
const MANY_DIGITS = String.raw`\d(?:[ -]?\d){12}`;
/** Visa; Mastercard and Mir; American Express and Diners Club; JCB, Discover, RuPay and UnionPay. */
const ISSUERS = /^(?:4\d{12}(?:\d{3}){0,2}|(?:5[1-5]|2[2-7])\d{14}|3(?:[47]\d|[0689])\d{12}|(?:35|6[0245])\d{14,17})$/;
/** The name before a value, at the end of the text. */
const NAME_BEFORE = /([\w$.-]+)["'\\]*\s*[:=]\s*["'\\]*$/;
/** Names of ids and times, whose values may look like card numbers. */
const ID_OR_TIME = /(?:^|[\W_])(?:id|at|ts|time|timestamp|date)s?$/i;
/** Names of times of a secret, and of page tokens, which are not secret. */
const HARMLESS = /(?:[_.-](?:at|on|time|date)|(?:page|continuation|^next)[_.-]?token)\W*$/i;

/** @param extra additional secret names, in any spelling */
export function createRedactor(extra: readonly string[]): Redactor {
  const names = extra.map(normalized);
  const secret = new RegExp(`${PARTS}|(?:api|private|access|signing|encryption|session)key|pwd$|^(?:${WHOLE})$`);
  const words = [PARTS, WHOLE, "key", ...names.map((name) => [...name].join(SEPARATOR))].join("|");
  const hint = new RegExp(`${words}|basic\\s|://|\\\\u|${MANY_DIGITS}`, "i");
  const pair = new RegExp(`((?:${words})[\\w$.-]{0,40}(?:\\\\*["'])?\\s*[:=]\\s*)${VALUE}`, "gi");

  function secrecy(name: string): Secrecy {
    const text = normalized(name);
    if (names.includes(text)) return 2;
    // Names of members that describe or count tokens.
    if (!secret.test(text) || HARMLESS.test(separateWords(name)) || /token(?:iz|is|type)/.test(text)) return 0;
    return /token(?!$)/.test(text) ? 1 : 2;
  }

  function pairs(text: string): string {
    let out = "";
    let done = 0;
    pair.lastIndex = 0;
    for (let found = pair.exec(text); found; found = pair.exec(text)) {
      const [, name = "", value = ""] = found;
      const from = found.index + name.length;
      // Bounded, so that the time is linear in the length of the text.
      const before = text.slice(Math.max(done, found.index - 40), found.index).replace(/[\s\S]*[^\w$.-]/, "");
      const kind = secrecy(before + name);
      if (kind === 0 || (kind === 1 && /^\d+$/.test(value))) {
        // The value may contain a pair: `key={"password":"x"}`.
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
    (text, name = "") => {
      const shown = pairs(text.replace(HEADER_LINE, `$1${REDACTED}`)).replace(SCHEME, `$1$2${REDACTED}`);
      return ID_OR_TIME.test(separateWords(name)) ? shown : withoutCards(shown);
    },
  ];
}

function withoutCards(text: string): string {
  return text.replace(DIGITS, (run: string, at: number) => {
    const [, name = ""] = NAME_BEFORE.exec(text.slice(Math.max(at - 40, 0), at)) ?? [];
    if (ID_OR_TIME.test(separateWords(name))) return run;
    // Groups of digits, with separators at odd indexes. Other numbers may precede and follow the card number.
    const parts = run.split(/([ -])/);
    let shown = "";
    for (let first = 0; first < parts.length; first += 2) {
      let digits = "";
      let one = parts[first];
      for (let last = first; last < parts.length && digits.length < 19; last += 2) {
        digits += parts[last];
        if (!ISSUERS.test(digits) || !isLuhn(digits)) continue;
        one = REDACTED;
        first = last;
        break;
      }
      shown += `${one}${parts[first + 1] ?? ""}`;
    }
    return shown;
  });
}

/** Whether the Luhn checksum of a number is valid. */
function isLuhn(digits: string): boolean {
  const sum = [...digits]
    .reverse()
    .reduce((sum, digit, i) => sum + (i % 2 && +digit < 9 ? (+digit * 2) % 9 : +digit), 0);
  return sum % 10 === 0;
}

/** Converts `createdAt` to `created_At`, so that a word is not confused with the end of another one (`paid`). */
function separateWords(name: string): string {
  return name.replace(/[a-z\d](?=[A-Z])/g, "$&_");
}

function normalized(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}
