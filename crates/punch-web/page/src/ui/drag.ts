// Dragging with mouse, pen or finger. Native drag and drop does not work on touch screens, so this uses pointer events.

export interface DragHandlers {
  /** The pointer has moved far enough that this is a drag and not a click. */
  begin(): void;
  move(x: number, y: number): void;
  drop(x: number, y: number): void;
  cancel(): void;
}

const THRESHOLD = 5;
const EDGE = 48;
const SCROLL_STEP = 12;

/** Follows one pointer from its press to its release. */
export function followDrag(down: PointerEvent, scroller: HTMLElement | null, handlers: DragHandlers): void {
  if (down.button !== 0) return;
  let begun = false;
  let last = { x: down.clientX, y: down.clientY };
  let frame = 0;

  const scroll = (): void => {
    frame = 0;
    if (!begun || scroller === null) return;
    const box = scroller.getBoundingClientRect();
    const step = (at: number, from: number, to: number): number => (at < from + EDGE ? -SCROLL_STEP : at > to - EDGE ? SCROLL_STEP : 0);
    const [dx, dy] = [step(last.x, box.left, box.right), step(last.y, box.top, box.bottom)];
    if (dx === 0 && dy === 0) return;
    scroller.scrollBy(dx, dy);
    handlers.move(last.x, last.y);
    frame = requestAnimationFrame(scroll);
  };
  const move = (event: PointerEvent): void => {
    if (event.pointerId !== down.pointerId) return;
    last = { x: event.clientX, y: event.clientY };
    if (!begun) {
      if (Math.hypot(last.x - down.clientX, last.y - down.clientY) < THRESHOLD) return;
      begun = true;
      document.body.classList.add("dragging");
      handlers.begin();
    }
    event.preventDefault();
    handlers.move(last.x, last.y);
    frame ||= requestAnimationFrame(scroll);
  };
  const end = (): void => {
    cancelAnimationFrame(frame);
    document.body.classList.remove("dragging");
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", up);
    removeEventListener("pointercancel", abort);
    removeEventListener("keydown", key, true);
    if (begun) addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", swallow, { capture: true }), 0);
  };
  // The release of a drag is a click too; nobody meant it.
  const swallow = (event: Event): void => {
    event.stopPropagation();
    event.preventDefault();
  };
  const up = (event: PointerEvent): void => {
    if (event.pointerId !== down.pointerId) return;
    end();
    if (begun) handlers.drop(event.clientX, event.clientY);
  };
  const abort = (): void => {
    end();
    if (begun) handlers.cancel();
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    abort();
  };
  addEventListener("pointermove", move, { passive: false });
  addEventListener("pointerup", up);
  addEventListener("pointercancel", abort);
  addEventListener("keydown", key, true);
}

/** Where among elements a height falls: before the first whose middle is below it. */
export function indexAt(y: number, elements: Iterable<Element>): number {
  let at = 0;
  for (const element of elements) {
    const box = element.getBoundingClientRect();
    if (y < box.top + box.height / 2) return at;
    at++;
  }
  return at;
}
