// A dialog above the page. The page behind it is inert, Escape closes it, and focus returns to where it was.
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { show } from "../model/actions.ts";
import { get } from "../model/state.ts";
import { elementOf } from "./cursor.ts";
import { IconButton } from "./icons.tsx";

export function Dialog(props: { title: string; wide?: boolean; children: ComponentChildren }): JSX.Element {
  const sheet = useRef<HTMLDivElement>(null);
  // Before the next key: letters that follow the shortcut at once belong to the first field.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const first = sheet.current?.querySelector<HTMLElement>("[data-first], input, textarea, select, .sheet-body button");
    (first ?? sheet.current)?.focus();
    return () => {
      // The page is inert until it has been drawn without the dialog.
      setTimeout(() => {
        const key = get().cursor;
        (before?.isConnected && before !== document.body ? before : key === null ? null : elementOf(key))?.focus();
      }, 0);
    };
  }, []);
  return (
    <div class="backdrop" onPointerDown={(event) => { if (event.target === event.currentTarget) show(null); }}>
      <div
        ref={sheet} class={`sheet ${props.wide ? "wide" : ""}`} role="dialog" aria-modal="true" aria-label={props.title} tabIndex={-1}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Escape") show(null);
          else if (event.key === "Tab") keepInside(event, sheet.current);
        }}
      >
        <header class="sheet-head"><h2>{props.title}</h2><IconButton name="close" label="Close" onClick={() => show(null)} /></header>
        <div class="sheet-body">{props.children}</div>
      </div>
    </div>
  );
}

function keepInside(event: KeyboardEvent, sheet: HTMLElement | null): void {
  const all = [...(sheet?.querySelectorAll<HTMLElement>("button:not(:disabled), input, textarea, select, a[href], [tabindex='0']") ?? [])];
  const [first, last] = [all[0], all.at(-1)];
  const active = document.activeElement;
  if (event.shiftKey && (active === first || active === sheet)) last?.focus();
  else if (!event.shiftKey && active === last) first?.focus();
  else return;
  event.preventDefault();
}
