// What waits for what. The server gives each todo a layer and a place in it; the page draws, pans and zooms.
import type { JSX } from "preact";
import { edgePath, GAP_X, GAP_Y, HEIGHT, WIDTH } from "../model/edge_path.ts";
import type { GraphAnswer, GraphEdge, GraphNode } from "../model/types.ts";
import {
  Await, Empty, IconButton, navigate, openTodo, planPath, plural, statusWord, TodoLink, useApp, useEffect, useFetched, useMemo,
  usePath, useRef, useState,
} from "../shared.ts";

const MARGIN = 24;
/** Todos that are asked for. Only those in view are drawn, so that many cost as much as few. */
const LIMIT = 2_000;
/** Pixels that a click may move. */
const CLICK = 4;
/** The smallest scale at which the text of a todo can be read. */
const READABLE = 0.8;
/** Steps around a todo. */
const DEPTH = 2;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Placed {
  node: GraphNode;
  x: number;
  y: number;
}

/** Puts layers side by side, each centered. */
function place(nodes: GraphNode[]): { placed: Map<number, Placed>; tops: Map<number, number>; bounds: Box } {
  const layers = new Map<number, GraphNode[]>();
  for (const node of nodes) layers.set(node.layer, [...(layers.get(node.layer) ?? []), node]);
  const columns = [...layers.keys()].sort((a, b) => a - b);
  const tallest = Math.max(1, ...[...layers.values()].map((layer) => layer.length));
  const height = tallest * (HEIGHT + GAP_Y) - GAP_Y;
  const placed = new Map<number, Placed>();
  const tops = new Map<number, number>();
  columns.forEach((layer, column) => {
    const members = [...(layers.get(layer) ?? [])].sort((a, b) => a.order - b.order);
    const top = (height - (members.length * (HEIGHT + GAP_Y) - GAP_Y)) / 2;
    const x = column * (WIDTH + GAP_X);
    tops.set(x, top);
    members.forEach((node, at) => placed.set(node.uid, { node, x, y: top + at * (HEIGHT + GAP_Y) }));
  });
  const width = Math.max(1, columns.length) * (WIDTH + GAP_X) - GAP_X;
  return { placed, tops, bounds: { x: -MARGIN, y: -MARGIN, width: width + 2 * MARGIN, height: height + 2 * MARGIN } };
}

/** Text in two lines of a box; what does not fit is cut. */
function fitted(text: string, columns: number): [string, string] {
  const characters = [...text.replace(/\s+/g, " ")];
  if (characters.length <= columns) return [characters.join(""), ""];
  const space = characters.lastIndexOf(" ", columns);
  const cut = space > columns / 2 ? space : columns;
  const rest = characters.slice(cut).join("").trim();
  const second = [...rest];
  return [characters.slice(0, cut).join(""), second.length <= columns ? rest : `${second.slice(0, columns - 1).join("")}…`];
}

export function Graph(): JSX.Element {
  const plan = useApp((state) => state.route.plan);
  const todo = useApp((state) => state.route.todo);
  const revision = useApp((state) => state.picture?.revision);
  const matched = useApp((state) => state.matched);
  const [around, setAround] = useState(todo !== null);
  const [all, setAll] = useState(false);
  const query = new URLSearchParams({ limit: String(LIMIT) });
  if (around && todo !== null) {
    query.set("around", todo);
    query.set("depth", String(DEPTH));
  }
  if (all) query.set("all", "true");
  const fetched = useFetched<GraphAnswer>(planPath(plan, `graph?${query}`), revision);
  const { value } = fetched;
  return (
    <div class="page graph-page">
      <div class="page-bar">
        <div class="segmented" role="group" aria-label="What is drawn">
          <button type="button" aria-pressed={around && todo !== null} disabled={todo === null} onClick={() => setAround(true)}>Around {todo ?? "a todo"}</button>
          <button type="button" aria-pressed={!around || todo === null} onClick={() => setAround(false)}>Whole plan</button>
        </div>
        <label class="switch"><input type="checkbox" checked={all} onChange={() => setAll(!all)} />Show closed</label>
        <span class="grow" />
        {value !== null && <span class="muted">{value.cut ? `${value.nodes.length} of ${plural(value.total, "todo")}; open one to see what is around it` : plural(value.nodes.length, "todo")}</span>}
      </div>
      <Await of={fetched}>
        {(value) => value.nodes.length === 0
          ? <Empty title="Nothing to draw.">{all ? "The plan is empty." : "Every todo is closed. Switch on “Show closed”."}</Empty>
          : <Drawing answer={value} focus={todo} matched={matched} enter={() => setAround(true)} />}
      </Await>
    </div>
  );
}

function Drawing(props: { answer: GraphAnswer; focus: string | null; matched: Set<number> | null; enter: () => void }): JSX.Element {
  const { answer, focus, matched } = props;
  const { placed, tops, bounds } = useMemo(() => place(answer.nodes), [answer]);
  const rows = useApp((state) => state.picture?.byUid);
  const svg = useRef<SVGSVGElement>(null);
  const [box, setBox] = useState({ ...bounds, width: Math.min(bounds.width, 1600), height: Math.min(bounds.height, 1000) });
  const [hovered, setHovered] = useState<number | null>(null);
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const shape = `${bounds.width}x${bounds.height}/${answer.nodes[0]?.uid ?? 0}/${answer.nodes.length}`;
  const show = (smallest: number): void => {
    const element = svg.current;
    const [w, h] = [element?.clientWidth || 1000, element?.clientHeight || 600];
    const scale = Math.min(1.2, Math.max(smallest, Math.min(w / bounds.width, h / bounds.height)));
    const target = focus === null ? undefined : answer.nodes.find((node) => node.id === focus);
    const at = target && placed.get(target.uid);
    const [width, height] = [w / scale, h / scale];
    const center = (from: number, size: number, seen: number, point: number | undefined): number =>
      size <= seen ? from + (size - seen) / 2 : point === undefined ? from : Math.max(from, Math.min(from + size - seen, point - seen / 2));
    setBox({ x: center(bounds.x, bounds.width, width, at && at.x + WIDTH / 2), y: center(bounds.y, bounds.height, height, at ? at.y + HEIGHT / 2 : bounds.y + bounds.height / 2), width, height });
  };
  /** All of it, however small; a graph of thousands stays a map of its first layers. */
  const fit = (): void => show(0.2);
  // A graph starts where its text can be read, around the open todo.
  useEffect(() => show(READABLE), [shape]);
  useEffect(() => {
    const element = svg.current;
    if (element === null) return;
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      zoomAt(Math.exp(event.deltaY * 0.0015), event.clientX, event.clientY);
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, []);
  const zoomAt = (factor: number, clientX?: number, clientY?: number): void => {
    const area = svg.current?.getBoundingClientRect();
    setBox((last) => {
      const width = Math.max(200, Math.min(20_000, last.width * factor));
      const real = width / last.width;
      const fx = area && clientX !== undefined ? (clientX - area.left) / area.width : 0.5;
      const fy = area && clientY !== undefined ? (clientY - area.top) / area.height : 0.5;
      return { x: last.x + last.width * fx * (1 - real), y: last.y + last.height * fy * (1 - real), width, height: last.height * real };
    });
  };
  const pan = (dx: number, dy: number): void => setBox((last) => ({ ...last, x: last.x + dx * last.width, y: last.y + dy * last.height }));
  const down = (event: PointerEvent): void => void pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
  const moved = (event: PointerEvent): void => {
    const before = pointers.current.get(event.pointerId);
    const area = svg.current?.getBoundingClientRect();
    if (before === undefined || area === undefined || event.buttons === 0) return;
    // A click shakes a little; it is a click all the same.
    const holds = svg.current?.hasPointerCapture(event.pointerId);
    if (!holds && Math.hypot(event.clientX - before.x, event.clientY - before.y) < CLICK) return;
    pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other !== undefined) {
      // Two fingers: their distance is the zoom.
      const distance = (x: number, y: number): number => Math.max(1, Math.hypot(x - other.x, y - other.y));
      zoomAt(distance(before.x, before.y) / distance(event.clientX, event.clientY), other.x, other.y);
    } else {
      svg.current?.setPointerCapture(event.pointerId);
      pan((before.x - event.clientX) / area.width, (before.y - event.clientY) / area.height);
    }
  };
  const up = (event: PointerEvent): void => void pointers.current.delete(event.pointerId);
  const active = hovered ?? answer.nodes.find((node) => node.id === focus)?.uid ?? null;
  const near = useMemo(() => neighbors(answer.edges, active), [answer, active]);
  // What the keyboard goes to comes into the middle, unless it is shown already.
  usePath(answer.nodes.map((node) => `todo:${node.uid}`), (key) => {
    const at = placed.get(Number(key.slice(5)));
    if (at !== undefined && !isSeen(at.node.uid, at.node.uid, 0)) setBox((last) => ({ ...last, x: at.x + (WIDTH - last.width) / 2, y: at.y + (HEIGHT - last.height) / 2 }));
  });
  const keys: Record<string, () => void> = {
    "+": () => zoomAt(0.8), "=": () => zoomAt(0.8), "-": () => zoomAt(1.25), "0": fit,
    ArrowLeft: () => pan(-0.1, 0), ArrowRight: () => pan(0.1, 0), ArrowUp: () => pan(0, -0.1), ArrowDown: () => pan(0, 0.1),
  };
  const row = active === null ? undefined : rows?.get(active);
  /** Whether the area between two todos reaches into what is shown. */
  const isSeen = (from: number | undefined, to: number, around = GAP_X): boolean => {
    const [a, b] = [placed.get(from ?? to), placed.get(to)];
    if (a === undefined || b === undefined) return false;
    const meets = (one: number, other: number, size: number, start: number, length: number): boolean =>
      Math.max(one, other) + size + around >= start && Math.min(one, other) - around <= start + length;
    return meets(a.x, b.x, WIDTH, box.x, box.width) && meets(a.y, b.y, HEIGHT, box.y, box.height);
  };
  return (
    <div class="graph">
      <svg
        ref={svg} class="graph-svg" viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`} role="group" aria-label="Dependency graph. Arrow keys pan, plus and minus zoom." tabindex={0}
        onPointerDown={down} onPointerMove={moved} onPointerUp={up} onPointerCancel={up}
        onKeyDown={(event) => {
          const act = event.target === event.currentTarget ? keys[event.key] : undefined;
          if (act === undefined || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          event.stopPropagation();
          act();
        }}
      >
        {answer.edges.map((edge, at) => (isSeen(edge.from, edge.to) ? <Edge key={at} edge={edge} placed={placed} tops={tops} near={active !== null && (edge.from === active || edge.to === active)} dim={hovered !== null} /> : null))}
        {[...placed.values()].filter(({ node }) => isSeen(node.uid, node.uid) || node.uid === active).map((one) => (
          <Node
            key={one.node.uid} {...one} active={one.node.uid === active} dim={(hovered !== null && !near.has(one.node.uid)) || (matched !== null && !matched.has(one.node.uid))}
            hover={setHovered} enter={props.enter}
          />
        ))}
      </svg>
      <div class="graph-tools">
        <IconButton name="plus" label="Zoom in" onClick={() => zoomAt(0.8)} />
        <IconButton name="minus" label="Zoom out" onClick={() => zoomAt(1.25)} />
        <button type="button" class="icon-button" onClick={fit}>Fit</button>
      </div>
      <div class="graph-legend muted"><span class="legend-critical" aria-hidden="true" /> longest chain of open work</div>
      {row !== undefined && (
        <div class="graph-card" role="note">
          <p><TodoLink id={row.id} status /> <span class="muted">{statusWord(row.status)}</span></p>
          <p class="theirs">{row.text}</p>
          {row.why !== undefined && row.why.length > 0 && <p class="muted theirs">{row.why.join("; ")}</p>}
          {row.dependents !== undefined && row.dependents > 0 && <p class="muted">{plural(row.dependents, "open todo needs", "open todos need")} it</p>}
        </div>
      )}
    </div>
  );
}

function neighbors(edges: GraphEdge[], active: number | null): Set<number> {
  const near = new Set<number>(active === null ? [] : [active]);
  for (const edge of edges) {
    if (edge.from === active) near.add(edge.to);
    if (edge.to === active && edge.from !== undefined) near.add(edge.from);
  }
  return near;
}

function Edge(props: { edge: GraphEdge; placed: Map<number, Placed>; tops: Map<number, number>; near: boolean; dim: boolean }): JSX.Element | null {
  const { edge, placed } = props;
  const to = placed.get(edge.to);
  const from = edge.from === undefined ? undefined : placed.get(edge.from);
  if (to === undefined || from === undefined) return null;
  const critical = from.node.critical && to.node.critical ? "critical" : "";
  return <path class={`edge ${edge.kind} ${critical} ${props.near ? "near" : props.dim ? "dim" : ""}`} d={`${edgePath(from, to, props.tops)}m-5 -4 5 4 -5 4`} />;
}

function Node(props: Placed & { active: boolean; dim: boolean; hover: (uid: number | null) => void; enter: () => void }): JSX.Element {
  const { node, x, y } = props;
  const key = `todo:${node.uid}`;
  const at = useApp((state) => state.cursor === key);
  const [first, second] = fitted(node.text, 27);
  return (
    <g
      class={`node s-${node.status} ${node.critical ? "critical" : ""} ${props.active ? "active" : ""} ${props.dim ? "dim" : ""}`} transform={`translate(${x} ${y})`}
      role="button" tabindex={at ? 0 : -1} data-key={key}
      onPointerEnter={() => props.hover(node.uid)} onPointerLeave={() => props.hover(null)} onFocus={() => props.hover(node.uid)} onBlur={() => props.hover(null)}
      onClick={() => openTodo(node.id)} onDblClick={() => { navigate({ todo: node.id }, "replace"); props.enter(); }}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        openTodo(node.id);
      }}
    >
      <title>{node.text}{node.critical && " (on the longest chain)"}</title>
      <rect width={WIDTH} height={HEIGHT} rx="8" />
      <rect class="node-edge" x="0" y="8" width="3" height={HEIGHT - 16} rx="1.5" />
      <text class="node-id" x="14" y="18">{node.id.length > 14 ? `${node.id.slice(0, 13)}…` : node.id}<tspan class="node-status" dx="8">{statusWord(node.status)}</tspan></text>
      <text class="node-text" x="14" y={second === "" ? 38 : 33}>{first}</text>
      {second !== "" && <text class="node-text" x="14" y="46">{second}</text>}
    </g>
  );
}
