//! The thread that runs tool calls one after the other, in the order in which they arrived. Calls that a client sends
//! without waiting take effect in that order, and a busy store does not keep the server from reading the connection.
//! Small reads skip the thread while its queue is empty, because handing them over would cost more than they do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::service::ToolService;
use crate::{ServeLog, ServeProblem};

type ServiceJob = Box<dyn FnOnce(&dyn ToolService) + Send>;

/// Queues jobs for the service.
#[derive(Clone)]
pub struct ServiceThread {
    jobs: Sender<ServiceJob>,
    service: Arc<dyn ToolService>,
    /// Jobs that wait or run.
    waiting: Arc<AtomicUsize>,
    log: ServeLog,
}

impl ServiceThread {
    /// Starts the thread. It ends when the last handle is gone and the last job done.
    pub fn start(service: Arc<dyn ToolService>, log: ServeLog) -> std::io::Result<Self> {
        let (jobs, queue) = channel::<ServiceJob>();
        let waiting = Arc::<AtomicUsize>::default();
        let (own, ours, thread_log) = (service.clone(), waiting.clone(), log.clone());
        thread::Builder::new().name("tool calls".into()).spawn(move || {
            while let Ok(job) = queue.recv() {
                // A bug in one call must not affect the others.
                if catch_unwind(AssertUnwindSafe(|| job(&*own))).is_err() {
                    thread_log.say(BUG);
                }
                ours.fetch_sub(1, Ordering::Release);
            }
        })?;
        Ok(Self { jobs, service, waiting, log })
    }

    /// Runs a job at once, on the caller's thread, if nothing waits before it; else hands it back.
    pub fn at_once<T, J: FnOnce(&dyn ToolService) -> Result<T, ServeProblem>>(
        &self,
        job: J,
    ) -> Result<Result<T, ServeProblem>, J> {
        if self.waiting.load(Ordering::Acquire) > 0 {
            return Err(job);
        }
        Ok(catch_unwind(AssertUnwindSafe(|| job(&*self.service))).unwrap_or_else(|_| {
            self.log.say(BUG);
            Err(gone())
        }))
    }

    /// The service itself, for other threads.
    pub fn service(&self) -> &Arc<dyn ToolService> {
        &self.service
    }

    /// Runs a job and waits for its answer. One that is cancelled before its turn is left out.
    pub async fn run<T: Send + 'static>(
        &self,
        cancelled: CancellationToken,
        job: impl FnOnce(&dyn ToolService) -> Result<T, ServeProblem> + Send + 'static,
    ) -> Result<T, ServeProblem> {
        let (answer, wait) = oneshot::channel();
        let job: ServiceJob = Box::new(move |service| {
            if !cancelled.is_cancelled() {
                let _ = answer.send(job(service));
            }
        });
        self.waiting.fetch_add(1, Ordering::AcqRel);
        self.jobs.send(job).map_err(|_| gone())?;
        wait.await.unwrap_or_else(|_| Err(gone()))
    }
}

const BUG: &str = "a bug in punch ended the call; the server continues";

fn gone() -> ServeProblem {
    ServeProblem::new("cancelled", "the call was cancelled", "call the tool again if you still need it")
}
