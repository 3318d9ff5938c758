//! Tells subscribers that a resource changed. The plan is followed only while there are subscribers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};
use tokio_util::sync::CancellationToken;

use crate::plan_follower::{ChangedIds, PlanFollower};
use crate::service::{PlanResource, ToolService};
use crate::service_thread::ServiceThread;

/// How long one wait may last; also how long the following continues after the last subscriber left.
const WAIT: Duration = Duration::from_secs(1);

/// The number of changes that a slow subscriber may be behind; one that is further behind is notified that everything
/// changed.
const BEHIND: usize = 64;

/// Wakes subscribers.
#[derive(Clone)]
pub struct SubscriptionWatch {
    service: ServiceThread,
    changes: ChangeSender,
}

/// Where the following thread announces changes; `None` while there is no such thread.
type ChangeSender = Arc<Mutex<Option<Sender<Arc<ChangedIds>>>>>;

impl SubscriptionWatch {
    /// Follows nothing yet.
    pub fn new(service: ServiceThread) -> Self {
        Self { service, changes: Arc::default() }
    }

    /// Calls `tell` for each of `readings` that changed, until it returns false or `end` comes.
    pub async fn follow<F>(&self, readings: Vec<PlanResource>, end: CancellationToken, mut tell: impl FnMut(usize) -> F)
    where
        F: Future<Output = bool>,
    {
        let mut changes = self.join(&end).await;
        loop {
            let changed = tokio::select! {
                () = end.cancelled() => return,
                received = changes.recv() => match received {
                    Ok(changed) => changed,
                    Err(RecvError::Lagged(_)) => Arc::new(ChangedIds::All),
                    Err(RecvError::Closed) => return,
                },
            };
            for (n, reading) in readings.iter().enumerate() {
                let is_changed = match reading {
                    PlanResource::Plan => true,
                    PlanResource::Todo(id) => changed.contains(id),
                };
                if is_changed && !tell(n).await {
                    return;
                }
            }
        }
    }

    /// Joins those who wait, and starts the following if it is not running.
    async fn join(&self, end: &CancellationToken) -> Receiver<Arc<ChangedIds>> {
        if let Some(changes) = lock(&self.changes).as_ref() {
            return changes.subscribe();
        }
        // Out of reach: the thread tries again.
        let follower = self.service.run(end.clone(), |service| service.follow()).await.ok().flatten();
        let mut held = lock(&self.changes);
        if let Some(changes) = held.as_ref() {
            return changes.subscribe();
        }
        let (changes, wait) = channel(BEHIND);
        *held = Some(changes);
        let (service, shared) = (self.service.service().clone(), self.changes.clone());
        let started =
            thread::Builder::new().name("follow".into()).spawn(move || announce(&*service, follower, &shared));
        if started.is_err() {
            *held = None;
        }
        wait
    }
}

/// Announces changes until no subscriber waits.
fn announce(service: &dyn ToolService, mut follower: Option<PlanFollower>, shared: &ChangeSender) {
    loop {
        let changed = match &mut follower {
            Some(following) => following.next(WAIT).unwrap_or_else(|_| {
                follower = None;
                None
            }),
            None => {
                thread::sleep(WAIT);
                follower = service.follow().ok().flatten();
                follower.as_ref().map(|_| ChangedIds::All)
            }
        };
        let mut held = lock(shared);
        match held.as_ref() {
            Some(changes) if changes.receiver_count() > 0 => {
                if let Some(changed) = changed {
                    let _ = changes.send(Arc::new(changed));
                }
            }
            _ => {
                *held = None;
                return;
            }
        }
    }
}

fn lock(changes: &ChangeSender) -> MutexGuard<'_, Option<Sender<Arc<ChangedIds>>>> {
    changes.lock().unwrap_or_else(PoisonError::into_inner)
}
