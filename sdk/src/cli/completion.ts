/** Completion in shells: the scripts that call `taffrail complete`, and the words of a command line. */

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

const SCRIPTS: Readonly<Record<Shell, string>> = {
  // bash itself ends words at the characters of COMP_WORDBREAKS, so the program prints the part after them. An array of
  // words that bash splits would expand `*` to names of files. Bash 3.2 has no `mapfile`.
  bash: `# In ~/.bashrc: eval "$(taffrail completion bash)"
_taffrail() {
  local item
  COMPREPLY=()
  while IFS= read -r item; do
    COMPREPLY+=("$item")
  done < <(taffrail complete bash "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -o nospace -o default -F _taffrail taffrail`,
  zsh: `# In ~/.zshrc, after compinit: eval "$(taffrail completion zsh)"
_taffrail() {
  local -a found
  found=("\${(@f)$(taffrail complete zsh "$LBUFFER" 2>/dev/null)}")
  [[ -n "$found" ]] && compadd -U -Q -S '' -- $found || _files
}
compdef _taffrail taffrail`,
  fish: `# In ~/.config/fish/config.fish: taffrail completion fish | source
complete -c taffrail -f -a '(taffrail complete fish (commandline -cp))'`,
};

/** Returns the script that makes a shell complete command lines of this program. */
export function scriptOf(shell: Shell): string {
  return SCRIPTS[shell];
}

/** A word of a command line. */
export interface Word {
  /** Without quotes and escapes. */
  text: string;
  /** As typed. */
  raw: string;
  /** The quote that is still open at its end; empty if none is. */
  quote: "" | "'" | '"';
}

/** Splits a command line as shells do, up to its end. The last word is what is being typed, which may be empty. */
export function wordsOf(line: string): Word[] {
  const words: Word[] = [];
  let word: Word | null = null;
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? "";
    const quote: Word["quote"] = word?.quote ?? "";
    if (quote === "" && /\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    word ??= { text: "", raw: "", quote: "" };
    word.raw += char;
    if (quote === "" && (char === "'" || char === '"')) word.quote = char;
    else if (char === quote) word.quote = "";
    else if (char === "\\" && quote !== "'" && at + 1 < line.length) {
      const next = line[++at] ?? "";
      word.raw += next;
      // Within double quotes a backslash escapes only these.
      word.text += quote === '"' && !/["\\$`]/.test(next) ? `\\${next}` : next;
    } else word.text += char;
  }
  words.push(word ?? { text: "", raw: "", quote: "" });
  return words;
}

const COMP_WORDBREAKS = /[=:><|&;(@]/;

/** Returns completed words as a shell inserts them in place of the word that is being typed. */
export function inserted(shell: Shell, { raw, quote }: Word, texts: readonly string[]): string[] {
  switch (shell) {
    // fish quotes them itself.
    case "fish":
      return [...texts];
    case "zsh":
      return texts.map((text) => quotedFor(quote, text));
    case "bash": {
      // Within quotes bash replaces what is between them.
      if (quote !== "") return texts.map((text) => escaped(quote, text));
      const kept = [...raw].findLastIndex((char) => COMP_WORDBREAKS.test(char)) + 1;
      return texts.flatMap((text) => {
        const whole = quotedFor("", text);
        return whole.startsWith(raw.slice(0, kept)) ? [whole.slice(kept)] : [];
      });
    }
  }
}

/** Characters that no shell interprets. A query with others is quoted. */
const PLAIN = /^[\w.:/=@%+,-]*$/;

function quotedFor(quote: Word["quote"], text: string): string {
  if (quote === "" && PLAIN.test(text)) return text;
  // Left open, because more may follow.
  return (quote || "'") + escaped(quote || "'", text);
}

function escaped(quote: "'" | '"', text: string): string {
  return quote === "'" ? text.replaceAll("'", "'\\''") : text.replace(/["\\$`]/g, "\\$&");
}
