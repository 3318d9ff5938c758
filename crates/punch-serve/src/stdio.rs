//! One client on standard input and output.

use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;

use crate::wire::LineTransport;
use crate::{ServeLog, Server};

/// Serves until the client closes its side. What it still waits for is answered first.
pub fn stdio(server: Server, limit: usize, log: &ServeLog) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build()?;
    let end = runtime.block_on(async {
        let (read, write) = stdio_pipes();
        let wire = LineTransport::new(read, write, limit, log.clone());
        match rmcp::serve_server(server, wire).await {
            Ok(running) => {
                let _ = running.waiting().await;
                Ok(())
            }
            // The client left before it began.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => {
                log.say(&format!("the session could not begin: {error}"));
                Ok(())
            }
        }
    });
    // A read of standard input that still hangs must not keep the process alive.
    runtime.shutdown_background();
    end
}
