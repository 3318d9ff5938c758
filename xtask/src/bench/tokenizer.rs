//! Counts tokens the way current models do, so that prices do not depend on an estimate.

/// Tokens as o200k counts them.
pub fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}
