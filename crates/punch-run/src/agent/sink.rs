//! The way from agents to the runner: one bounded channel for all of them. An agent that floods waits; what is only for
//! eyes is dropped instead.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use super::Event;

/// Reports that may wait to be read.
const WAITING: usize = 256;

/// A report and who made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The number that the runner gave to this start of an agent.
    pub from: u64,
    /// What happened.
    pub event: Event,
}

/// Takes the reports of one start of an agent.
#[derive(Clone, Debug)]
pub struct Sink {
    from: u64,
    send: SyncSender<Report>,
}

impl Sink {
    /// Reports; false if nobody listens any more.
    pub fn report(&self, event: Event) -> bool {
        let report = Report { from: self.from, event };
        match report.event {
            Event::Text(_) => !matches!(self.send.try_send(report), Err(TrySendError::Disconnected(_))),
            _ => self.send.send(report).is_ok(),
        }
    }
}

/// A channel: makes a sink for every start, and the end that hears all of them.
pub fn reports() -> (impl Fn(u64) -> Sink, Receiver<Report>) {
    let (send, receive) = sync_channel(WAITING);
    (move |from| Sink { from, send: send.clone() }, receive)
}
