//! Frames of the MCP server: every line that asks gets one answer, or becomes a message, and none ends the connection.

use punch_serve::ServeLog;
use punch_serve::wire::LineTransport;
use rmcp::transport::Transport;

/// Messages may be this long here.
const LIMIT: usize = 512;

/// Reads all lines; what the wire answered by itself is JSON, a line each.
pub fn mcp(bytes: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let answers = runtime.block_on(async {
        let (near, mut far) = tokio::io::duplex(1 << 20);
        let mut wire = LineTransport::new(bytes, near, LIMIT, ServeLog::new(Box::new(std::io::sink())));
        let mut messages = 0_usize;
        // Requests that nobody answers fill the table of open ones: the lines of an input are fewer.
        while messages < 256 && wire.receive().await.is_some() {
            messages += 1;
        }
        let _ = wire.close().await;
        drop(wire);
        let mut answers = Vec::new();
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut far, &mut answers).await;
        answers
    });
    for line in answers.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let answer: serde_json::Value = serde_json::from_slice(line).expect("an answer is JSON");
        assert!(answer.get("error").is_some() && answer["jsonrpc"] == "2.0", "{answer}");
    }
}
