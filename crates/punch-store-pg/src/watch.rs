//! Wake-ups. Commits of this process wake its waiters directly. Those of others come as notifications over one connection for
//! all waiters, and a look at the number of writes every second finds what no notification came for: behind a pooler there
//! are none. A notification is sent after the commit and never in it, where it would make writers of all plans wait for each
//! other. Writes in quick succession share one: the first sends it at once, and a thread sends one for the others.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use punch_store::{Changes, StoreError};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::address::Address;
use crate::answer::WireError;
use crate::executor::Executor;
use crate::link::{ServerLink, ask};
use crate::value::Columns;

/// How often the number of writes is looked at while a thread waits: less than a second, with the time that the look takes.
const LOOK: Duration = Duration::from_millis(900);

/// Writes within this time share a notification.
const TOGETHER: Duration = Duration::from_millis(100);

/// How long to wait before connecting again.
const RETRY: Duration = Duration::from_millis(500);

/// Shared by a store and its waiters.
pub struct NotificationWatch {
    runtime: Arc<Executor>,
    address: Arc<Address>,
    project: i64,
    /// Tells notifications of this store handle from those of others.
    origin: String,
    commits: watch::Sender<u64>,
    /// Writes of this handle, which the number of all writes includes.
    own: Arc<AtomicU64>,
    ear: Mutex<Ear>,
    noted: Arc<Mutex<NotificationTimes>>,
    /// The idle connections of the store.
    idle: Arc<Mutex<Vec<ServerLink>>>,
}

#[derive(Default)]
struct Ear {
    waiters: usize,
    task: Option<JoinHandle<()>>,
}

/// When notifications leave.
#[derive(Default)]
struct NotificationTimes {
    last: Option<Instant>,
    /// Writes since then have none yet.
    is_due: bool,
}

/// What a commit does about its notification.
#[derive(Debug, PartialEq, Eq)]
enum NotifyAfterCommit {
    Send,
    StartSender,
    LeaveToSender,
}

/// What the thread that sends notifications does once writes had their time.
#[derive(Debug, PartialEq, Eq)]
enum SenderStep {
    Send,
    /// All connections are at work; one of them may send it with its commit.
    WaitAgain,
    Stop,
}

impl NotificationTimes {
    fn committed(&mut self, now: Instant) -> NotifyAfterCommit {
        if self.last.is_some_and(|last| now.duration_since(last) < TOGETHER) {
            let has_sender = std::mem::replace(&mut self.is_due, true);
            return if has_sender { NotifyAfterCommit::LeaveToSender } else { NotifyAfterCommit::StartSender };
        }
        *self = Self { last: Some(now), is_due: false };
        NotifyAfterCommit::Send
    }

    fn sender_step(&mut self, now: Instant, has_connection: bool) -> SenderStep {
        match (self.is_due, has_connection) {
            (false, _) => SenderStep::Stop,
            (true, false) => SenderStep::WaitAgain,
            (true, true) => {
                *self = Self { last: Some(now), is_due: false };
                SenderStep::Send
            }
        }
    }
}

impl NotificationWatch {
    pub fn new(runtime: Arc<Executor>, address: Arc<Address>, project: i64, idle: Arc<Mutex<Vec<ServerLink>>>) -> Self {
        let origin = format!("{:016x}", random());
        Self {
            runtime,
            address,
            project,
            origin,
            commits: watch::Sender::new(0),
            own: Arc::default(),
            ear: Mutex::default(),
            noted: Arc::default(),
            idle,
        }
    }

    /// A number that no other write has.
    pub fn random(&self) -> i64 {
        random().cast_signed()
    }

    /// This process has committed over this connection.
    pub fn committed(&self, link: &mut ServerLink) {
        self.committed_elsewhere();
        let after = self.noted.lock().unwrap_or_else(PoisonError::into_inner).committed(Instant::now());
        match after {
            NotifyAfterCommit::Send => self.runtime.block_on(link.post(&self.note())),
            NotifyAfterCommit::StartSender => self.send_later(),
            NotifyAfterCommit::LeaveToSender => {}
        }
    }

    /// Sends the notification that writes in quick succession share, once they had their time.
    fn send_later(&self) {
        let (runtime, noted, idle, note) =
            (Arc::clone(&self.runtime), Arc::clone(&self.noted), Arc::clone(&self.idle), self.note());
        let send = move || {
            loop {
                std::thread::sleep(TOGETHER);
                let mut link = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let step = {
                    let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
                    noted.sender_step(Instant::now(), link.is_some())
                };
                if step == SenderStep::Send {
                    link.iter_mut().for_each(|link| runtime.block_on(link.post(&note)));
                }
                idle.lock().unwrap_or_else(PoisonError::into_inner).extend(link);
                if step != SenderStep::WaitAgain {
                    return;
                }
            }
        };
        // Without a thread, the next commit or the look of the others finds it.
        let _ = std::thread::Builder::new().name("punch-notify".into()).spawn(send);
    }

    /// This process has committed, and the connection is gone.
    pub fn committed_elsewhere(&self) {
        self.own.fetch_add(1, Ordering::Relaxed);
        self.commits.send_modify(|commits| *commits += 1);
    }

    /// Sends the notification that writes in quick succession have left, if one is due. Without a connection, the look of the
    /// others finds them.
    pub fn flush(&self, link: Option<ServerLink>) {
        let due = std::mem::take(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner).is_due);
        if let Some(mut link) = link.filter(|_| due) {
            self.runtime.block_on(link.post(&self.note()));
        }
    }

    /// A transaction of its own, which nobody has to wait for.
    fn note(&self) -> String {
        let (channel, origin) = (channel(&self.address, self.project), &self.origin);
        format!("BEGIN; SET LOCAL synchronous_commit = off; NOTIFY {channel}, '{origin}'; END")
    }

    fn ear(&self) -> MutexGuard<'_, Ear> {
        self.ear.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A number that nobody else has.
pub fn random() -> u64 {
    // The seed of a hash map is as random as the system has it.
    std::hash::RandomState::new().hash_one(std::process::id())
}

/// The channel of a project: a plain name, other for every schema.
fn channel(address: &Address, project: i64) -> String {
    format!("punch_{:08x}_{project}", punch_core::hash::fnv1a(address.schema.bytes()) & 0xffff_ffff)
}

/// Listens for as long as there are waiters. Runs whenever a thread of this store waits for anything.
async fn hear(address: Arc<Address>, project: i64, origin: String, own: Arc<AtomicU64>, commits: watch::Sender<u64>) {
    let mut foreign = None;
    let mut is_heard = false;
    loop {
        let Ok(mut link) = ServerLink::open(&address).await else {
            tokio::time::sleep(RETRY).await;
            continue;
        };
        let listen = format!("LISTEN {}", channel(&address, project));
        if link.run(&listen).await.is_err() {
            tokio::time::sleep(RETRY).await;
            continue;
        }
        while !link.is_closed() {
            let Some(now) = foreign_writes(&mut link, project, &own).await else { break };
            // What was before the first look is unknown to nobody: whoever waits has read since. One write more is the one
            // that a notification came for.
            let news = foreign.replace(now).map_or(0, |before: i64| now.wrapping_sub(before));
            if news != 0 && !(is_heard && news == 1) {
                commits.send_modify(|commits| *commits += 1);
            }
            // A notification, or the time for a look; both are followed by one.
            match tokio::time::timeout(LOOK, note_of_others(&mut link, &origin)).await {
                Ok(Ok(())) => is_heard = true,
                Ok(Err(_)) => break,
                Err(_) => is_heard = false,
            }
            if is_heard {
                commits.send_modify(|commits| *commits += 1);
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Waits for a notification of another store handle.
async fn note_of_others(link: &mut ServerLink, origin: &str) -> Result<(), WireError> {
    while link.notification().await? == origin {}
    // The look that follows sees what the others are about.
    link.forget_notifications();
    Ok(())
}

/// The number of writes of other store handles; `None` if it cannot be asked for.
async fn foreign_writes(link: &mut ServerLink, project: i64, own: &AtomicU64) -> Option<i64> {
    const WRITES: &str = "SELECT coalesce(sum(writes), 0)::int8 FROM punch.plan WHERE project = $1";
    // Own writes are counted before the look: one in between leads to a needless wake-up, never to a missed one.
    let counted = own.load(Ordering::Relaxed);
    let rows = link.send(&[ask!("look for writes", WRITES, project)]).await.ok()?;
    let writes = rows.first()?.first()?.int(0).ok()?;
    Some(writes.wrapping_sub(counted.cast_signed()))
}

/// One who waits.
pub struct NotificationWaiter {
    watch: Arc<NotificationWatch>,
    seen: watch::Receiver<u64>,
}

impl NotificationWaiter {
    pub fn new(watch: &Arc<NotificationWatch>) -> Self {
        let mut ear = watch.ear();
        ear.waiters += 1;
        if ear.task.is_none() {
            let hear = hear(
                Arc::clone(&watch.address),
                watch.project,
                watch.origin.clone(),
                Arc::clone(&watch.own),
                watch.commits.clone(),
            );
            ear.task = Some(watch.runtime.spawn(hear));
        }
        drop(ear);
        Self { watch: Arc::clone(watch), seen: watch.commits.subscribe() }
    }
}

impl Changes for NotificationWaiter {
    fn wait(&mut self, timeout: Duration) -> Result<bool, StoreError> {
        let changed = self.seen.changed();
        let woken = self.watch.runtime.block_on(async { tokio::time::timeout(timeout, changed).await });
        Ok(matches!(woken, Ok(Ok(()))))
    }
}

impl Drop for NotificationWaiter {
    fn drop(&mut self) {
        let mut ear = self.watch.ear();
        ear.waiters -= 1;
        if ear.waiters == 0
            && let Some(task) = ear.task.take()
        {
            task.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_in_quick_succession_share_a_notification_that_is_tried_until_it_is_sent() {
        let (mut noted, begin) = (NotificationTimes::default(), Instant::now());
        assert_eq!(noted.committed(begin), NotifyAfterCommit::Send);
        assert_eq!(noted.committed(begin), NotifyAfterCommit::StartSender);
        assert_eq!(noted.committed(begin), NotifyAfterCommit::LeaveToSender);
        assert_eq!(noted.sender_step(begin + TOGETHER, false), SenderStep::WaitAgain);
        assert_eq!(noted.sender_step(begin + TOGETHER * 2, true), SenderStep::Send);
        assert_eq!(noted.sender_step(begin + TOGETHER * 3, true), SenderStep::Stop);
        // It was sent just now, so the next one shares again, with a sender of its own.
        assert_eq!(noted.committed(begin + TOGETHER * 2), NotifyAfterCommit::StartSender);
        // A commit sends it if the sender could not.
        assert_eq!(noted.sender_step(begin + TOGETHER * 3, false), SenderStep::WaitAgain);
        assert_eq!(noted.committed(begin + TOGETHER * 4), NotifyAfterCommit::Send);
        assert_eq!(noted.sender_step(begin + TOGETHER * 4, false), SenderStep::Stop);
    }
}
