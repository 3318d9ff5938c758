//! Runs requests to their end. The trait is synchronous; the client library is not. One single-threaded runtime per store handle
//! drives all of its connections, on whichever thread waits.

use std::future::Future;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

/// The runtime of a store handle.
pub struct Executor(Runtime);

impl Executor {
    pub fn new() -> std::io::Result<Self> {
        Builder::new_current_thread().enable_io().enable_time().build().map(Self)
    }

    /// Waits for a future. A caller inside another runtime must not block its thread in this way, so a thread of its own waits
    /// for it.
    pub fn block_on<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        if Handle::try_current().is_err() {
            return self.0.block_on(future);
        }
        let waited = std::thread::scope(|scope| scope.spawn(|| self.0.block_on(future)).join());
        waited.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Starts a task that runs whenever a thread waits for anything.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.0.spawn(future)
    }
}
