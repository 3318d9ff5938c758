//! What happens in one conversation, written down: each thing the model does, and the text it reads afterwards. For finding
//! out why a figure is as it is.

use std::path::Path;

use super::harness::{Harness, ModelCall};
use super::model::{Belief, SimulatedModel};

/// A harness with a transcript.
pub struct Transcript<'h> {
    pub harness: &'h mut dyn Harness,
}

impl Transcript<'_> {
    fn say(what: &str, text: &str) {
        println!("{what}");
        for line in text.lines() {
            println!("    | {line}");
        }
    }

    fn called(what: &str, called: ModelCall) -> ModelCall {
        if let Ok((_, text)) = &called {
            Self::say(what, text);
        }
        called
    }

    fn text(what: &str, text: Result<String, String>) -> Result<String, String> {
        if let Ok(text) = &text {
            Self::say(what, text);
        }
        text
    }
}

impl Harness for Transcript<'_> {
    fn begin(&mut self, model: &SimulatedModel<'_>) -> Result<String, String> {
        Self::text("begin", self.harness.begin(model))
    }

    fn start(&mut self, model: &SimulatedModel<'_>, todo: usize) -> ModelCall {
        Self::called(&format!("start {todo:02}"), self.harness.start(model, todo))
    }

    fn edited(&mut self, file: &Path) -> Result<String, String> {
        let name = file.file_name().unwrap_or_default().display().to_string();
        Self::text(&format!("edit {name}"), self.harness.edited(file))
    }

    fn tick(&mut self, model: &SimulatedModel<'_>, todo: usize) -> ModelCall {
        let truth = if model.world.is_true(todo) { "true" } else { "false" };
        Self::called(&format!("tick {todo:02} ({truth})"), self.harness.tick(model, todo))
    }

    fn compacted(&mut self, model: &SimulatedModel<'_>) -> Result<String, String> {
        Self::text("compaction", self.harness.compacted(model))
    }

    fn shell(&mut self, words: &[&str]) -> Result<String, String> {
        Self::text(&format!("punch {}", words.join(" ")), self.harness.shell(words))
    }

    fn hold(&mut self, id: &str, todo: usize) -> Result<String, String> {
        Self::text(&format!("hold {id} {todo:02}"), self.harness.hold(id, todo))
    }

    fn ran_check(&mut self, todo: usize, passes: bool) -> Result<String, String> {
        let verdict = if passes { "passes" } else { "fails" };
        Self::text(&format!("test of {todo:02} {verdict}"), self.harness.ran_check(todo, passes))
    }

    fn stop(&mut self, model: &SimulatedModel<'_>) -> Result<Option<String>, String> {
        let stop = self.harness.stop(model);
        if let Ok(text) = &stop {
            let beliefs: String = model.beliefs.iter().map(letter).collect();
            Self::say(&format!("stop, believing {beliefs}"), text.as_deref().unwrap_or("(may stop)"));
        }
        stop
    }

    fn called_done(&mut self, model: &SimulatedModel<'_>) -> Result<Vec<bool>, String> {
        let called = self.harness.called_done(model)?;
        for (todo, called) in called.iter().enumerate() {
            if model.world.is_true(todo) != *called {
                println!("at the end: {todo:02} called done {called}, believed {:?}", model.beliefs[todo]);
            }
        }
        Ok(called)
    }

    fn end_reason(&self) -> Option<String> {
        let reason = self.harness.end_reason();
        println!("reason: {}", reason.as_deref().unwrap_or("none recorded"));
        reason
    }

    fn own_tokens(&self) -> usize {
        self.harness.own_tokens()
    }
}

const fn letter(belief: &Belief) -> char {
    match belief {
        Belief::Open => 'o',
        Belief::Forgotten => 'f',
        Belief::Done { ticked: true } => 'x',
        Belief::Done { ticked: false } => 'd',
        Belief::Waiting => 'w',
    }
}
