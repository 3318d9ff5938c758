//! `punch help CODE`: what an error code means and what to do about it, from `docs/errors.md`.

/// The page, so that the program explains its codes without a network or a checkout.
const PAGE: &str = include_str!("../errors.md");

/// Returns the entry of a code as plain text, or `None` if the page has none.
pub fn entry(code: &str) -> Option<String> {
    let code = code.to_lowercase().replace('-', "_");
    let (_, rest) = PAGE.split_once(&format!("\n### `{code}`\n"))?;
    let own = rest.split("\n#").next().unwrap_or_default();
    let paragraphs = own.split("\n\n").map(|paragraph| plain(&paragraph.replace('\n', " ")));
    let paragraphs: Vec<String> = paragraphs.filter(|paragraph| !paragraph.is_empty()).collect();
    Some(format!("{code}\n{}", paragraphs.join("\n")))
}

/// A paragraph without marks for bold text, and links as their texts.
fn plain(paragraph: &str) -> String {
    let mut out = String::new();
    let mut rest = paragraph.trim();
    while let Some((before, link)) = rest.split_once('[') {
        let Some((title, after)) =
            link.split_once("](").and_then(|(title, after)| Some((title, after.split_once(')')?.1)))
        else {
            break;
        };
        out.push_str(before);
        out.push_str(title);
        rest = after;
    }
    out.push_str(rest);
    out.replace("**Cause.**", "Cause:").replace("**What to do.**", "What to do:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_plain_text_with_a_cause_and_a_way_out() {
        let text = entry("transition").unwrap_or_default();
        assert!(text.starts_with("transition\nCause: ") && text.contains("\nWhat to do: "), "{text}");
        assert!(!text.contains("**") && !text.contains("]("), "{text}");
        assert_eq!(entry("no_such_code"), None);
        assert_eq!(entry("Transition"), entry("transition"), "any case");
        assert_eq!(entry("NOT-READY"), entry("not_ready"));
    }
}
