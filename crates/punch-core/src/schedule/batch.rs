//! The next batch for one agent: what fits into the tokens it has left.

use serde::{Deserialize, Serialize};

use super::{Estimate, ScheduleRequest, budget, estimate, first_window};
use crate::reason::WorkLimits;
use crate::{Plan, text};

/// Todos named in a text.
const SHOWN: usize = 30;

/// Todos for one window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Batch {
    /// Ids with what each is expected to need, in the order of work.
    pub todos: Vec<(String, Estimate)>,
    /// The sum of the estimates.
    pub tokens: u64,
    /// What they may need together: 70 % of the tokens that are left (rule 28).
    pub budget: u64,
    /// The best todo that could be worked on, if not even that fits.
    pub too_large: Option<(String, Estimate)>,
}

/// What an agent with `left` tokens of its context left should do now, in the order of the default schedule.
pub fn batch(plan: &Plan, left: u64, calibration: f64, now: i64) -> Batch {
    let ask = ScheduleRequest { context: left, calibration, ..ScheduleRequest::default() };
    let sized = |id: &String| {
        let todo = plan.by_id(id);
        (id.clone(), todo.map_or(Estimate { tokens: 0, assumed: true }, |todo| estimate(todo, calibration)))
    };
    let first = |oversize| -> Vec<(String, Estimate)> {
        first_window(plan, &ScheduleRequest { oversize, ..ask }, now).iter().map(sized).collect()
    };
    let todos = first(false);
    let tokens = todos.iter().fold(0u64, |sum, (_, estimate)| sum.saturating_add(estimate.tokens));
    let too_large = if todos.is_empty() { first(true).into_iter().next() } else { None };
    Batch { todos, tokens, budget: budget(left), too_large }
}

impl Batch {
    /// What to do instead, where nothing fits.
    pub fn advice(&self) -> Option<&'static str> {
        let (_, estimate) = self.too_large.as_ref().filter(|_| self.todos.is_empty())?;
        Some(match estimate.tokens > budget(WorkLimits::USUAL.context) {
            true => "split it, no context window can hold it",
            false => "checkpoint now, and continue in a new context window",
        })
    }

    /// For people and models: one line for each, and the sum or the advice.
    pub fn text(&self, plan: &Plan) -> String {
        let budget = self.budget;
        let line = |(id, estimate): &(String, Estimate)| {
            let content = plan.by_id(id).map(|todo| text::clip(&text::neutral(&todo.content), 100).into_owned());
            let assumed = if estimate.assumed { "?" } else { "" };
            format!("{}{assumed} tokens  {} {}", estimate.tokens, text::neutral(id), content.unwrap_or_default())
        };
        let mut out: Vec<String> = self.todos.iter().take(SHOWN).map(line).collect();
        if self.todos.len() > SHOWN {
            out.push(format!("… and {} more", self.todos.len() - SHOWN));
        }
        match (&self.too_large, self.advice()) {
            (Some((id, estimate)), Some(advice)) => {
                let (id, needed) = (text::neutral(id), estimate.tokens);
                out.push(format!("Nothing fits into {budget} tokens; {id} needs {needed}: {advice}."));
            }
            _ if self.todos.is_empty() => {
                let open = plan.live().iter().any(|todo| todo.is_open_work());
                out.push(if open { "Nothing is ready.".into() } else { "Nothing is open.".into() });
            }
            _ => out.push(format!("{} of {budget} tokens; checkpoint when they are done", self.tokens)),
        }
        out.join("\n")
    }
}
