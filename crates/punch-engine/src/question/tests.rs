//! Questions against a store in memory: asked, answered, taken, and asked again after a crash.

use punch_store::{MemoryStore, Store};

use crate::process::host_name;

use super::*;

fn engine() -> (Engine, PlanId) {
    let store = MemoryStore::new();
    let plan = store.create_plan("main", 1).unwrap();
    (Engine::new(Box::new(store), Box::new(|| 1_000)), plan)
}

fn ask<'a>(worker: &'a str, text: &'a str) -> QuestionRequest<'a> {
    let option = |id: &str, allows| QuestionOption { id: id.into(), label: id.into(), allows };
    let options = vec![option("once", true), option("always", true), option("never", false)];
    QuestionRequest { run: 3, seat: 2, worker, todo: Uid(1), agent: "claude", text, options, remote_answers: false }
}

fn here() -> Answerer {
    Answerer::on(&machine())
}

fn kinds(engine: &Engine, plan: PlanId) -> Vec<String> {
    let page = engine.activity(plan, 0, 99).unwrap();
    let name = |kind: &ActivityKind| serde_json::to_value(kind).unwrap()["kind"].as_str().unwrap().to_owned();
    page.records.iter().map(|record| name(&record.kind)).collect()
}

#[test]
fn a_question_is_answered_once_and_its_answer_is_handed_out_once() {
    let (engine, plan) = engine();
    let id = engine.ask(plan, &ask("run:3/1.1", "rm -r build")).unwrap();
    assert_eq!(engine.take_answer(plan, id).unwrap(), QuestionPoll::Waiting);
    let answer = |answer: QuestionReply| engine.answer(plan, id, &answer, Some("it is safe"), &here()).unwrap();
    assert_eq!(answer(QuestionReply::Option("sometimes".into())), AnswerOutcome::NotOffered);
    assert_eq!(answer(QuestionReply::Option("always".into())), AnswerOutcome::Accepted);
    assert!(matches!(answer(QuestionReply::Refuse), AnswerOutcome::TooLate(QuestionState::Answered(_))));
    let given = GivenAnswer { answer: QuestionReply::Option("always".into()), reason: Some("it is safe".into()) };
    assert_eq!(engine.take_answer(plan, id).unwrap(), QuestionPoll::Answer(given));
    assert_eq!(engine.take_answer(plan, id).unwrap(), QuestionPoll::Gone);
    assert!(!engine.close_question(plan, id, "late").unwrap());
    assert_eq!(engine.answer(plan, 99, &QuestionReply::Allow, None, &here()).unwrap(), AnswerOutcome::Unknown);
    assert_eq!(kinds(&engine, plan), ["asked", "answered"]);
}

#[test]
fn what_was_asked_before_a_crash_is_taken_up_or_asked_again() {
    let (engine, plan) = engine();
    let first = engine.ask(plan, &ask("run:3/1.1", "ls")).unwrap();
    engine.close_other_questions(plan, 3).unwrap();
    assert!(engine.question(plan, first).unwrap().unwrap().is_open(), "the run itself asks again");
    // Still open: the new question replaces it.
    let second = engine.ask(plan, &ask("run:3/2.1", "ls")).unwrap();
    let state = |id| engine.question(plan, id).unwrap().unwrap().state;
    assert!(second != first && matches!(state(first), QuestionState::Closed { .. }));
    // Answered while no runner was there: the answer is for the next agent that asks the same.
    engine.answer(plan, second, &QuestionReply::Allow, None, &here()).unwrap();
    assert_ne!(engine.ask(plan, &ask("run:3/3.1", "rm")).unwrap(), second, "something else is a new question");
    assert_eq!(engine.ask(plan, &ask("run:3/3.1", "ls")).unwrap(), second);
    assert_eq!(engine.take_answer(plan, second).unwrap(), QuestionPoll::Answer(QuestionReply::Allow.into()));
    assert_ne!(engine.ask(plan, &ask("run:3/4.1", "ls")).unwrap(), second, "an answer counts once");
    // Another run has its own questions.
    engine.close_other_questions(plan, 4).unwrap();
    assert_eq!(engine.questions(plan, QuestionFilter::Open, 9).unwrap(), []);
}

#[test]
fn one_worker_may_ask_the_same_twice() {
    let (engine, plan) = engine();
    let ids = [0, 1].map(|_| engine.ask(plan, &ask("run:3/1.1", "ls")).unwrap());
    assert_eq!(ids, [1, 2]);
    assert_eq!(engine.questions(plan, QuestionFilter::Open, 9).unwrap().len(), 2);
}

#[test]
fn answers_from_other_machines_count_only_if_the_run_says_so() {
    let (engine, plan) = engine();
    let id = engine.ask(plan, &ask("run:3/1.1", "ls")).unwrap();
    let elsewhere = Answerer::on("another machine");
    let refused = AnswerOutcome::OtherMachine(host_name());
    assert_eq!(engine.answer(plan, id, &QuestionReply::Allow, None, &elsewhere).unwrap(), refused);
    for copy in [host_name(), format!("{}#another.boot", host_name()), String::new()] {
        let outcome = engine.answer(plan, id, &QuestionReply::Allow, None, &Answerer::on(&copy)).unwrap();
        assert_eq!(outcome, refused, "a machine of the same name, or without one: `{copy}`");
    }
    // A store is shared: the runner does not rely on what others have checked.
    let forged = QuestionAnswer {
        answer: "allow".into(),
        by: "user".into(),
        via: "terminal@another machine".into(),
        reason: None,
        at: 1,
        taken_at: None,
    };
    engine.write(plan, Durability::Full, |tx, _| Ok(tx.answer_question(id, &forged)?)).unwrap();
    assert_eq!(engine.take_answer(plan, id).unwrap(), QuestionPoll::Gone);
    let open = QuestionRequest { remote_answers: true, ..ask("run:3/1.1", "ls") };
    let id = engine.ask(plan, &open).unwrap();
    assert_eq!(engine.answer(plan, id, &QuestionReply::Allow, None, &elsewhere).unwrap(), AnswerOutcome::Accepted);
    assert_eq!(engine.take_answer(plan, id).unwrap(), QuestionPoll::Answer(QuestionReply::Allow.into()));
}

#[test]
fn long_and_hostile_texts_are_cut_marked_and_neutralised() {
    let (engine, plan) = engine();
    let text = format!("first\u{1b}[31m\n{}", "x".repeat(QUESTION_LENGTH));
    let id = engine.ask(plan, &ask("run:3/1.1", &text)).unwrap();
    let question = engine.question(plan, id).unwrap().unwrap();
    assert!(question.is_cut && question.text.chars().count() <= QUESTION_LENGTH);
    assert!(question.text.contains('\n') && !question.text.contains('\u{1b}'));
}

#[test]
fn sessions_outside_runs_answer_in_their_own_terminal() {
    let (engine, plan) = engine();
    let id = engine.write(plan, Durability::Full, |tx, now| note(tx, "s-1", "claude", "", None, now)).unwrap();
    assert_eq!(engine.answer(plan, id, &QuestionReply::Allow, None, &here()).unwrap(), AnswerOutcome::OwnTerminalOnly);
    assert_eq!(engine.question(plan, id).unwrap().unwrap().seat, None);
}

#[test]
fn answers_are_read_as_they_are_written() {
    for answer in [
        QuestionReply::Allow,
        QuestionReply::Refuse,
        QuestionReply::Option("allow".into()),
        QuestionReply::Option(String::new()),
    ] {
        assert_eq!(QuestionReply::from_text(&answer.to_text()), answer);
    }
    assert_eq!(QuestionReply::from_text("Allow"), QuestionReply::Refuse, "what is not understood allows nothing");
}
