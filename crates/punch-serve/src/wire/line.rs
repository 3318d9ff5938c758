//! Reads lines of bounded length. A longer one is discarded as it arrives, after its id was looked for.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::IdScan;

/// One line of input.
#[derive(Debug, PartialEq)]
pub enum InputLine {
    /// Whole, without its end.
    Whole(Vec<u8>),
    /// Longer than allowed; the id of the request in it, if it could be found.
    TooLong(Option<Value>),
}

/// Lines of a stream. Dropping a pending [`InputLines::next`] loses nothing.
pub struct InputLines<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    /// Set while a line that is too long is being skipped.
    passing: Option<IdScan>,
}

impl<R: AsyncRead + Unpin> InputLines<R> {
    /// Lines of at most `limit` bytes.
    pub fn new(read: R, limit: usize) -> Self {
        Self { read: BufReader::with_capacity(64 * 1024, read), line: Vec::new(), limit, passing: None }
    }

    /// The next line; `None` at the end of the stream. What has no line end there is still a line.
    pub async fn next(&mut self) -> std::io::Result<Option<InputLine>> {
        loop {
            let chunk = self.read.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(self.last());
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            match &mut self.passing {
                Some(scan) => scan.feed(part),
                None if self.line.len() + part.len() > self.limit => {
                    let mut scan = IdScan::default();
                    scan.feed(&self.line);
                    scan.feed(part);
                    self.line = Vec::new();
                    self.passing = Some(scan);
                }
                None => self.line.extend_from_slice(part),
            }
            let used = part.len() + usize::from(end.is_some());
            self.read.consume(used);
            if end.is_some() {
                return Ok(self.last().or(Some(InputLine::Whole(Vec::new()))));
            }
        }
    }

    fn last(&mut self) -> Option<InputLine> {
        if let Some(scan) = self.passing.take() {
            return Some(InputLine::TooLong(scan.id()));
        }
        let mut line = std::mem::take(&mut self.line);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        (!line.is_empty()).then_some(InputLine::Whole(line))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(input: &str, limit: usize) -> Vec<InputLine> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut lines = InputLines::new(input.as_bytes(), limit);
            let mut out = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                out.push(line);
            }
            out
        })
    }

    fn whole(text: &str) -> InputLine {
        InputLine::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_end_at_line_feeds_and_at_the_end() {
        assert_eq!(lines("a\r\nb\n\nc", 10), [whole("a"), whole("b"), whole(""), whole("c")]);
        assert_eq!(lines("", 10), []);
    }

    #[test]
    fn a_line_that_is_too_long_gives_its_id_and_the_next_one_is_read() {
        let long = format!(r#"{{"method":"m","params":{{"id":9,"x":"{}"}},"id":"a-1"}}"#, "y".repeat(200_000));
        let input = format!("{long}\nshort\n{long}");
        let too_long = || InputLine::TooLong(Some(json!("a-1")));
        assert_eq!(lines(&input, 1_000), [too_long(), whole("short"), too_long()]);
    }
}
