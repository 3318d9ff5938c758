// Which rows of a long list are drawn. All rows have one height, so nothing has to be measured.

export interface ListWindow {
  /** The first row that is drawn. */
  first: number;
  /** The row after the last one that is drawn. */
  end: number;
}

/** Rows drawn above and below what can be seen, so that scrolling shows no gap. */
const SPARE = 12;

export function listWindow(count: number, rowHeight: number, scrolled: number, height: number): ListWindow {
  const top = Math.max(0, Math.min(scrolled, count * rowHeight - height));
  const first = Math.max(0, Math.floor(top / rowHeight) - SPARE);
  return { first, end: Math.min(count, Math.ceil((top + height) / rowHeight) + SPARE) };
}

/** Where to scroll so that a row can be seen; `null` if it already can. */
export function scrollFor(row: number, rowHeight: number, scrolled: number, height: number): number | null {
  const top = row * rowHeight;
  if (top < scrolled) return top;
  return top + rowHeight > scrolled + height ? top + rowHeight - height : null;
}
