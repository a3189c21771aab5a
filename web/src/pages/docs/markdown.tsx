import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { anchorIn, anchorsOf, consolePath } from "./links.ts";

interface MarkdownProps {
  text: string;
  /** Address of the document, which its links are relative to. */
  base: string;
}

/** A document. Elements are made from its tokens, so that no HTML of a text gets into the page. */
export function Markdown({ text, base }: MarkdownProps) {
  return <>{blocks(lexer(text), { base, anchorOf: anchorsOf(), tables: 0 })}</>;
}

interface Place {
  base: string;
  anchorOf: (heading: string) => string;
  /** Number of tables so far, which tells the regions apart that they scroll in. */
  tables: number;
}

function blocks(tokens: readonly Token[], place: Place): ComponentChildren {
  // SAFETY: without extensions the lexer makes no other tokens.
  return (tokens as readonly MarkedToken[]).map((token, at) => block(token, place, at));
}

function block(token: MarkedToken, place: Place, key: number): ComponentChildren {
  switch (token.type) {
    case "heading":
      return heading(token, place, key);
    case "paragraph":
      return <p key={key}>{inline(token.tokens, place)}</p>;
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
        <pre key={key} tabIndex={0}>
          <code>{token.text}</code>
        </pre>
      );
    case "blockquote":
      return <blockquote key={key}>{blocks(token.tokens, place)}</blockquote>;
    case "list": {
      const items = token.items.map((item, at) => <li key={at}>{blocks(item.tokens, place)}</li>);
      return token.ordered ? (
        <ol key={key} start={token.start === "" ? 1 : token.start}>
          {items}
        </ol>
      ) : (
        <ul key={key}>{items}</ul>
      );
    }
    case "table":
      return table(token, place, key);
    case "hr":
      return <hr key={key} />;
    case "space":
    case "def":
    case "html":
      return null;
    default:
      return inline([token], place);
  }
}

function heading({ depth, text, tokens }: Tokens.Heading, place: Place, key: number): ComponentChildren {
  const props = { key, id: place.anchorOf(text), tabIndex: -1 };
  const content = inline(tokens, place);
  if (depth === 1) return <h1 {...props}>{content}</h1>;
  return depth === 2 ? <h2 {...props}>{content}</h2> : <h3 {...props}>{content}</h3>;
}

function table({ header, rows, align }: Tokens.Table, place: Place, key: number): ComponentChildren {
  place.tables++;
  return (
    <ScrollBox key={key} label={`Table ${place.tables}`}>
      <table>
        <thead>
          <tr>
            {header.map(({ text, tokens }, at) =>
              text === "" ? (
                <td key={at} />
              ) : (
                <th key={at} scope="col" data-number={align[at] === "right"}>
                  {inline(tokens, place)}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map(({ tokens }, at) => (
                <td key={at} data-number={align[at] === "right"}>
                  {inline(tokens, place)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function inline(tokens: readonly Token[], place: Place): ComponentChildren {
  // SAFETY: as in `blocks`.
  return (tokens as readonly MarkedToken[]).map((token, key) => {
    switch (token.type) {
      case "codespan":
        return <code key={key}>{token.text}</code>;
      case "strong":
        return <strong key={key}>{inline(token.tokens, place)}</strong>;
      case "em":
        return <em key={key}>{inline(token.tokens, place)}</em>;
      case "del":
        return <del key={key}>{inline(token.tokens, place)}</del>;
      case "br":
        return <br key={key} />;
      case "link":
        return link(token, place, key);
      case "text":
        return token.tokens === undefined ? token.text : inline(token.tokens, place);
      case "escape":
        return token.text;
      case "image":
        return token.text;
      case "html": {
        const id = anchorIn(token.text);
        return id === null ? null : <span key={key} id={id} />;
      }
      default:
        return token.raw;
    }
  });
}

function link({ href, tokens }: Tokens.Link, place: Place, key: number): ComponentChildren {
  const content = inline(tokens, place);
  if (/^https?:/.test(href)) {
    return (
      <a key={key} href={href} target="_blank" rel="noreferrer">
        {content}
      </a>
    );
  }
  const path = consolePath(href, place.base);
  return path === null ? (
    content
  ) : (
    <a key={key} href={path}>
      {content}
    </a>
  );
}
