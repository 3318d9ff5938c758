//! Sends events from agents to the runner through one bounded channel. An agent that prints too fast has to wait;
//! events that are only displayed are dropped instead.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use super::AgentEvent;

/// Reports that may wait to be read.
const WAITING: usize = 256;

/// A report and who made it.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentReport {
    /// The number that the runner gave to this start of an agent.
    pub from: u64,
    /// What happened.
    pub event: AgentEvent,
}

/// Takes the reports of one start of an agent.
#[derive(Clone)]
pub struct Sink {
    from: u64,
    send: Arc<dyn Fn(AgentReport) -> bool + Send + Sync>,
}

impl Sink {
    /// A sink into a channel of whatever has reports among its messages.
    pub fn new<T: Send + 'static>(from: u64, send: SyncSender<T>, message: fn(AgentReport) -> T) -> Self {
        let send = move |report: AgentReport| match report.event {
            AgentEvent::Text(_) => !matches!(send.try_send(message(report)), Err(TrySendError::Disconnected(_))),
            _ => send.send(message(report)).is_ok(),
        };
        Self { from, send: Arc::new(send) }
    }

    /// Reports; false if the receiver is gone.
    pub fn report(&self, event: AgentEvent) -> bool {
        (self.send)(AgentReport { from: self.from, event })
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").field("from", &self.from).finish_non_exhaustive()
    }
}

/// Creates a channel for reports: makes a sink for every start, and the receiver for all of them.
pub fn reports() -> (impl Fn(u64) -> Sink, Receiver<AgentReport>) {
    let (send, receive) = sync_channel(WAITING);
    (move |from| Sink::new(from, send.clone(), |report| report), receive)
}
