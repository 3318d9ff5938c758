//! The next batch for one agent: what fits into the tokens it has left.

use super::{Ask, Estimate, estimate, schedule};
use crate::{Hold, HoldKind, Plan, Status, text};

/// Todos named in a text.
const SHOWN: usize = 30;

/// Todos for one window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Ids with what each is expected to need, in the order of work.
    pub todos: Vec<(String, Estimate)>,
    /// Their sum.
    pub tokens: u64,
    /// The best todo that could be worked on, if not even that fits.
    pub too_large: Option<(String, Estimate)>,
}

/// What an agent with `budget` tokens left should do now, in the order of the default schedule.
pub fn batch(plan: &Plan, budget: u64, calibration: f64, now: i64) -> Batch {
    // The context of which this is the budget.
    let context = (u128::from(budget) * 10).div_ceil(7);
    let ask = Ask { context: u64::try_from(context).unwrap_or(u64::MAX), calibration, ..Ask::default() };
    let sized = |id: &String| {
        let todo = plan.by_id(id);
        (id.clone(), todo.map_or(Estimate { tokens: 0, assumed: true }, |todo| estimate(todo, calibration)))
    };
    let first = |plan: &Plan| -> Vec<(String, Estimate)> {
        let windows = schedule(plan, &ask, now).windows;
        windows.first().map_or_else(Vec::new, |window| window.todos.iter().map(sized).collect())
    };
    let todos = first(&without_larger(plan, budget, calibration));
    let tokens = todos.iter().fold(0u64, |sum, (_, estimate)| sum.saturating_add(estimate.tokens));
    let too_large = if todos.is_empty() { first(plan).into_iter().next() } else { None };
    Batch { todos, tokens, too_large }
}

/// The plan as if what does not fit, and all that waits for it, had to wait.
fn without_larger(plan: &Plan, budget: u64, calibration: f64) -> Plan {
    let mut out = plan.clone();
    for todo in plan.live() {
        if todo.status.is_open() && estimate(todo, calibration).tokens > budget {
            let mut todo = todo.clone();
            todo.fields.status = Status::Pending;
            let reason = "larger than the budget".into();
            todo.fields.hold = Some(Hold { kind: HoldKind::Other, reason, until: None, by: String::new(), at: 0 });
            out.put(todo);
        }
    }
    out
}

impl Batch {
    /// What to do instead, where nothing fits.
    pub fn advice(&self) -> Option<&'static str> {
        (self.todos.is_empty() && self.too_large.is_some())
            .then_some("checkpoint now, and go on in a new context window")
    }

    /// For people and models: one line for each, and the sum or the advice.
    pub fn text(&self, plan: &Plan, budget: u64, now: i64) -> String {
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
            (Some(first), Some(advice)) => {
                out.push(line(first));
                out.push(format!("Nothing fits into {budget} tokens: {advice}."));
            }
            _ if self.todos.is_empty() => {
                let open = plan.live().iter().any(|todo| todo.status_at(now).is_open());
                out.push(if open { "Nothing is ready.".into() } else { "Nothing is open.".into() });
            }
            _ => out.push(format!("{} of {budget} tokens; checkpoint when they are done", self.tokens)),
        }
        out.join("\n")
    }
}
