//! The harness around the model: who is informed about its work, what it gets to read, and whether it may stop.

use std::path::Path;

use serde_json::{Value, json};

use super::draws::Draw;
use super::model::{Belief, SimulatedModel};
use super::profile::JUDGE;
use super::world;
use crate::bench::tokenizer::tokens;

/// A line of a list.
pub struct TodoLine {
    pub todo: usize,
    pub status: &'static str,
}

/// A call that the model makes, with the tokens that it writes and reads, and the text that it understands.
pub type ModelCall = Result<(usize, String), String>;

/// Everything a model meets in a conversation. Texts are what it reads.
pub trait Harness {
    fn begin(&mut self, _model: &SimulatedModel<'_>) -> Result<String, String> {
        Ok(String::new())
    }

    /// The model starts a todo that was not marked in progress.
    fn start(&mut self, _model: &SimulatedModel<'_>, _todo: usize) -> ModelCall {
        Ok((0, String::new()))
    }

    fn edited(&mut self, _file: &Path) -> Result<String, String> {
        Ok(String::new())
    }

    fn tick(&mut self, _model: &SimulatedModel<'_>, _todo: usize) -> ModelCall {
        Ok((0, String::new()))
    }

    fn compacted(&mut self, _model: &SimulatedModel<'_>) -> Result<String, String> {
        Ok(String::new())
    }

    /// The model runs a command of `punch` in a shell.
    fn shell(&mut self, _words: &[&str]) -> Result<String, String> {
        Ok(String::new())
    }

    fn hold(&mut self, _id: &str, _todo: usize) -> Result<String, String> {
        Ok(String::new())
    }

    /// The model has run tests of its own choice.
    fn ran_check(&mut self, _todo: usize, _passes: bool) -> Result<String, String> {
        Ok(String::new())
    }

    /// The model wants to stop: the text that makes it continue, or nothing.
    fn stop(&mut self, model: &SimulatedModel<'_>) -> Result<Option<String>, String>;

    /// The todos that count as done for the user when everything is over.
    fn called_done(&mut self, model: &SimulatedModel<'_>) -> Result<Vec<bool>, String> {
        Ok(model.beliefs.iter().map(|belief| matches!(belief, Belief::Done { .. })).collect())
    }

    /// Why the model was allowed to stop, where that is recorded.
    fn end_reason(&self) -> Option<String> {
        None
    }

    /// Tokens that exist only because of this harness.
    fn own_tokens(&self) -> usize {
        0
    }
}

/// A list as agents write it, whole at every change.
pub fn written(rows: &[TodoLine]) -> Value {
    let row = |row: &TodoLine| {
        let content = world::content(row.todo);
        json!({"content": content, "status": row.status, "activeForm": content})
    };
    json!({"todos": rows.iter().map(row).collect::<Vec<_>>()})
}

/// No list at all: the model keeps the plan in its context.
pub struct Nothing;

impl Harness for Nothing {
    fn stop(&mut self, _model: &SimulatedModel<'_>) -> Result<Option<String>, String> {
        Ok(None)
    }
}

/// The agent's own list. It shows its open todos again after a compaction, and a model that wants to stop early looks at
/// it and continues half of the time. Both are generous: lists were reported lost, and the half is a guess.
#[derive(Default)]
pub struct OwnList {
    looks: u32,
}

const LOOKS_BACK: f64 = 0.5;

impl OwnList {
    fn shown(model: &SimulatedModel<'_>) -> String {
        let open = model.open().into_iter().map(|todo| format!("[ ] {}\n", world::content(todo)));
        open.collect()
    }
}

impl Harness for OwnList {
    fn start(&mut self, model: &SimulatedModel<'_>, _todo: usize) -> ModelCall {
        Ok((tokens(&written(&model.list()).to_string()), String::new()))
    }

    fn tick(&mut self, model: &SimulatedModel<'_>, _todo: usize) -> ModelCall {
        Ok((tokens(&written(&model.list()).to_string()), String::new()))
    }

    fn compacted(&mut self, model: &SimulatedModel<'_>) -> Result<String, String> {
        Ok(Self::shown(model))
    }

    fn stop(&mut self, model: &SimulatedModel<'_>) -> Result<Option<String>, String> {
        self.looks += 1;
        let continues = !model.open().is_empty() && model.world.draws.hits(Draw::LookBack, 0, self.looks, LOOKS_BACK);
        Ok(continues.then(|| Self::shown(model)))
    }

    fn called_done(&mut self, model: &SimulatedModel<'_>) -> Result<Vec<bool>, String> {
        Ok(model.beliefs.iter().map(|belief| *belief == Belief::Done { ticked: true }).collect())
    }
}

/// A small model that judges the conversation at every stop. It always sees which todos were never called done. Where all
/// are, it is right with the probability of [`JUDGE`].
#[derive(Default)]
pub struct Judge {
    /// A judge that is right and finds fault names a todo that is not done, and the model repairs it. Any other judge
    /// cannot say which todo is wrong, so that the model looks at one of them again.
    names: bool,
    rounds: u32,
    /// Rounds in a row after which nothing was called done that was not before.
    idle: u32,
    open: usize,
}

impl Judge {
    /// A judge that names the todo.
    pub fn naming() -> Self {
        Self { names: true, ..Self::default() }
    }
}

/// Tokens of one judgment: an excerpt and the verdict. A judge that reads the whole conversation costs more.
const JUDGMENT: usize = 700;
const MOST_ROUNDS: u32 = 50;
const MOST_IDLE: u32 = 8;

impl Harness for Judge {
    fn stop(&mut self, model: &SimulatedModel<'_>) -> Result<Option<String>, String> {
        let open = model.open();
        self.rounds += 1;
        self.idle = if open.len() < self.open { 0 } else { self.idle + 1 };
        self.open = open.len();
        if self.rounds > MOST_ROUNDS || self.idle > MOST_IDLE {
            return Ok(None);
        }
        if !open.is_empty() {
            return Ok(Some(open.into_iter().map(|todo| format!("{}\n", world::content(todo))).collect()));
        }
        let claimed = |todo: &usize| matches!(model.beliefs[*todo], Belief::Done { .. });
        let claimed: Vec<usize> = (0..model.beliefs.len()).filter(claimed).collect();
        let is_met = claimed.iter().all(|todo| model.world.is_true(*todo));
        let is_right = model.world.draws.hits(Draw::Judge, 0, self.rounds, JUDGE);
        if is_met == is_right {
            return Ok(None);
        }
        if let Some(todo) = claimed.iter().find(|todo| self.names && !model.world.is_true(**todo)) {
            return Ok(Some(format!("not done: {}", world::name(*todo))));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "small"
        )]
        let one = (model.world.draws.unit(Draw::Look, 0, self.rounds) * claimed.len() as f64) as usize;
        Ok(claimed.get(one).map(|todo| format!("unchecked: {}", world::name(*todo))))
    }

    fn own_tokens(&self) -> usize {
        self.rounds as usize * JUDGMENT
    }
}

/// One iteration of a loop that starts a fresh conversation on a plan file again and again. The file keeps the ticks.
pub struct PlanFileLoop;

impl Harness for PlanFileLoop {
    fn tick(&mut self, _model: &SimulatedModel<'_>, todo: usize) -> ModelCall {
        Ok((tokens(&format!("- [x] {}", world::content(todo))), String::new()))
    }

    fn stop(&mut self, _model: &SimulatedModel<'_>) -> Result<Option<String>, String> {
        Ok(None)
    }
}
