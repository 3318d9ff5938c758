//! A client for JSON over HTTP on this machine.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::Value;

/// Posts a document; the answer as a document.
pub fn post(address: &str, path: &str, body: &Value, end: Instant) -> Result<Value, String> {
    ask(address, "POST", path, &body.to_string(), end)
}

/// Gets a document.
pub fn get(address: &str, path: &str, end: Instant) -> Result<Value, String> {
    ask(address, "GET", path, "", end)
}

fn ask(address: &str, method: &str, path: &str, body: &str, end: Instant) -> Result<Value, String> {
    let fail = |cause: std::io::Error| format!("{method} {path}: {cause}");
    let mut stream = TcpStream::connect(address).map_err(fail)?;
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(format!("{method} {path}: no time left"));
    }
    stream.set_read_timeout(Some(left)).map_err(fail)?;
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    let kind = format!("content-type: application/json\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all((head + &kind + body).as_bytes()).map_err(fail)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map_err(fail)?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| format!("{method} {path}: no answer"))?;
    let body =
        if head.to_ascii_lowercase().contains("transfer-encoding: chunked") { joined(body) } else { body.to_owned() };
    if !head.starts_with("HTTP/1.1 2") {
        let status = head.lines().next().unwrap_or_default();
        return Err(format!("{method} {path}: {status}: {body}"));
    }
    if body.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(&body).map_err(|cause| format!("{method} {path}: {cause}: {body}"))
}

/// The chunks of a body, put together. Sizes count bytes of the original; a lossy reading keeps them for valid text.
fn joined(body: &str) -> String {
    let mut out = Vec::new();
    let mut rest = body.as_bytes();
    while let Some(at) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let size = String::from_utf8_lossy(&rest[..at]).into_owned();
        let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16).unwrap_or_default();
        let Some(chunk) = rest.get(at + 2..at + 2 + size).filter(|_| size > 0) else { break };
        out.extend_from_slice(chunk);
        rest = rest.get(at + 2 + size + 2..).unwrap_or_default();
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_put_together() {
        assert_eq!(joined("3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n"), "abcde");
        assert_eq!(joined("zz\r\nabc"), "");
    }
}
