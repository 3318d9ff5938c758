//! Labels at the end of a line, as `#label`.

use std::collections::BTreeSet;

use crate::Label;

/// The text followed by its labels. Labels that do not begin with a letter are left out: `#12` means something else.
pub(super) fn join(text: &str, labels: &BTreeSet<Label>) -> String {
    let mut out = text.to_owned();
    for label in labels.iter().filter(|label| label.is_hashtag()) {
        out.push_str(&format!(" #{label}"));
    }
    out
}

/// Cuts a line into its text and the labels at its end. A line of nothing but labels is a text.
pub(crate) fn split(line: &str) -> (&str, BTreeSet<Label>) {
    let (mut rest, mut labels) = (line, BTreeSet::new());
    while let Some((before, word)) = rest.trim_end().rsplit_once([' ', '\t']) {
        let label = word.strip_prefix('#').and_then(|word| Label::parse(word).ok()).filter(Label::is_hashtag);
        match label.filter(|_| labels.len() < Label::MOST && !before.trim().is_empty()) {
            Some(label) => drop(labels.insert(label)),
            None => break,
        }
        rest = before;
    }
    if labels.is_empty() { (line, labels) } else { (rest.trim_end(), labels) }
}
