//! The thread that works at the desk: jobs one after the other, in the order in which they came. So calls that a
//! client sends without waiting take effect in that order, and a waiting store stops nobody from reading the wire.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::desk::Desk;
use crate::{Log, Problem};

type Job = Box<dyn FnOnce(&dyn Desk) + Send>;

/// Hands jobs to the desk.
#[derive(Clone)]
pub struct DeskThread {
    jobs: Sender<Job>,
    desk: Arc<dyn Desk>,
}

impl DeskThread {
    /// Starts the thread. It ends when the last handle is gone and the last job done.
    pub fn start(desk: Arc<dyn Desk>, log: Log) -> std::io::Result<Self> {
        let (jobs, queue) = channel::<Job>();
        let own = desk.clone();
        thread::Builder::new().name("desk".into()).spawn(move || {
            while let Ok(job) = queue.recv() {
                // A bug in one call must not take the others with it.
                if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job(&*own))).is_err() {
                    log.say("a call ended in a bug; the server goes on");
                }
            }
        })?;
        Ok(Self { jobs, desk })
    }

    /// The desk itself, for other threads.
    pub fn desk(&self) -> &Arc<dyn Desk> {
        &self.desk
    }

    /// Runs a job and waits for its answer. One that is cancelled before its turn is left out.
    pub async fn run<T: Send + 'static>(
        &self,
        cancelled: CancellationToken,
        job: impl FnOnce(&dyn Desk) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (answer, wait) = oneshot::channel();
        let job: Job = Box::new(move |desk| {
            if !cancelled.is_cancelled() {
                let _ = answer.send(job(desk));
            }
        });
        let gone = || Problem::new("cancelled", "the call was given up", "call again if it is still wanted");
        self.jobs.send(job).map_err(|_| gone())?;
        wait.await.unwrap_or_else(|_| Err(gone()))
    }
}
