//! Questions of agents: stored, asked at the terminal of the run, and answered wherever the user answers first.

use std::time::Instant;

use punch_core::Todo;
use punch_engine::config::print_duration;
use punch_engine::{QuestionOption, QuestionPoll, QuestionRequest};

use super::Runner;
use super::seat::{SeatEvent, SeatState};
use crate::agent::PermissionRequest;
use crate::error::RunError;
use crate::observer::QuestionSettled;

/// A question that an agent of this run waits for.
pub(super) struct PendingQuestion {
    /// The start number of the agent.
    start: u64,
    /// The agent's name for the question.
    request: String,
    asked: Instant,
    settled: QuestionSettled,
}

impl Runner<'_, '_> {
    /// Stores a question and asks it at the terminal of the run. Returns the answer if an earlier part of the run asked
    /// the same, and the answer never reached its agent.
    pub(super) fn ask_user(
        &mut self,
        at: usize,
        start: u64,
        todo: &Todo,
        request: PermissionRequest,
    ) -> Result<Option<SeatEvent>, RunError> {
        let seat = &self.seats[at];
        let worker = seat.state.conversation().map(|open| open.worker.owner.clone()).unwrap_or_default();
        let option = |(id, label, allows): &(String, String, bool)| {
            let (id, label, allows) = (id.clone(), label.clone(), *allows);
            QuestionOption { id, label, allows }
        };
        let ask = QuestionRequest {
            run: self.run.id,
            seat: u32::try_from(seat.number).unwrap_or(u32::MAX),
            worker: &worker,
            todo: todo.uid,
            agent: &seat.name,
            text: if request.detail.is_empty() { &request.what } else { &request.detail },
            options: request.options.iter().map(option).collect(),
            remote_answers: self.world.settings.run_remote_answers.value,
        };
        let plan = self.world.plan;
        let id = self.persist(|engine| engine.ask(plan, &ask))?;
        if let QuestionPoll::Answer(answer) = self.persist(|engine| engine.take_answer(plan, id))? {
            return Ok(Some(SeatEvent::Answered { request: request.id, answer: Some(answer) }));
        }
        let settled = QuestionSettled::default();
        let pending =
            PendingQuestion { start, request: request.id.clone(), asked: Instant::now(), settled: settled.clone() };
        self.questions.insert(id, pending);
        let (observer, store, todo) = (self.journal.observer, self.store_retry(), todo.id.clone());
        self.scope.spawn(move || {
            if let Some((answer, by)) = observer.ask(&todo, &request, &settled) {
                // An answer that does not get through leaves the question open, here and elsewhere.
                let _ = store.persist(|engine| engine.answer(plan, id, &answer, None, &by));
            }
        });
        Ok(None)
    }

    /// Passes on answers, and gives up on questions that wait for too long.
    pub(super) fn check_questions(&mut self) -> Result<(), RunError> {
        let plan = self.world.plan;
        let longest = self.world.settings.run_ask_wait.value;
        let ids: Vec<u64> = self.questions.keys().copied().collect();
        for id in ids {
            let Some(pending) = self.questions.get(&id) else { continue };
            let (start, request) = (pending.start, pending.request.clone());
            let overdue = pending.asked.elapsed() >= longest;
            let Some(at) = self.waiting_seat(start, &request) else {
                self.persist(|engine| engine.close_question(plan, id, "the agent no longer waits for it"))?;
                self.forget_question(id);
                continue;
            };
            let answer = match self.persist(|engine| engine.take_answer(plan, id))? {
                QuestionPoll::Waiting if overdue => {
                    let reason = format!("no answer within {}", print_duration(longest));
                    if !self.persist(|engine| engine.close_question(plan, id, &reason))? {
                        // An answer came first.
                        continue;
                    }
                    None
                }
                QuestionPoll::Waiting => continue,
                QuestionPoll::Answer(answer) => Some(answer),
                QuestionPoll::Gone => None,
            };
            self.forget_question(id);
            self.dispatch(at, SeatEvent::Answered { request, answer })?;
        }
        Ok(())
    }

    /// Stops asking at the terminal.
    pub(super) fn forget_questions(&mut self) {
        self.questions.drain().for_each(|(_, pending)| pending.settled.settle());
    }

    fn forget_question(&mut self, id: u64) {
        if let Some(pending) = self.questions.remove(&id) {
            pending.settled.settle();
        }
    }

    /// Returns the seat whose agent waits for the answer to this question.
    fn waiting_seat(&self, start: u64, request: &str) -> Option<usize> {
        let at = self.seat_of(start)?;
        match &self.seats[at].state {
            SeatState::Asking { questions, .. } => {
                questions.front().is_some_and(|question| question.id == request).then_some(at)
            }
            _ => None,
        }
    }
}
