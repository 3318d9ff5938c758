//! What a surface costs, by bytes: a tokenizer would be larger than the rest of the program.

/// Tokens of a text, estimated: English and JSON come to about four bytes each.
pub fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}
