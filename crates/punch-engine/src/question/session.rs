//! Questions of a conversation whose program shows them itself: the program stores the question, shows it, and reports
//! the answer. While one is open, its session is not continued.

use punch_core::Uid;
use punch_store::{
    Durability, PlanId, Question, QuestionAnswer, QuestionFilter, QuestionOutcome, QuestionState, SessionKey,
};

use super::{AgentQuestion, AnswerOutcome, QuestionBody, QuestionOption, QuestionReply, REASON, close, cut, read};
use crate::activity::{self, ActivityKind, one_line};
use crate::process::{host_name, machine};
use crate::{Engine, EngineError, session};

/// What a conversation asks the user.
#[derive(Clone, Debug)]
pub struct SessionAsk<'a> {
    /// The conversation.
    pub session: &'a SessionKey,
    /// The agent program.
    pub agent: &'a str,
    /// The todo that it is about.
    pub todo: Option<Uid>,
    /// The question in full.
    pub text: &'a str,
    /// The possible answers.
    pub options: Vec<QuestionOption>,
}

impl Engine {
    /// Stores a question of a conversation and returns its number. A question that the conversation asked before and that
    /// is still open is closed: it asks one thing at a time.
    pub fn ask_in_session(&self, plan: PlanId, ask: &SessionAsk<'_>) -> Result<u64, EngineError> {
        let (text, is_cut) = cut(ask.text);
        let body = QuestionBody { options: ask.options.clone(), is_cut, machine: machine(), ..QuestionBody::default() };
        let source = ask.session.full_name();
        self.write(plan, Durability::Full, |tx, now| {
            let mut state = session::load(tx, ask.session, plan)?;
            if let Some(earlier) = state.asking.map(|id| tx.question(id)).transpose()?.flatten() {
                close(tx, &earlier, "the agent asks something else", now)?;
            }
            let id = tx.put_question(&Question {
                id: 0,
                asked_at: now,
                run: None,
                seat: None,
                session: Some(source.clone()),
                todo: ask.todo,
                agent: one_line(ask.agent),
                text: text.clone(),
                options: serde_json::to_string(&body).unwrap_or_default(),
                state: QuestionState::Open,
            })?;
            (state.asking, state.drive.asked) = (Some(id), true);
            session::keep(tx, ask.session, Some(plan), &state, now)?;
            let kind = ActivityKind::Asked { question: id, agent: one_line(ask.agent), text: one_line(&text) };
            activity::record(tx, Some(&source), ask.todo, &kind, now)?;
            Ok(id)
        })
    }

    /// Returns the open questions of a conversation, newest first.
    pub fn questions_of(&self, plan: PlanId, session: &SessionKey) -> Result<Vec<AgentQuestion>, EngineError> {
        let source = session.full_name();
        let open = self.questions(plan, QuestionFilter::Open, super::COMPARED)?.into_iter();
        Ok(open.filter(|question| question.session.as_deref() == Some(&source)).collect())
    }

    /// Stores the user's answer to a question of a conversation, as its own program reports it. Of several answers only the
    /// first counts.
    pub fn answer_in_session(
        &self,
        plan: PlanId,
        key: &SessionKey,
        id: u64,
        answer: &QuestionReply,
        reason: Option<&str>,
    ) -> Result<AnswerOutcome, EngineError> {
        let source = key.full_name();
        self.write(plan, Durability::Full, |tx, now| {
            let found = tx.question(id)?.filter(|row| row.seat.is_none() && row.session.as_deref() == Some(&source));
            let Some(row) = found else { return Ok(AnswerOutcome::Unknown) };
            if !answer.fits(&read(row.clone()).options) {
                return Ok(AnswerOutcome::NotOffered);
            }
            let given = QuestionAnswer {
                answer: answer.to_text(),
                by: "user".to_owned(),
                via: format!("{source}@{}", host_name()),
                reason: reason.map(|reason| punch_core::text::clip(reason, REASON).into_owned()),
                at: now,
                taken_at: Some(now),
            };
            match tx.answer_question(id, &given)? {
                QuestionOutcome::Unknown => return Ok(AnswerOutcome::Unknown),
                QuestionOutcome::AlreadySettled(state) => return Ok(AnswerOutcome::TooLate(state)),
                QuestionOutcome::Settled => {}
            }
            let mut state = session::load(tx, key, plan)?;
            if state.asking == Some(id) {
                (state.asking, state.drive.asked) = (None, false);
                session::keep(tx, key, Some(plan), &state, now)?;
            }
            let QuestionAnswer { answer, by, via, .. } = given;
            let kind = ActivityKind::Answered { question: id, answer: one_line(&answer), by, via };
            activity::record(tx, Some(&source), row.todo, &kind, now)?;
            Ok(AnswerOutcome::Accepted)
        })
    }
}
