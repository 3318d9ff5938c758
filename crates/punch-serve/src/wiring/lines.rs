//! A block of lines in a file with `#` comments, such as `.git/info/exclude`. Several projects' files share the block,
//! so lines are added and removed one by one.

use punch_core::splice::newline;

use super::SettingsFileError;

const BEGIN: &str = "# punch: begin";
const END: &str = "# punch: end";

/// Adds lines to the block; lines that are in it already stay where they are.
pub fn wire(text: &str, lines: &[String]) -> Result<String, SettingsFileError> {
    let newline = newline(text);
    let missing = |have: &[&str]| -> String {
        lines.iter().filter(|line| !have.contains(&line.as_str())).map(|line| format!("{line}{newline}")).collect()
    };
    match block(text)? {
        Some((start, end)) => {
            let have: Vec<&str> = text[start..end].lines().collect();
            Ok(format!("{}{}{}", &text[..end], missing(&have), &text[end..]))
        }
        None if lines.is_empty() => Ok(text.to_owned()),
        None => {
            let ended = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
            Ok(format!("{text}{ended}{BEGIN}{newline}{}{END}{newline}", missing(&[])))
        }
    }
}

/// Removes lines from the block, and the block once it is empty.
pub fn unwire(text: &str, lines: &[String]) -> Result<String, SettingsFileError> {
    let Some((start, end)) = block(text)? else { return Ok(text.to_owned()) };
    let stays = |line: &&str| !lines.iter().any(|gone| gone == line.trim_end_matches(['\r', '\n']));
    let left: String = text[start..end].split_inclusive('\n').filter(stays).collect();
    if !left.trim().is_empty() {
        return Ok(format!("{}{left}{}", &text[..start], &text[end..]));
    }
    let top = text[..start].trim_end_matches(['\r', '\n']).rfind('\n').map_or(0, |newline| newline + 1);
    let bottom = text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
    Ok(format!("{}{}", &text[..top], &text[bottom..]))
}

/// The lines in the block.
pub fn listed(text: &str) -> Vec<String> {
    match block(text) {
        Ok(Some((start, end))) => text[start..end].lines().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// What is outside the block.
pub fn foreign(text: &str) -> Result<String, SettingsFileError> {
    let without = unwire(text, &listed(text))?;
    Ok(without.trim_end().to_owned())
}

/// From the line after the first marker to the line of the second.
fn block(text: &str) -> Result<Option<(usize, usize)>, SettingsFileError> {
    let (mut at, mut begins, mut ends) = (0, Vec::new(), Vec::new());
    for line in text.split_inclusive('\n') {
        match line.trim_end() {
            BEGIN => begins.push(at + line.len()),
            END => ends.push(at),
            _ => {}
        }
        at += line.len();
    }
    match (begins.as_slice(), ends.as_slice()) {
        ([], []) => Ok(None),
        ([start], [end]) if start <= end => Ok(Some((*start, *end))),
        _ => {
            let at = begins.first().or(ends.first()).copied().unwrap_or_default();
            Err(SettingsFileError::at(text, at, format!("`{BEGIN}` and `{END}` do not match: remove them by hand")))
        }
    }
}
