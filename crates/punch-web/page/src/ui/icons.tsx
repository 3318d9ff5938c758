// Drawings of 16 by 16, in the color of the text around them.
import type { JSX } from "preact";

interface Look {
  word: string;
  draw: JSX.Element;
}

const ring = <circle cx="8" cy="8" r="5.75" />;

/** One drawing and one word for each status: the shape alone tells them apart, without color. */
const STATUS: Record<string, Look> = {
  ready: { word: "ready", draw: ring },
  waiting: { word: "waiting", draw: <circle cx="8" cy="8" r="5.75" stroke-dasharray="2.2 2.3" /> },
  stuck: { word: "stuck", draw: <>{ring}<path d="M4 12 12 4" /></> },
  held: { word: "on hold", draw: <path d="M5.5 3.5v9M10.5 3.5v9" stroke-width="2.4" /> },
  parked: { word: "parked", draw: <circle cx="8" cy="8" r="2.5" /> },
  empty: { word: "empty", draw: <path d="M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M8 12.4v.4" /> },
  in_progress: { word: "in progress", draw: <path d="M4.5 2.8v10.4L13 8z" fill="currentColor" /> },
  stalled: { word: "stalled", draw: <path d="M4.5 2.8v10.4L13 8z" /> },
  reported: { word: "reported", draw: <><path d="M8 1.8 14.2 8 8 14.2 1.8 8z" /><circle cx="8" cy="8" r="1" fill="currentColor" /></> },
  completed: { word: "completed", draw: <path d="M3 8.6 6.4 12 13 4.6" stroke-width="2" /> },
  cancelled: { word: "cancelled", draw: <path d="M3.5 8h9" stroke-width="2" /> },
  failed: { word: "failed", draw: <path d="M4 4l8 8M12 4l-8 8" stroke-width="2" /> },
  archived: { word: "archived", draw: <><path d="M2.5 4h11v3h-11zM3.5 7v6h9V7M6.5 9.5h3" /></> },
};

export function statusWord(status: string): string {
  return STATUS[status]?.word ?? status;
}

/** The sign of a status. Its word goes to screen readers, unless the word stands beside it. */
export function StatusIcon(props: { status: string; silent?: boolean }): JSX.Element {
  const look = STATUS[props.status];
  const name = props.silent ? { "aria-hidden": true } : { role: "img", "aria-label": statusWord(props.status) };
  return (
    <svg class={`icon status s-${props.status}`} viewBox="0 0 16 16" {...(name as object)}>
      {look?.draw ?? ring}
    </svg>
  );
}

const SHAPES: Record<string, JSX.Element> = {
  now: <path d="M2.5 9.5h3l1 2h3l1-2h3M2.5 9.5 4.6 3h6.8l2.1 6.5v3.8h-11z" />,
  board: <path d="M2.5 3h3v10h-3zM6.5 3h3v6.5h-3zM10.5 3h3v8h-3z" />,
  list: <path d="M6 4h8M6 8h8M6 12h8M2.5 4h.5M2.5 8h.5M2.5 12h.5" />,
  graph: <><circle cx="3.8" cy="8" r="1.8" /><circle cx="12.2" cy="3.8" r="1.8" /><circle cx="12.2" cy="12.2" r="1.8" /><path d="M5.5 7.2l5-2.6M5.5 8.8l5 2.6" /></>,
  run: <path d="M2.5 4h6M5.5 8h7M4 12h4.5" stroke-width="2.2" />,
  log: <><circle cx="8" cy="8" r="5.75" /><path d="M8 4.8V8l2.3 1.5" /></>,
  plus: <path d="M8 3v10M3 8h10" />,
  minus: <path d="M3 8h10" />,
  close: <path d="M4 4l8 8M12 4l-8 8" />,
  back: <path d="M10 3 5 8l5 5" />,
  grip: <path d="M6 4h.2M6 8h.2M6 12h.2M10 4h.2M10 8h.2M10 12h.2" stroke-width="2" />,
  edit: <path d="M3 13l.7-3L11 2.8 13.2 5 6 12.3z" />,
  search: <><circle cx="7" cy="7" r="4.2" /><path d="M10.2 10.2 13.5 13.5" /></>,
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" stroke-width="2" />,
  play: <path d="M4.5 2.8v10.4L13 8z" />,
  stop: <path d="M4 4h8v8H4z" />,
  out: <path d="M9.5 3H13v3.5M13 3 7.5 8.5M11 9.5V13H3V5h3.5" />,
  note: <path d="M3 3.5h10v7H7.5L4.5 13v-2.5H3z" />,
  warning: <path d="M8 2.5 14 13H2zM8 6.5v3M8 11.4v.1" />,
  question: <><circle cx="8" cy="8" r="5.75" /><path d="M6.3 6.6a1.7 1.7 0 1 1 2.5 1.5c-.6.3-.8.6-.8 1.2M8 11.2v.1" /></>,
};

export function Icon(props: { name: string }): JSX.Element {
  return <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">{SHAPES[props.name]}</svg>;
}

/** A button with a drawing, whose name is read aloud and shown on hover. */
export function IconButton(props: {
  name: string;
  label: string;
  onClick: (event: MouseEvent) => void;
  class?: string;
  disabled?: boolean;
}): JSX.Element {
  return (
    <button
      type="button" class={`icon-button ${props.class ?? ""}`} aria-label={props.label} title={props.label}
      disabled={props.disabled} onClick={props.onClick}
    >
      <Icon name={props.name} />
    </button>
  );
}
