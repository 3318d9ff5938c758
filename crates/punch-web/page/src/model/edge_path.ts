// How an edge of the graph runs from one todo to another.

/** The size of a todo, and what is free between two of them. */
export const WIDTH = 196;
export const HEIGHT = 52;
export const GAP_X = 56;
export const GAP_Y = 18;

interface Corner {
  x: number;
  y: number;
}

/**
 * The path of an edge. Through the layers in between it runs between two todos: behind one, it would look as if it ended there.
 * `tops` has the upper edge of the first todo of each layer, by the layer's left edge.
 */
export function edgePath(from: Corner, to: Corner, tops: Map<number, number>): string {
  let [x, y] = [from.x + WIDTH, from.y + HEIGHT / 2];
  const [endX, endY] = [to.x - 5, to.y + HEIGHT / 2];
  const step = HEIGHT + GAP_Y;
  let path = `M${x} ${y}`;
  const curve = (toX: number, toY: number): void => {
    const bend = Math.abs(toX - x) / 2;
    path += `C${x + bend} ${y} ${toX - bend} ${toY} ${toX} ${toY}`;
    y = toY;
  };
  for (let left = x + GAP_X; left < endX; left += WIDTH + GAP_X) {
    const gap = (tops.get(left) ?? 0) - GAP_Y / 2;
    const straight = y + ((endY - y) * (left - x)) / (endX - x);
    curve(left, gap + step * Math.round((straight - gap) / step));
    x = left + WIDTH;
    path += `H${x}`;
  }
  curve(endX, endY);
  return path;
}
