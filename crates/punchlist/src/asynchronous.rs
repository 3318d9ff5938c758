//! Events and calls for asynchronous programs, whatever their runtime: threads do the waiting, and futures are woken.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use serde_json::Value;

use crate::{Answer, Closer, Ending, Error, Events, Next, Session, Update};

/// Updates as a stream. Dropping it ends the subscription.
#[derive(Debug)]
pub struct EventStream {
    shared: Arc<Mutex<Queue>>,
    closer: Closer,
}

#[derive(Debug, Default)]
struct Queue {
    updates: VecDeque<Result<Update, Error>>,
    ended: bool,
    waker: Option<Waker>,
}

impl Queue {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Events {
    /// Turns the subscription into a stream. A thread waits for the store, and ends when the stream is dropped.
    pub fn into_stream(self) -> EventStream {
        let (shared, closer) = (Arc::<Mutex<Queue>>::default(), self.closer());
        let queue = Arc::clone(&shared);
        let spawned = std::thread::Builder::new().name("punchlist-events".to_owned()).spawn(move || {
            for update in self {
                let mut queue = lock(&queue);
                queue.updates.push_back(update);
                queue.wake();
            }
            let mut queue = lock(&queue);
            queue.ended = true;
            queue.wake();
        });
        if spawned.is_err() {
            lock(&shared).ended = true;
        }
        EventStream { shared, closer }
    }
}

impl Stream for EventStream {
    type Item = Result<Update, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut queue = lock(&self.shared);
        match queue.updates.pop_front() {
            Some(update) => Poll::Ready(Some(update)),
            None if queue.ended => Poll::Ready(None),
            None => {
                queue.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.closer.close();
    }
}

/// A session for asynchronous programs: every call runs on a separate thread, so no other task waits while a check runs
/// or another process writes.
#[derive(Clone, Debug)]
pub struct AsyncSession {
    session: Arc<Session>,
}

impl AsyncSession {
    /// Wraps a session.
    pub fn new(session: Session) -> Self {
        Self { session: Arc::new(session) }
    }

    /// The session itself, for calls that do not block: reading a plan in memory, tools, instructions.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Runs anything with the session, on another thread.
    pub fn run<T: Send + 'static>(&self, f: impl FnOnce(&Session) -> T + Send + 'static) -> Running<T> {
        let shared = Arc::new(Mutex::new(Slot { done: None, waker: None }));
        let (slot, session) = (Arc::clone(&shared), Arc::clone(&self.session));
        std::thread::spawn(move || {
            // A panic continues in the task that waits: without it, that task would wait forever.
            let done = catch_unwind(AssertUnwindSafe(|| f(&session)));
            let mut slot = lock(&slot);
            slot.done = Some(done);
            if let Some(waker) = slot.waker.take() {
                waker.wake();
            }
        });
        Running { shared }
    }

    /// Runs a tool call, see [`Session::call`].
    pub fn call(&self, name: &str, arguments: Value) -> Running<Result<Answer, Error>> {
        let name = name.to_owned();
        self.run(move |session| session.call(&name, &arguments))
    }

    /// Begins a turn, see [`Session::turn_started`].
    pub fn turn_started(&self) -> Running<Result<Option<String>, Error>> {
        self.run(Session::turn_started)
    }

    /// Ends a turn, see [`Session::turn_ended`].
    pub fn turn_ended(&self, ending: impl Into<Ending>) -> Running<Result<Next, Error>> {
        let ending = ending.into();
        self.run(move |session| session.turn_ended(ending))
    }
}

/// The result of a call on another thread.
#[derive(Debug)]
pub struct Running<T> {
    shared: Arc<Mutex<Slot<T>>>,
}

#[derive(Debug)]
struct Slot<T> {
    done: Option<std::thread::Result<T>>,
    waker: Option<Waker>,
}

impl<T> Future for Running<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut slot = lock(&self.shared);
        match slot.done.take() {
            Some(Ok(done)) => Poll::Ready(done),
            Some(Err(panic)) => resume_unwind(panic),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
