//! A list that someone pastes: one todo per line, with or without the marks of Markdown.

/// The todos with the headings they stand under, and the number of lines that are left out because they are checked off. A
/// plain text is one todo a line.
pub fn read(text: &str) -> (Vec<(Option<String>, String)>, usize) {
    let (mut out, mut phase, mut closed) = (Vec::new(), None, 0);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(heading) = line.strip_prefix('#') {
            let heading = heading.trim_start_matches('#');
            if heading.starts_with(char::is_whitespace) {
                phase = Some(heading.trim().to_owned()).filter(|heading| !heading.is_empty());
                continue;
            }
        }
        let item = unmarked(line);
        match item.get(..3) {
            Some("[x]" | "[X]" | "[-]") => closed += 1,
            Some("[ ]" | "[]" | "[>]" | "[.]" | "[!]" | "[~]") => push(&mut out, phase.as_ref(), &item[3..]),
            _ => push(&mut out, phase.as_ref(), item),
        }
    }
    (out, closed)
}

fn push(out: &mut Vec<(Option<String>, String)>, phase: Option<&String>, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        out.push((phase.cloned(), text.to_owned()));
    }
}

/// The line without the mark of a list: `-`, `*`, `+`, `1.` or `1)`.
fn unmarked(line: &str) -> &str {
    if let Some(rest) = line.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' ')) {
        return rest.trim_start();
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line[digits..].strip_prefix(['.', ')']).filter(|rest| digits > 0 && rest.starts_with(' '));
    rest.map_or(line, str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_and_plain_lines_become_todos() {
        let text =
            "Fix it\n\n# Core\n- [ ] Parse\n  - nested\n- [x] old\n## Docs\n1. Write\n2) Check\n* #12 is open\n#hash\n";
        let (read, closed) = read(text);
        assert_eq!(closed, 1);
        let found: Vec<(&str, &str)> =
            read.iter().map(|(phase, text)| (phase.as_deref().unwrap_or(""), text.as_str())).collect();
        assert_eq!(
            found,
            [
                ("", "Fix it"),
                ("Core", "Parse"),
                ("Core", "nested"),
                ("Docs", "Write"),
                ("Docs", "Check"),
                ("Docs", "#12 is open"),
                ("Docs", "#hash"),
            ]
        );
    }
}
