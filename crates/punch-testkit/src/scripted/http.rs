//! As much of HTTP/1.1 as clients of model interfaces use, blocking: one request after the other on a connection,
//! bodies with a length or in chunks, both limited.

use std::io::{self, BufRead, Read, Write};

/// Longer lines end the connection.
const MOST_LINE: u64 = 64 << 10;
/// More header lines end the connection.
const MOST_HEADERS: usize = 200;
/// Longer bodies end the connection.
const MOST_BODY: u64 = 64 << 20;

/// A request, read to its end.
pub struct HttpRequest {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub body: Vec<u8>,
    /// The client wants the connection to stay.
    pub stays: bool,
}

/// The next request on a connection; none when the client has left.
pub fn read(from: &mut impl BufRead) -> io::Result<Option<HttpRequest>> {
    let first = line(from)?;
    let mut words = first.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let (mut length, mut chunked, mut stays) = (0, false, words.next() != Some("HTTP/1.0"));
    for n in 0.. {
        if n > MOST_HEADERS {
            return Err(broken("too many header lines"));
        }
        let header = line(from)?;
        if header.is_empty() {
            break;
        }
        let Some((name, value)) = header.split_once(':') else { return Err(broken("a header without a colon")) };
        let value = value.trim().to_ascii_lowercase();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().map_err(|_| broken("a length that is no number"))?,
            "transfer-encoding" => chunked = value.contains("chunked"),
            "connection" => stays = stays && !value.contains("close"),
            _ => {}
        }
    }
    let body = if chunked { chunks(from)? } else { exactly(from, length)? };
    Ok(Some(HttpRequest { method: method.to_owned(), path, body, stays }))
}

/// Answers with one JSON document.
pub fn send(to: &mut impl Write, status: u16, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\n", reason(status));
    to.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes())?;
    to.flush()
}

/// Begins an answer that ends with the connection.
pub fn begin_stream(to: &mut impl Write) -> io::Result<()> {
    to.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut out = Vec::new();
    from.by_ref().take(MOST_LINE).read_until(b'\n', &mut out)?;
    if u64::try_from(out.len()).is_ok_and(|length| length >= MOST_LINE) {
        return Err(broken("a line without an end"));
    }
    let text = String::from_utf8(out).map_err(|_| broken("a line that is no text"))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn exactly(from: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    if length > MOST_BODY {
        return Err(broken("a body beyond the limit"));
    }
    let mut out = Vec::new();
    from.take(length).read_to_end(&mut out)?;
    if u64::try_from(out.len()) == Ok(length) { Ok(out) } else { Err(broken("a body that ends early")) }
}

fn chunks(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    loop {
        let size = line(from)?;
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| broken("a chunk without a size"))?;
        if size == 0 {
            while !line(from)?.is_empty() {}
            return Ok(out);
        }
        let room = MOST_BODY - u64::try_from(out.len()).unwrap_or(MOST_BODY).min(MOST_BODY);
        if size > room {
            return Err(broken("a body beyond the limit"));
        }
        out.extend(exactly(from, size)?);
        line(from)?;
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        429 => "Too Many Requests",
        529 => "Overloaded",
        _ => "Answer",
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
