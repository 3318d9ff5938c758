//! Tells subscribers that a resource changed. The store is watched only while there are subscribers.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::service::{PlanResource, ToolService};
use crate::service_thread::ServiceThread;

/// How long one look at the store may last; also how long the watching continues after the last subscriber left.
const LOOK: Duration = Duration::from_secs(1);

/// Wakes subscribers.
#[derive(Clone)]
pub struct Watch {
    service: ServiceThread,
    ticks: Arc<Mutex<Option<watch::Sender<u64>>>>,
}

impl Watch {
    /// Watches nothing yet.
    pub fn new(service: ServiceThread) -> Self {
        Self { service, ticks: Arc::default() }
    }

    /// Calls `tell` for each of `readings` that changed, until it answers false or `end` comes.
    pub async fn follow<F>(&self, readings: Vec<PlanResource>, end: CancellationToken, mut tell: impl FnMut(usize) -> F)
    where
        F: Future<Output = bool>,
    {
        let mut ticks = self.ticks();
        let Some(mut last_revision) = self.changed(None, &end).await.map(|(revision, _)| revision) else { return };
        loop {
            tokio::select! {
                () = end.cancelled() => return,
                more = ticks.changed() => if more.is_err() { return },
            }
            let Some((revision, ids)) = self.changed(Some(last_revision), &end).await else { continue };
            if revision == last_revision {
                continue;
            }
            last_revision = revision;
            for (n, reading) in readings.iter().enumerate() {
                let changed = match (reading, &ids) {
                    (PlanResource::Plan, _) | (_, None) => true,
                    (PlanResource::Todo(id), Some(ids)) => ids.contains(id),
                };
                if changed && !tell(n).await {
                    return;
                }
            }
        }
    }

    /// `None` while the store is out of reach; the next wake-up asks again.
    async fn changed(&self, since: Option<u64>, end: &CancellationToken) -> Option<(u64, Option<Vec<String>>)> {
        self.service.run(end.clone(), move |service| service.changed(since)).await.ok()
    }

    /// Joins those who wait, and starts the watching if it is not running.
    fn ticks(&self) -> watch::Receiver<u64> {
        let mut held = self.ticks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ticks) = held.as_ref() {
            return ticks.subscribe();
        }
        let (ticks, wait) = watch::channel(0);
        *held = Some(ticks);
        let (service, shared) = (self.service.service().clone(), self.ticks.clone());
        let started = thread::Builder::new().name("watch".into()).spawn(move || look(&*service, &shared));
        if started.is_err() {
            *held = None;
        }
        wait
    }
}

/// Looks at the store until no subscriber waits.
fn look(service: &dyn ToolService, shared: &Mutex<Option<watch::Sender<u64>>>) {
    let mut changes = None;
    loop {
        let woken = match &mut changes {
            None => {
                changes = service.changes();
                if changes.is_none() {
                    thread::sleep(LOOK);
                }
                changes.is_some()
            }
            Some(waiting) => match waiting.wait(LOOK) {
                Ok(woken) => woken,
                Err(_) => {
                    changes = None;
                    thread::sleep(LOOK);
                    false
                }
            },
        };
        let mut held = shared.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_ref() {
            Some(ticks) if ticks.receiver_count() > 0 => {
                if woken {
                    ticks.send_modify(|tick| *tick += 1);
                }
            }
            _ => {
                *held = None;
                return;
            }
        }
    }
}
