//! Checks that a call waits for, each on a thread of its own, so that other calls continue.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::ServeProblem;
use crate::service::{CheckResult, ToolRequest, ToolService};

/// All checks of one call together: less than clients wait for an answer, most of them a minute.
pub const LIMIT: Duration = Duration::from_secs(50);

/// Runs the check of a todo. The check ends when its time is over or the client no longer waits.
pub async fn make(
    service: &Arc<dyn ToolService>,
    request: &Arc<ToolRequest>,
    id: &str,
    until: Instant,
    cancelled: &CancellationToken,
) -> Result<CheckResult, ServeProblem> {
    let (answer, wait) = oneshot::channel();
    let (service, request, id, cancelled) = (service.clone(), request.clone(), id.to_owned(), cancelled.clone());
    let check = move || {
        let limit = until.saturating_duration_since(Instant::now());
        let stopped = || cancelled.is_cancelled();
        let _ = answer.send(service.check(&request, &id, limit, &stopped));
    };
    let failed = |why: String| ServeProblem::new("verify_not_started", why, "call again");
    thread::Builder::new()
        .name("checks".into())
        .spawn(check)
        .map_err(|cause| failed(format!("no thread for the check: {cause}")))?;
    wait.await.unwrap_or_else(|_| Err(failed("a bug in punch ended the check".into())))
}
