//! A log of what a process prints that stays small: only the newest part is kept.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use punch_store::update_own;

/// Stands at the beginning of a log that was cut.
const CUT: &[u8] = b"[older output was left out]\n";

/// A log of bounded size.
#[derive(Debug)]
pub struct BoundedLog {
    file: File,
    limit: u64,
    size: u64,
}

impl BoundedLog {
    /// Opens or makes the file, which only its owner may read. What is there already stays, within the limit.
    pub fn open(path: &Path, limit: u64) -> io::Result<Self> {
        let mut file = update_own(path)?;
        let size = file.seek(SeekFrom::End(0))?;
        Ok(Self { file, limit: limit.max(64), size })
    }

    /// Takes what was printed. Past the limit the older half goes, at a line end where there is one.
    pub fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        let most = usize::try_from(self.limit / 2).unwrap_or(usize::MAX);
        let bytes = &bytes[bytes.len().saturating_sub(most)..];
        if self.size + bytes.len() as u64 > self.limit {
            self.halve(most - CUT.len())?;
        }
        self.file.write_all(bytes)?;
        self.size += bytes.len() as u64;
        Ok(())
    }

    fn halve(&mut self, keep: usize) -> io::Result<()> {
        let keep = (keep as u64).min(self.size);
        self.file.seek(SeekFrom::Start(self.size - keep))?;
        let mut newest = Vec::new();
        (&mut self.file).take(keep).read_to_end(&mut newest)?;
        let from = newest.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let out = [CUT, &newest[from..]].concat();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&out)?;
        self.size = out.len() as u64;
        self.file.set_len(self.size)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_never_grows_beyond_its_limit_and_keeps_the_newest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut log = BoundedLog::open(&path, 1_000).unwrap();
        for n in 0..2_000 {
            log.take(format!("line {n}\n").as_bytes()).unwrap();
            assert!(path.metadata().unwrap().len() <= 1_000);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("[older output was left out]\nline "), "{text}");
        assert!(text.ends_with("line 1999\n"));
    }

    #[test]
    fn one_piece_larger_than_the_limit_is_cut_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut log = BoundedLog::open(&path, 100).unwrap();
        log.take(&[b'x'; 10_000]).unwrap();
        log.take(b"end").unwrap();
        assert_eq!(path.metadata().unwrap().len(), 53);
        log.take(&[b'y'; 50]).unwrap();
        assert!(path.metadata().unwrap().len() <= 100);
    }

    #[test]
    fn what_was_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        BoundedLog::open(&path, 100).unwrap().take(b"one\n").unwrap();
        BoundedLog::open(&path, 100).unwrap().take(b"two\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    }
}
