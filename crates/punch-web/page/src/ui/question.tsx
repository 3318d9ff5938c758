// A question of an agent: all of its text, and the answers.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { answer } from "../model/actions.ts";
import { useApp } from "../model/state.ts";
import type { Question } from "../model/types.ts";
import { Button, TextForm } from "./parts.tsx";

/** A click that was meant for something that stood here a moment ago must not allow anything. */
const ARM_MS = 500;

export function QuestionCard(props: { question: Question }): JSX.Element {
  const { question } = props;
  const can = useApp((state) => state.picture?.can.answer ?? false);
  const inbox = useApp((state) => state.picture?.inbox);
  const [armed, setArmed] = useState(false);
  const [busy, setBusy] = useState(false);
  const [explaining, setExplaining] = useState(false);
  useEffect(() => {
    setArmed(false);
    const timer = setTimeout(() => setArmed(true), ARM_MS);
    return () => clearTimeout(timer);
  }, [question.id, inbox]);
  const send = async (body: { answer: string; option?: string; reason?: string }): Promise<boolean> => {
    setBusy(true);
    const answered = await answer(question, body);
    setBusy(false);
    return answered;
  };
  // What the buttons say anyway is not said twice: only a choice between several ways to allow or deny is shown.
  const choice = (allows: boolean): boolean => question.options.filter((option) => option.allows === allows).length > 1;
  const options = question.options.filter((option) => choice(option.allows) && option.id !== "allow_once");
  const blocked = !armed || busy;
  return (
    <div class="question">
      <pre class="question-text theirs" tabIndex={0}>{question.text}{question.cut && "\n… (cut)"}</pre>
      {!question.answerable ? <p class="muted">Only the terminal of this agent can answer.</p>
        : !can ? <p class="muted">This session may not answer. Open the link that <code>punch serve</code> printed in a terminal.</p>
        : explaining ? <TextForm label="Why not? The reason is stored with your answer." button="Deny" disabled={blocked} send={(reason) => send({ answer: "refuse", reason })} back={() => setExplaining(false)} />
        : (
          <div class="buttons">
            {!question.cut && <Button look="primary" disabled={blocked} onClick={() => void send({ answer: "allow" })}>Allow once</Button>}
            <Button disabled={blocked} onClick={() => void send({ answer: "refuse" })}>Deny</Button>
            <Button disabled={blocked} onClick={() => setExplaining(true)}>Deny with a reason…</Button>
            {!question.cut && options.map((option) => <Button key={option.id} look="theirs" disabled={blocked} onClick={() => void send({ answer: "option", option: option.id })}>{option.label}</Button>)}
          </div>
        )}
      {question.cut && <p class="muted">The question is too long to be shown in full, so it can only be denied here.</p>}
    </div>
  );
}
