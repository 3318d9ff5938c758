//! Somebody wants the run to stop: once, and agents are asked to end; twice, and they are ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How often somebody asked. Shared with whoever hears of signals.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    asked: Arc<AtomicU32>,
}

impl Interrupt {
    /// Asks.
    pub fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// Somebody asked.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed) > 0
    }

    /// Somebody asked again.
    pub fn is_urgent(&self) -> bool {
        self.asked.load(Ordering::Relaxed) > 1
    }

    /// Listens to the signals that ask a process to end, on a thread of its own. Without such a thread they end the
    /// process at once, and its agents with it.
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
