//! Activity, questions, seats, readers and the runner of a plan in memory.

use std::collections::BTreeMap;

use super::shared_map::SharedMap;
use crate::record::ACTIVITY_SWEEP;
use crate::{
    ACTIVITY_KEPT, ACTIVITY_LIFETIME_MS, Activity, ActivitySpan, QUESTIONS_KEPT, Question, QuestionFilter,
    QuestionOutcome, QuestionState, READERS_KEPT, ReadMarker, RunGrant, RunLease, SeatRecord,
};

/// What is stored about the work on a plan, beside the plan itself.
#[derive(Clone, Debug, Default)]
pub(super) struct LiveRecords {
    pub activity: SharedMap<u64, Activity>,
    pub questions: BTreeMap<u64, Question>,
    pub seats: BTreeMap<(u64, u32), SeatRecord>,
    pub readers: BTreeMap<String, ReadMarker>,
    pub runner: Option<RunLease>,
}

impl LiveRecords {
    pub fn activity_span(&self) -> ActivitySpan {
        let number = |entry: Option<(&u64, &Activity)>| entry.map_or(0, |(seq, _)| *seq);
        ActivitySpan { oldest: number(self.activity.iter().next()), newest: number(self.activity.iter().next_back()) }
    }

    pub fn put_activity(&mut self, activity: &Activity) -> u64 {
        let seq = self.activity_span().newest + 1;
        self.activity.insert(seq, Activity { seq, ..activity.clone() });
        if seq.is_multiple_of(ACTIVITY_SWEEP) {
            let fresh = |known: &Activity| known.at > activity.at.saturating_sub(ACTIVITY_LIFETIME_MS);
            let first = self.activity.values().find(|known| fresh(known)).map_or(seq, |known| known.seq);
            self.activity.retain(|number, _| *number >= first && number + ACTIVITY_KEPT > seq);
        }
        seq
    }

    pub fn questions(&self, which: QuestionFilter) -> impl Iterator<Item = &Question> {
        let wanted = move |state: &QuestionState| which == QuestionFilter::All || *state == QuestionState::Open;
        self.questions.values().rev().filter(move |question| wanted(&question.state))
    }

    pub fn put_question(&mut self, question: &Question) -> u64 {
        let id = self.questions.last_key_value().map_or(1, |(id, _)| id + 1);
        self.questions.insert(id, Question { id, ..question.clone() });
        self.questions.retain(|number, known| number + QUESTIONS_KEPT > id || known.state == QuestionState::Open);
        id
    }

    pub fn settle(&mut self, id: u64, state: QuestionState) -> QuestionOutcome {
        let Some(question) = self.questions.get_mut(&id) else { return QuestionOutcome::Unknown };
        if question.state != QuestionState::Open {
            return QuestionOutcome::AlreadySettled(question.state.clone());
        }
        question.state = state;
        QuestionOutcome::Settled
    }

    pub fn take_answer(&mut self, id: u64, now: i64) -> bool {
        match self.questions.get_mut(&id).map(|question| &mut question.state) {
            Some(QuestionState::Answered(answer)) if answer.taken_at.is_none() => {
                answer.taken_at = Some(now);
                true
            }
            _ => false,
        }
    }

    pub fn put_read_marker(&mut self, marker: &ReadMarker) {
        self.readers.insert(marker.reader.clone(), marker.clone());
        while self.readers.len() > READERS_KEPT {
            let others = self.readers.values().filter(|known| known.reader != marker.reader);
            let oldest = others.min_by(|a, b| (a.at, &a.reader).cmp(&(b.at, &b.reader)));
            let Some(oldest) = oldest.map(|known| known.reader.clone()) else { break };
            self.readers.remove(&oldest);
        }
    }

    pub fn take_run(&mut self, holder: &str, lease_ms: i64, now: i64) -> RunGrant {
        if let Some(held) = self.runner.as_ref().filter(|lease| lease.is_live(lease_ms, now)) {
            return RunGrant::HeldBy(held.clone());
        }
        let epoch = self.runner.as_ref().map_or(0, |lease| lease.epoch) + 1;
        self.runner = Some(RunLease { holder: holder.to_owned(), epoch, until: Some(now.saturating_add(lease_ms)) });
        RunGrant::Granted { epoch }
    }
}
