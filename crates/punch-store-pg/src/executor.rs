//! Runs requests to completion. The trait is synchronous; the client library is not. One single-threaded runtime per
//! store handle drives all of its connections, on whichever thread waits.

use std::future::Future;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

/// The runtime of a store handle. There is none only while it is being dropped.
pub struct Executor(Option<Runtime>);

impl Executor {
    pub fn new() -> std::io::Result<Self> {
        Builder::new_current_thread().enable_io().enable_time().build().map(|runtime| Self(Some(runtime)))
    }

    #[expect(clippy::expect_used, reason = "nothing can be called on a value that is being dropped")]
    fn runtime(&self) -> &Runtime {
        self.0.as_ref().expect("the runtime lives as long as its executor")
    }

    /// Waits for a future. A caller inside another runtime must not block its thread in this way, so a thread of its own waits
    /// for it.
    pub fn block_on<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        if Handle::try_current().is_err() {
            return self.runtime().block_on(future);
        }
        let waited = std::thread::scope(|scope| scope.spawn(|| self.runtime().block_on(future)).join());
        waited.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Starts a task that runs whenever a thread waits for anything.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.runtime().spawn(future)
    }
}

impl Drop for Executor {
    /// A runtime that waits for its threads must not be dropped inside another one. This one has no threads to wait for.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
