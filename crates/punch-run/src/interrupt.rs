//! Requests to stop a run: after the first one agents are asked to end, after the second one they are killed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts the requests to stop. Clones share the count, so a signal handler can hold one.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    asked: Arc<AtomicU32>,
    /// Requests that count for this one too, except for the first few.
    above: Option<(Arc<AtomicU32>, u32)>,
}

impl Interrupt {
    /// Requests the run to stop.
    pub fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns a new source of requests that also includes the requests of this one after the first `ignored`.
    #[must_use]
    pub fn below(&self, ignored: u32) -> Self {
        Self { asked: Arc::default(), above: Some((Arc::clone(&self.asked), ignored)) }
    }

    /// Returns true after the first request.
    pub fn is_asked(&self) -> bool {
        self.count() > 0
    }

    /// Returns true after the second request.
    pub fn is_urgent(&self) -> bool {
        self.count() > 1
    }

    fn count(&self) -> u32 {
        let above =
            self.above.as_ref().map_or(0, |(asked, ignored)| asked.load(Ordering::Relaxed).saturating_sub(*ignored));
        self.asked.load(Ordering::Relaxed).saturating_add(above)
    }

    /// Turns the signals that ask a process to exit into requests, on a separate thread. If the thread cannot be
    /// started, signals end the process at once, and its agents with it.
    pub fn listen(&self) -> std::io::Result<()> {
        let interrupt = self.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("signals".into()).spawn(move || runtime.block_on(signals(&interrupt)))?;
        Ok(())
    }
}

#[cfg(unix)]
async fn signals(interrupt: &Interrupt) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut int), Ok(mut term), Ok(mut hup)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return;
    };
    loop {
        tokio::select! {
            _ = int.recv() => {}
            _ = term.recv() => {}
            _ = hup.recv() => {}
        }
        interrupt.ask();
    }
}

#[cfg(not(unix))]
async fn signals(interrupt: &Interrupt) {
    while tokio::signal::ctrl_c().await.is_ok() {
        interrupt.ask();
    }
}
