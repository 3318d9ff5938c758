// A text that is edited in place. If someone else changes it meanwhile, both versions are shown and you choose.
import type { ComponentChildren, JSX } from "preact";
import { draftOf, keepDraft, saveField, type TextField } from "../model/edit.ts";
import { Button, canWrite, get, Icon, refuse, toast, useEffect, useRef, useState } from "../shared.ts";

export function EditableText(props: {
  uid: number;
  id: string;
  field: TextField;
  label: string;
  /** What the store says now. */
  value: string;
  required?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  const { id, field, label, value } = props;
  const key = `${get().route.plan}/${props.uid}/${field}`;
  const [draft, setDraft] = useState(() => draftOf(key) ?? null);
  const [busy, setBusy] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const change = (next: typeof draft): void => {
    keepDraft(key, next);
    setDraft(next);
  };
  useEffect(() => {
    if (draft === null || area.current === null) return;
    area.current.focus();
    area.current.selectionStart = area.current.value.length;
  }, [draft === null]);
  useEffect(() => grow(area.current));
  if (draft === null) {
    return (
      <div class="editable" onDblClick={() => canWrite() && change({ base: value, text: value })}>
        {props.children}
        {canWrite() && (
          <button type="button" class="icon-button edit-button" aria-label={`Edit ${label.toLowerCase()}`} title={`Edit ${label.toLowerCase()}`} data-edit={field} onClick={() => change({ base: value, text: value })}>
            <Icon name="edit" />
          </button>
        )}
      </div>
    );
  }
  const changed = value !== draft.base && value !== draft.text;
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (busy || changed || (props.required && draft.text.trim() === "")) return;
    if (draft.text === value) return change(null);
    setBusy(true);
    try {
      const saved = await saveField(id, field, draft.base, draft.text);
      // The stream brings the other version too; until then the draft stays as it is.
      if (saved.state === "saved") {
        change(null);
        toast(`Edited ${id}`, { undo: saved.revision });
      } else toast(`${label} of ${id} changed meanwhile`, { kind: "refused", hint: "Choose which version to keep." });
    } catch (cause) {
      refuse(cause);
    }
    setBusy(false);
  };
  return (
    <form class="editor" onSubmit={save}>
      {changed && (
        <div class="changed" role="alert">
          <p class="strong">Someone changed this while you were typing. It now says:</p>
          <pre class="theirs">{value === "" ? "(nothing)" : value}</pre>
          <div class="buttons">
            <Button look="small" onClick={() => change({ ...draft, base: value })}>Keep mine</Button>
            <Button look="small" onClick={() => change({ base: value, text: value })}>Use theirs</Button>
          </div>
        </div>
      )}
      <textarea
        ref={area} class="field" aria-label={label} value={draft.text} rows={field === "content" ? 2 : 6} maxLength={100_000}
        onInput={(event) => change({ ...draft, text: event.currentTarget.value })}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey || field === "content")) void save(event);
          else if (event.key === "Escape" && draft.text === draft.base) change(null);
        }}
      />
      <div class="buttons">
        <Button submit look="primary small" disabled={busy || changed}>Save</Button>
        <Button look="quiet small" onClick={() => change(null)}>Discard</Button>
        <span class="muted hint-keys">{field === "content" ? <kbd>Enter</kbd> : <><kbd>Ctrl</kbd> <kbd>Enter</kbd></>} saves</span>
      </div>
    </form>
  );
}

/** As tall as its text, up to half of the screen. */
function grow(area: HTMLTextAreaElement | null): void {
  if (area === null) return;
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight + 2, innerHeight / 2)}px`;
}
