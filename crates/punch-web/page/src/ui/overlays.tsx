// What opens above a page: keys, new todos, menus, and what has to be typed before something can be done.
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { assign, clearMarks, control, openTodo, setSingleKeys, show, submit, refuse, toast, write } from "../model/actions.ts";
import { ACTIONS, names } from "../model/changes.ts";
import { get, type Overlay, useApp } from "../model/state.ts";
import type { Op } from "../model/types.ts";
import { Dialog } from "./dialog.tsx";
import { plural } from "./format.ts";
import { keyCap, KEYS } from "./key_table.ts";
import { perform } from "./keys.ts";
import { Button, TextForm } from "./parts.tsx";
import { act } from "./selection.tsx";

export function Overlays(): JSX.Element | null {
  const overlay = useApp((state) => state.overlay);
  if (overlay === null) return null;
  switch (overlay.kind) {
    case "keys": return <KeysOverlay />;
    case "add": return <AddDialog after={overlay.after} phase={overlay.phase} />;
    case "menu": return <MenuDialog ids={overlay.ids} />;
    case "hold": return <HoldDialog ids={overlay.ids} />;
    case "fail": return <FailDialog id={overlay.id} />;
    case "evidence": return <EvidenceDialog ids={overlay.ids} />;
    case "note": return <NoteDialog ids={overlay.ids} />;
    case "assign": return <AssignDialog ids={overlay.ids} />;
    case "stop": return <StopDialog {...overlay} />;
  }
}

function KeysOverlay(): JSX.Element {
  const single = useApp((state) => state.singleKeys);
  const run = (name: string): void => {
    show(null);
    // The dialog gives focus back first; what the key does may move it again.
    setTimeout(() => perform(name), 20);
  };
  return (
    <Dialog title="Keys" wide>
      <label class="switch keys-switch"><input type="checkbox" checked={single} onChange={() => setSingleKeys(!single)} />Use single letters and signs as keys</label>
      <div class="keys">
        {(["Go", "Move", "Change", "Look"] as const).map((group) => (
          <section key={group} aria-label={group}>
            <h3>{group}</h3>
            <ul>
              {KEYS.filter((entry) => entry.group === group).map((entry) => (
                <li key={entry.run}>
                  <button type="button" class="key-row" onClick={() => run(entry.run)}>
                    <span class="grow">{entry.what}</span>
                    <span class="key-caps">{entry.keys.map((key, at) => <>{at > 0 && <span class="muted"> or </span>}{keyCap(key).map((cap) => <kbd>{cap}</kbd>)}</>)}</span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

function AddDialog(props: { after: string | null; phase?: string }): JSX.Element {
  const anchor = props.after === null ? undefined : get().picture?.byId.get(props.after);
  const phases = [...new Set((get().picture?.phases ?? []).map((phase) => phase.name))];
  const ownPhase = get().picture?.phases.find((phase) => phase.uid === anchor?.phase)?.name;
  const [content, setContent] = useState("");
  const [description, setDescription] = useState("");
  const [phase, setPhase] = useState(props.phase ?? ownPhase ?? "");
  const [priority, setPriority] = useState(3);
  const [needs, setNeeds] = useState("");
  const [place, setPlace] = useState(anchor === undefined ? "end" : "after");
  const [busy, setBusy] = useState(false);
  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (content.trim() === "" || busy) return;
    const op: Op = { op: "add", content: content.trim() };
    if (description.trim() !== "") op["description"] = description;
    if (phase !== "") op["phase"] = phase;
    if (priority !== 3) op["priority"] = priority;
    const depends = needs.split(/[\s,]+/).filter((one) => one !== "");
    if (place === "needs" && anchor) depends.push(anchor.id);
    if (depends.length > 0) op["dependsOn"] = [...new Set(depends)];
    if (anchor !== undefined && place !== "end") op[place === "before" ? "before" : "after"] = anchor.id;
    setBusy(true);
    try {
      const answer = await submit([op]);
      toast(`Added ${answer.added.join(", ")}`, { undo: answer.revision, hint: answer.warnings[0] ?? null });
      show(null);
    } catch (cause) {
      refuse(cause);
      setBusy(false);
    }
  };
  return (
    <Dialog title="Add a todo">
      <form class="form" onSubmit={add}>
        <label class="labelled">What is to be done
          <textarea data-first class="field one-line" rows={2} value={content} maxLength={4000} onInput={(event) => setContent(event.currentTarget.value)} onKeyDown={(event) => { if (event.key === "Enter" && !event.shiftKey) void add(event); }} />
        </label>
        <label class="labelled">Description <span class="muted">Markdown, optional</span>
          <textarea class="field" rows={3} value={description} maxLength={100_000} onInput={(event) => setDescription(event.currentTarget.value)} />
        </label>
        <div class="form-row">
          <label class="labelled">Phase
            <input class="field" list="phases" value={phase} maxLength={200} placeholder="none" onInput={(event) => setPhase(event.currentTarget.value)} />
            <datalist id="phases">{phases.map((name) => <option key={name} value={name} />)}</datalist>
          </label>
          <label class="labelled">Priority
            <select class="field" value={priority} onChange={(event) => setPriority(Number(event.currentTarget.value))}>{[1, 2, 3, 4, 5].map((n) => <option key={n} value={n}>P{n}</option>)}</select>
          </label>
          <label class="labelled">Needs
            <input class="field" value={needs} placeholder="T-1 T-2" onInput={(event) => setNeeds(event.currentTarget.value)} />
          </label>
        </div>
        {anchor !== undefined && (
          <label class="labelled">Place
            <select class="field" value={place} onChange={(event) => setPlace(event.currentTarget.value)}>
              <option value="after">after {anchor.id}</option><option value="before">before {anchor.id}</option><option value="needs">after {anchor.id}, and it needs {anchor.id}</option><option value="end">at the end</option>
            </select>
          </label>
        )}
        <Buttons label="Add" disabled={busy || content.trim() === ""} />
      </form>
    </Dialog>
  );
}

function Buttons(props: { label: string; disabled?: boolean; danger?: boolean }): JSX.Element {
  return (
    <div class="buttons sheet-buttons">
      <button type="submit" class={`button ${props.danger ? "danger" : "primary"}`} disabled={props.disabled}>{props.label}</button>
      <Button look="quiet" onClick={() => show(null)}>Cancel</Button>
    </div>
  );
}

function MenuDialog(props: { ids: string[] }): JSX.Element {
  const { ids } = props;
  const rows = ids.flatMap((id) => get().picture?.byId.get(id) ?? []);
  const possible = ACTIONS.filter((action) => rows.some((row) => action.fits(row.status)) && (action.name !== "fail" || ids.length === 1));
  return (
    <Dialog title={ids.length === 1 ? `Change ${ids[0]}` : `Change ${plural(ids.length, "todo")}`}>
      <ul class="menu">
        {ids.length === 1 && <li><button type="button" class="key-row" onClick={() => { show(null); openTodo(ids[0] ?? null); }}><span class="grow">Open</span><kbd>Enter</kbd></button></li>}
        {possible.map((action) => (
          <li key={action.name}>
            <button type="button" class={`key-row ${action.destructive ? "need" : ""}`} onClick={() => { show(null); void act(action.name, ids); }}>
              <span class="grow">{action.label}</span><kbd>{action.key}</kbd>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** A dialog with one text, and the ops it makes. */
function TextDialog(props: { title: string; label: string; button: string; optional?: boolean; extra?: ComponentChildren; done: string; ops: (text: string) => Op[] }): JSX.Element {
  const send = async (text: string): Promise<boolean> => {
    const written = await write(props.ops(text), props.done);
    if (written) {
      clearMarks();
      show(null);
    }
    return written;
  };
  return <Dialog title={props.title}><TextForm label={props.label} button={props.button} optional={props.optional} send={send}>{props.extra}</TextForm></Dialog>;
}

const HOLDS: readonly [string, string][] = [["human", "your decision"], ["external", "something outside the project"], ["job", "a background job"], ["timer", "a point in time"], ["parked", "nothing: set it aside"]];

function HoldDialog(props: { ids: string[] }): JSX.Element {
  const [kind, setKind] = useState("human");
  const [minutes, setMinutes] = useState(60);
  const ops = (reason: string): Op[] =>
    props.ids.map((id) => ({ op: "hold", id, kind, reason: reason || "set aside", ...(kind === "timer" ? { until: Date.now() + minutes * 60_000 } : {}) }));
  const extra = (
    <div class="form-row">
      <label class="labelled">It waits for
        <select class="field" value={kind} onChange={(event) => setKind(event.currentTarget.value)}>{HOLDS.map(([value, words]) => <option key={value} value={value}>{words}</option>)}</select>
      </label>
      {kind === "timer" && <label class="labelled">Minutes<input class="field" type="number" min={1} max={100_000} value={minutes} onInput={(event) => setMinutes(Math.max(1, Number(event.currentTarget.value)))} /></label>}
    </div>
  );
  return <TextDialog title={`Put ${names(props.ids)} on hold`} label="Reason or question" button="Put on hold" optional={kind === "parked"} extra={extra} done={`Put ${names(props.ids)} on hold`} ops={ops} />;
}

function FailDialog(props: { id: string }): JSX.Element {
  return <TextDialog title={`${props.id} failed`} label="What went wrong" button="Report the failure" done={`Reported a failed attempt of ${props.id}`} ops={(error) => [{ op: "fail", id: props.id, error }]} />;
}

function EvidenceDialog(props: { ids: string[] }): JSX.Element {
  return <TextDialog title={`Complete ${names(props.ids)}`} label="What shows that it is done" button="Complete" done={`Completed ${names(props.ids)}`} ops={(evidence) => props.ids.map((id) => ({ op: "done", id, evidence }))} />;
}

function NoteDialog(props: { ids: string[] }): JSX.Element {
  return <TextDialog title={`Add a note to ${names(props.ids)}`} label="Note; agents read it" button="Add note" done={`Added a note to ${names(props.ids)}`} ops={(text) => props.ids.map((id) => ({ op: "note", id, text }))} />;
}

/** One button for each agent: the first has the focus, so that Enter gives it the todos. */
function AssignDialog(props: { ids: string[] }): JSX.Element {
  const give = async (agent: string): Promise<void> => {
    show(null);
    if (await assign(props.ids, agent)) clearMarks();
  };
  return (
    <Dialog title={`Give ${names(props.ids)} to an agent`}>
      <div class="buttons">{get().server?.agents.map((agent) => <Button onClick={() => void give(agent)}>Start {agent}</Button>)}</div>
    </Dialog>
  );
}

function StopDialog(props: Extract<Overlay, { kind: "stop" }>): JSX.Element {
  const { run, seat } = props;
  const what = seat === null ? `run ${run}` : `seat ${seat} of run ${run}`;
  const stop = (event: Event): void => {
    event.preventDefault();
    show(null);
    void control(run, "stop", seat);
  };
  return (
    <Dialog title={`Stop ${what}?`}>
      <form class="form" onSubmit={stop}>
        <p>{seat === null ? "Agents are ended at once. Their todos become open again, and worktrees stay as they are." : "Its agent is ended at once. Its todo becomes open again, and its worktree stays as it is."}</p>
        <p class="muted">To let agents finish what they work on, pause instead.</p>
        <Buttons label="Stop" danger />
      </form>
    </Dialog>
  );
}
