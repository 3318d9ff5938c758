//! As much HTTP as a streaming endpoint on this machine or in this network needs: one POST, the body line by line. For
//! TLS, put any HTTP client in its place.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use super::Problem;

/// For a connection, and between two pieces of an answer.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of a line, and of an error that is shown.
const LINE: u64 = 8 << 20;
const ERROR: u64 = 2_000;

/// The lines of an answer.
pub type Lines = Box<dyn BufRead>;

/// Sends JSON to `http://host[:port]/path`.
pub fn post(url: &str, body: &str) -> Result<Lines, Problem> {
    let rest = url.strip_prefix("http://").ok_or("only http:// is spoken here")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let address = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    let address = address.to_socket_addrs()?.next().ok_or("the host name has no address")?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let length = body.len();
    write!(
        stream,
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Accept: text/event-stream\r\nConnection: close\r\n\r\n{body}"
    )?;
    let mut from = BufReader::new(stream);
    let status = line(&mut from)?.unwrap_or_default();
    let mut chunked = false;
    while let Some(header) = line(&mut from)?.filter(|header| !header.is_empty()) {
        let header = header.to_ascii_lowercase();
        chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
    }
    let mut lines: Lines = if chunked { Box::new(BufReader::new(Chunks { from, left: 0 })) } else { Box::new(from) };
    match status.split(' ').nth(1) {
        Some("200") => Ok(lines),
        _ => {
            let mut said = Vec::new();
            lines.by_ref().take(ERROR).read_to_end(&mut said)?;
            Err(format!("{status}: {}", String::from_utf8_lossy(&said)).into())
        }
    }
}

/// One line without its end; `None` at the end of everything.
pub fn line(from: &mut dyn BufRead) -> Result<Option<String>, Problem> {
    let mut bytes = Vec::new();
    from.take(LINE).read_until(b'\n', &mut bytes)?;
    match bytes.last() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned())),
        Some(_) if bytes.len() as u64 >= LINE => Err("a line of the answer is too long".into()),
        Some(_) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
    }
}

/// A body in pieces, each with its size in front.
struct Chunks<R> {
    from: R,
    left: usize,
}

impl<R: BufRead> Read for Chunks<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let broken = || std::io::Error::from(std::io::ErrorKind::InvalidData);
        if self.left == 0 {
            let mut size = String::new();
            while size.trim().is_empty() {
                size.clear();
                // The end of the piece before it is a line of its own.
                if (&mut self.from).take(1_000).read_line(&mut size)? == 0 {
                    return Ok(0);
                }
            }
            let digits = size.trim().split(';').next().unwrap_or_default();
            self.left = usize::from_str_radix(digits, 16).map_err(|_| broken())?;
            if self.left == 0 {
                return Ok(0);
            }
        }
        let room = into.len().min(self.left);
        let got = self.from.read(&mut into[..room])?;
        self.left -= got;
        Ok(got)
    }
}
