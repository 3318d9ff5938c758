//! A run on the screen: one line for each agent where there is a terminal, plain lines elsewhere, JSON for programs; and
//! questions to the user.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use punch_core::text;
use punch_run::agent::Permission;
use punch_run::{Interrupt, RunEvent, RunObserver};
use serde_json::json;

use crate::environment;
use crate::live::{Live, Size};
use crate::output;
use crate::reply::with_schema;
use crate::safety;

/// How often a question looks whether the run is being stopped.
const LOOK: Duration = Duration::from_millis(100);

/// Tells what happens.
pub struct Screen {
    as_json: bool,
    interrupt: Interrupt,
    live: Mutex<Option<Live>>,
    /// One question at a time.
    asking: Mutex<()>,
}

impl Screen {
    pub fn new(as_json: bool, agents: usize, interrupt: Interrupt) -> Self {
        let live = (!as_json && environment::is_watched()).then(|| Live::new(agents));
        Self { as_json, interrupt, live: Mutex::new(live), asking: Mutex::new(()) }
    }

    /// Leaves the lines as they are.
    pub fn close(&self) {
        self.change(Live::close);
    }

    /// Changes the lines of the terminal, if there are any; whether there are.
    fn change(&self, change: impl FnOnce(&mut Live, Size) -> String) -> bool {
        match self.live().as_mut() {
            Some(live) => {
                output::terminal(&change(live, environment::screen()));
                true
            }
            None => false,
        }
    }

    fn live(&self) -> MutexGuard<'_, Option<Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunObserver for Screen {
    fn on_event(&self, event: &RunEvent) {
        if self.as_json {
            // What agents print is for eyes.
            if !matches!(event, RunEvent::Output { .. }) {
                let _ = output::document(&format!("{}\n", with_schema(json!(event))));
            }
            return;
        }
        let (message, agent) = (line(event), place(event));
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

    fn ask(&self, todo: &str, wanted: &Permission) -> Option<bool> {
        if self.as_json || !environment::is_attended() {
            return None;
        }
        let _turn = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let question = format!("{}: {} - allow it?", text::clip(todo, 80), wanted.what);
        environment::forget_input();
        if !self.change(|live, size| live.ask(&question, size)) {
            output::remark(&format!("{question} [y/N]"));
        }
        let answer = self.answer();
        self.change(|live, size| live.answered(answer.is_some(), size));
        answer
    }
}

impl Screen {
    /// What is typed; `None` if the run is stopped before that.
    fn answer(&self) -> Option<bool> {
        while !environment::input_is_ready() {
            if self.interrupt.is_asked() {
                return None;
            }
            thread::sleep(LOOK);
        }
        output::answer().ok()
    }
}

/// The agent that an event is about, counted from 1.
const fn place(event: &RunEvent) -> Option<usize> {
    match event {
        RunEvent::Started { agent, .. }
        | RunEvent::Output { agent, .. }
        | RunEvent::Continued { agent, .. }
        | RunEvent::Verifying { agent, .. }
        | RunEvent::Completed { agent, .. }
        | RunEvent::Retrying { agent, .. }
        | RunEvent::Failed { agent, .. }
        | RunEvent::Held { agent, .. }
        | RunEvent::Asks { agent, .. }
        | RunEvent::Released { agent, .. } => match *agent {
            0 => None,
            agent => Some(agent),
        },
        RunEvent::Begun { .. } | RunEvent::Remark { .. } | RunEvent::Waiting { .. } | RunEvent::Ended { .. } => None,
    }
}

/// Worth a line that stays.
const fn stays_visible(event: &RunEvent) -> bool {
    // That an agent asks is said again where the question is put.
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

/// One line for people; `None` for what only a live line shows, and for what the last line says anyway.
fn line(event: &RunEvent) -> Option<String> {
    Some(match event {
        RunEvent::Begun { run, resumed, agents } => {
            let word = if *resumed { "goes on" } else { "begins" };
            format!("run {run} {word} with {}", safety::count(*agents as u64, "agent"))
        }
        RunEvent::Remark { what } => format!("note: {what}"),
        RunEvent::Started { agent, name, todo, content, attempt } => {
            let again = if *attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
            format!("[{agent}] {name} works on {todo}{again}: {content}")
        }
        RunEvent::Continued { agent, todo } => format!("[{agent}] goes on with {todo}"),
        RunEvent::Verifying { todo, .. } => format!("{todo} is reported as done; checking"),
        RunEvent::Completed { todo, spent, .. } => {
            let guess = if spent.estimated > 0 { " (estimated)" } else { "" };
            format!("{todo} is done: {} tokens{guess}, {} s", spent.tokens, spent.ms / 1_000)
        }
        RunEvent::Retrying { todo, why, .. } => format!("{todo} is tried again: {why}"),
        RunEvent::Failed { todo, why, .. } => format!("{todo} has failed: {why}"),
        RunEvent::Held { todo, why, .. } => format!("{todo} waits for a person: {why}"),
        RunEvent::Asks { agent, todo, what } => format!("[{agent}] asks about {todo}: {what}"),
        RunEvent::Released { todo, why, .. } => format!("{todo} is given back: {why}"),
        RunEvent::Waiting { what } => what.clone(),
        RunEvent::Output { .. } | RunEvent::Ended { .. } => return None,
    })
}
