//! A run on the screen: one line for each agent where there is a terminal, plain lines elsewhere, JSON for programs; and
//! questions to the user.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use punch_core::text;
use punch_engine::{Answerer, QuestionReply};
use punch_run::agent::PermissionRequest;
use punch_run::{Interrupt, QuestionSettled, RunEvent, RunObserver};
use serde_json::json;

use crate::environment;
use crate::live::{LiveLines, Size};
use crate::output;
use crate::reply::with_schema;

/// How often a question looks whether the run is being stopped.
const LOOK: Duration = Duration::from_millis(100);

/// Tells what happens.
pub struct RunScreen {
    as_json: bool,
    interrupt: Interrupt,
    live: Mutex<Option<LiveLines>>,
    /// One question at a time.
    asking: Mutex<()>,
    /// Proof that the user is at this terminal.
    answerer: Option<Answerer>,
}

impl RunScreen {
    pub fn new(as_json: bool, agents: usize, interrupt: Interrupt, answerer: Option<Answerer>) -> Self {
        let live = (!as_json && environment::is_watched()).then(|| LiveLines::new(agents));
        Self { as_json, interrupt, live: Mutex::new(live), asking: Mutex::new(()), answerer }
    }

    /// Plain lines only, for a process that works unattended.
    pub fn plain(as_json: bool, interrupt: Interrupt) -> Self {
        Self { as_json, interrupt, live: Mutex::new(None), asking: Mutex::new(()), answerer: None }
    }

    /// Leaves the lines as they are.
    pub fn close(&self) {
        self.change(LiveLines::close);
    }

    /// Changes the lines of the terminal, if there are any; whether there are.
    fn change(&self, change: impl FnOnce(&mut LiveLines, Size) -> String) -> bool {
        match self.live().as_mut() {
            Some(live) => {
                output::terminal(&change(live, environment::screen()));
                true
            }
            None => false,
        }
    }

    fn live(&self) -> MutexGuard<'_, Option<LiveLines>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunObserver for RunScreen {
    fn on_event(&self, event: &RunEvent) {
        if self.as_json {
            // What agents print is for eyes.
            if !matches!(event, RunEvent::Output { .. }) {
                let _ = output::document(&format!("{}\n", with_schema(json!(event))));
            }
            return;
        }
        let (message, agent) = (event.words(), event.seat().map(|seat| seat as usize));
        let shown = self.change(|live, size| {
            if let Some(agent) = agent {
                live.set(agent, &message.clone().unwrap_or_else(|| now(event)));
            }
            match message.as_ref().filter(|_| agent.is_none() || stays_visible(event)) {
                Some(message) => live.above(message, size),
                None => live.draw(size),
            }
        });
        if let (Some(message), false) = (message, shown) {
            output::remark(&message);
        }
    }

    fn ask(
        &self,
        todo: &str,
        wanted: &PermissionRequest,
        settled: &QuestionSettled,
    ) -> Option<(QuestionReply, Answerer)> {
        let answerer = self.answerer.clone()?;
        let _turn = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        if settled.is_settled() {
            return None;
        }
        let question = format!("{}: {} - allow it?", text::clip(todo, 80), wanted.what);
        environment::forget_input();
        if !self.change(|live, size| live.ask(&question, size)) {
            output::remark(&format!("{question} [y/N]"));
        }
        let allowed = self.answer(settled);
        self.change(|live, size| live.answered(allowed.is_some(), size));
        Some((if allowed? { QuestionReply::Allow } else { QuestionReply::Refuse }, answerer))
    }
}

impl RunScreen {
    /// What is typed; `None` if the run is stopped or the question is settled before that.
    fn answer(&self, settled: &QuestionSettled) -> Option<bool> {
        while !environment::input_is_ready() {
            if self.interrupt.is_asked() || settled.is_settled() {
                return None;
            }
            thread::sleep(LOOK);
        }
        output::answer().ok()
    }
}

/// Worth a line that stays.
const fn stays_visible(event: &RunEvent) -> bool {
    // A question is printed again where it is asked.
    !matches!(
        event,
        RunEvent::Output { .. }
            | RunEvent::Started { .. }
            | RunEvent::Verifying { .. }
            | RunEvent::Continued { .. }
            | RunEvent::Asks { .. }
    )
}

/// What an agent does now, where nothing is worth a plain line.
fn now(event: &RunEvent) -> String {
    match event {
        RunEvent::Output { text, .. } => text.clone(),
        _ => String::new(),
    }
}
