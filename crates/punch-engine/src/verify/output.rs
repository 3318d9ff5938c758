//! The output of a check: all of it goes into a hash, and the end of it is kept. Memory does not grow with the output.

use std::collections::VecDeque;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::TAIL;

/// Output so far.
#[derive(Default)]
pub(super) struct CheckOutput {
    hash: Sha256,
    tail: VecDeque<u8>,
    total: u64,
}

impl CheckOutput {
    /// Takes what came.
    pub fn take(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.total += bytes.len() as u64;
        let kept = &bytes[bytes.len().saturating_sub(TAIL)..];
        let excess = (self.tail.len() + kept.len()).saturating_sub(TAIL);
        self.tail.drain(..excess);
        self.tail.extend(kept);
    }

    /// The end as text, at most [`TAIL`] bytes.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self.tail.iter().copied().collect();
        // The cut may have gone through a character.
        let cut = self.total > bytes.len() as u64;
        let skip = if cut { bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count() } else { 0 };
        let mut text = String::from_utf8_lossy(&bytes[skip..]).into_owned();
        // Bytes that are not text grow when they are replaced.
        if text.len() > TAIL {
            let from = (text.len() - TAIL..text.len()).find(|at| text.is_char_boundary(*at));
            text.drain(..from.unwrap_or_default());
        }
        text
    }

    /// The hash of everything.
    pub fn hash(&self) -> String {
        format!("sha256:{}", hex(&self.hash.clone().finalize()))
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_hash_of_nothing_is_the_published_one() {
        let nothing = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(CheckOutput::default().hash(), nothing);
    }

    #[test]
    fn a_cut_through_a_character_leaves_no_half_of_it() {
        let mut output = CheckOutput::default();
        output.take("ä".repeat(TAIL).as_bytes());
        output.take(b"x");
        assert!(output.text().chars().all(|c| c == 'ä' || c == 'x'));
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter_and_the_end_is_kept(chunks in prop::collection::vec(prop::collection::vec(0_u8..128, 0..6_000), 0..8)) {
            let all: Vec<u8> = chunks.concat();
            let mut output = CheckOutput::default();
            chunks.iter().for_each(|chunk| output.take(chunk));
            let mut whole = CheckOutput::default();
            whole.take(&all);
            prop_assert_eq!(output.hash(), whole.hash());
            prop_assert_eq!(output.text().into_bytes(), all[all.len().saturating_sub(TAIL)..].to_vec());
        }

        #[test]
        fn whatever_is_printed_the_text_is_within_its_limit(bytes in prop::collection::vec(any::<u8>(), 0..20_000)) {
            let mut output = CheckOutput::default();
            output.take(&bytes);
            prop_assert!(output.text().len() <= TAIL);
        }
    }
}
