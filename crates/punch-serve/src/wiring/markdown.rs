//! Our block between two markers in a file that users and models read.

use punch_core::splice::{is_blank, newline};

use super::SettingsFileError;

const BEGIN: &str = "<!-- punch: begin -->";
const END: &str = "<!-- punch: end -->";

/// The text with the block between its markers: where they are, else at the end.
pub fn wire(text: &str, block: &str) -> Result<String, SettingsFileError> {
    let newline = newline(text);
    let block = format!("{BEGIN}\n{}\n{END}", block.trim_end()).replace('\n', newline);
    if let Some((start, end)) = place(text)? {
        return Ok(format!("{}{block}{}", &text[..start], &text[end..]));
    }
    let ended = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    let blank = if is_blank(text) { "" } else { newline };
    Ok(format!("{text}{ended}{blank}{block}{newline}"))
}

/// The text without the block, its line break and the blank line before it.
pub fn unwire(text: &str) -> Result<String, SettingsFileError> {
    let Some((start, end)) = place(text)? else { return Ok(text.to_owned()) };
    let rest = &text[end..];
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
    let before = &text[..start];
    let blank = ["\r\n", "\n"].into_iter().find(|newline| before.ends_with(&format!("\n{newline}")));
    let before = match blank.filter(|_| rest.is_empty() || rest.starts_with(['\n', '\r'])) {
        Some(newline) => &before[..before.len() - newline.len()],
        None => before,
    };
    Ok(format!("{before}{rest}"))
}

/// From the first marker to the end of the second.
fn place(text: &str) -> Result<Option<(usize, usize)>, SettingsFileError> {
    let (begins, ends) = (text.matches(BEGIN).count(), text.matches(END).count());
    let (start, end) = (text.find(BEGIN), text.find(END));
    match (start, end) {
        (None, None) => Ok(None),
        (Some(start), Some(end)) if start < end && begins == 1 && ends == 1 => Ok(Some((start, end + END.len()))),
        _ => {
            let at = start.or(end).unwrap_or_default();
            let what = format!("`{BEGIN}` and `{END}` do not belong together: remove them by hand");
            Err(SettingsFileError::at(text, at, what))
        }
    }
}
