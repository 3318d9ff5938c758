// Markdown arrives as a tree of blocks. It becomes elements one by one; there is no HTML string that text could break out of.
import type { ComponentChildren, JSX } from "preact";
import type { Block, Inline } from "../model/types.ts";

/** Trees that are nested deeper are cut off: nobody reads them, and drawing them would exhaust the stack. */
const DEPTH = 40;
const SCHEMES = ["http:", "https:", "mailto:"];

/** The server sends only these links; checking again costs nothing. */
function safeLink(href: string): string | null {
  try {
    return SCHEMES.includes(new URL(href).protocol) ? href : null;
  } catch {
    return null;
  }
}

function inlines(parts: Inline[], depth: number): ComponentChildren {
  return depth > DEPTH ? "…" : parts.map((part) => inline(part, depth));
}

function inline(part: Inline, depth: number): ComponentChildren {
  switch (part.type) {
    case "text": return part.text;
    case "code": return <code>{part.text}</code>;
    case "em": return <em>{inlines(part.text, depth + 1)}</em>;
    case "strong": return <strong>{inlines(part.text, depth + 1)}</strong>;
    case "del": return <del>{inlines(part.text, depth + 1)}</del>;
    case "break": return <br />;
    case "link": {
      const href = safeLink(part.href);
      const text = inlines(part.text, depth + 1);
      return href === null ? text : <a href={href} title={href} target="_blank" rel="noopener noreferrer">{text}</a>;
    }
    default: return null;
  }
}

function block(one: Block, depth: number): ComponentChildren {
  if (depth > DEPTH) return "…";
  switch (one.type) {
    case "paragraph": return <p>{inlines(one.text, depth)}</p>;
    // Headings of a text are below those of the page.
    case "heading": return one.level <= 2 ? <h4 class="big">{inlines(one.text, depth)}</h4> : <h4>{inlines(one.text, depth)}</h4>;
    case "code": return <pre tabIndex={0}><code>{one.code}</code></pre>;
    case "quote": return <blockquote>{blocks(one.blocks, depth + 1)}</blockquote>;
    case "rule": return <hr />;
    case "list": {
      const items = one.items.map((item) => (
        <li class={item.done === undefined ? "" : "task"}>
          {item.done !== undefined && <span class="task-mark" role="img" aria-label={item.done ? "done" : "not done"}>{item.done ? "☑" : "☐"}</span>}
          <div>{blocks(item.blocks, depth + 1)}</div>
        </li>
      ));
      return one.start === undefined ? <ul>{items}</ul> : <ol start={one.start}>{items}</ol>;
    }
    case "table":
      return (
        <div class="table-scroll" tabIndex={0}>
          <table>
            <thead><tr>{one.head.map((cell) => <th scope="col">{inlines(cell, depth)}</th>)}</tr></thead>
            <tbody>{one.rows.map((row) => <tr>{row.map((cell) => <td>{inlines(cell, depth)}</td>)}</tr>)}</tbody>
          </table>
        </div>
      );
    default: return null;
  }
}

function blocks(all: Block[], depth: number): ComponentChildren {
  return all.map((one) => block(one, depth));
}

export function Markdown(props: { blocks: Block[] }): JSX.Element {
  return <div class="markdown theirs">{blocks(props.blocks, 0)}</div>;
}
