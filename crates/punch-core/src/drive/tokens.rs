//! Tokens of a text, estimated on the high side: a tokenizer would be larger than the rest of the program.

/// Letters of a word that share tokens well; longer runs are hashes and the like.
const WORD: usize = 12;

/// Tokens that a text costs a model. Ordinary text comes to a quarter of its bytes; what tokenizers know badly
/// (punctuation, long runs, rare scripts) counts for more, so that a limit holds for hostile text too.
pub fn estimate(text: &str) -> usize {
    let (mut quarters, mut run) = (0, 0);
    for c in text.chars() {
        run = if c.is_ascii_alphanumeric() { run + 1 } else { 0 };
        quarters += match c {
            'a'..='z' if run <= WORD => 1,
            'A'..='Z' if run <= WORD => {
                if run == 1 {
                    1
                } else {
                    3
                }
            }
            ' ' => 1,
            c if c.is_ascii() => 4,
            c => 4 * c.len_utf8(),
        };
    }
    quarters.div_ceil(4)
}

/// The most tokens that a text costs a model: a limit that holds for hostile text too, such as words that no tokenizer
/// knows. Ordinary text comes to about three times its tokens.
pub fn most_tokens(text: &str) -> usize {
    let sixths: usize = text
        .chars()
        .map(|c| match c {
            ' ' => 3,
            'a'..='z' => 4,
            c if c.is_ascii() => 6,
            c => 6 * c.len_utf8(),
        })
        .sum();
    sixths.div_ceil(6)
}

#[cfg(test)]
mod tests {
    use super::estimate;

    #[test]
    fn ordinary_text_is_a_quarter_and_the_rest_is_dear() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("write the parser"), 4);
        assert_eq!(estimate("}}}}"), 4);
        assert_eq!(estimate("日本"), 6);
        assert!(estimate(&"a".repeat(100)) > 80);
    }
}
