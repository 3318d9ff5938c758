//! One line of the sheet.

use std::collections::BTreeSet;

use crate::text::{self, nearest, neutral};
use crate::{Label, Record, Status};

/// The content of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SheetLine {
    pub(super) id: Option<String>,
    pub(super) mark: char,
    pub(super) text: String,
    pub(super) priority: Option<u8>,
    pub(super) tokens: Option<u64>,
    pub(super) labels: BTreeSet<Label>,
    pub(super) needs: Vec<String>,
}

/// The mark between the brackets.
pub(super) const fn mark(status: Status) -> char {
    match status {
        Status::Pending => ' ',
        Status::InProgress => '>',
        Status::Completed => 'x',
        Status::Cancelled => '-',
        Status::Failed => '!',
    }
}

pub(super) const fn status(mark: char) -> Status {
    match mark {
        '>' => Status::InProgress,
        'x' | 'X' => Status::Completed,
        '-' => Status::Cancelled,
        '!' => Status::Failed,
        _ => Status::Pending,
    }
}

/// Returns true if a line can hold the id: dialects take ids of any text.
pub(super) fn can_show(id: &str) -> bool {
    !id.trim().is_empty() && !id.contains(|c: char| matches!(c, '`' | '"') || c.is_control()) && id.trim() == id
}

/// An id with blanks or commas stands between backticks.
fn shown_id(id: &str) -> String {
    let plain = !id.contains(|c: char| c.is_whitespace() || c == ',');
    if plain { id.to_owned() } else { format!("`{id}`") }
}

/// The first word, or what stands between backticks, and what follows.
fn first_id(rest: &str) -> (&str, &str) {
    if let Some((id, after)) = rest.strip_prefix('`').and_then(|inner| inner.split_once('`')) {
        return (id, after.trim_start());
    }
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    (&rest[..end], rest[end..].trim_start())
}

/// The text on one line.
pub(super) fn shown_text(content: &str) -> String {
    let words: Vec<&str> = content.split_whitespace().collect();
    neutral(&words.join(" ")).into_owned()
}

/// Tokens as the line shows them.
pub(super) fn shown_tokens(tokens: Option<u64>) -> String {
    match tokens {
        None => String::new(),
        Some(tokens) if tokens % 1_000 == 0 && tokens > 0 => format!("~{}k", tokens / 1_000),
        Some(tokens) => format!("~{tokens}"),
    }
}

pub(super) fn write(record: &Record, widest: usize) -> String {
    let mut more: Vec<String> = Vec::new();
    more.extend(record.priority.filter(|priority| *priority != 3).map(|priority| format!("p{priority}")));
    more.extend(Some(shown_tokens(record.estimated_tokens)).filter(|tokens| !tokens.is_empty()));
    more.extend(record.labels.iter().map(|label| format!("#{}", label.as_str())));
    let needs: Vec<String> = record.depends_on.iter().filter(|id| can_show(id)).map(|id| shown_id(id)).collect();
    if !needs.is_empty() {
        more.push(format!("needs: {}", needs.join(", ")));
    }
    let text = shown_text(&record.content);
    // A text whose end would be read as something else stands in quotes.
    let is_read = read_rest(&text, &|_| true).is_ok_and(|rest| rest.text == text);
    // After a text in quotes, everything that begins with `#` is a label.
    let is_tagged = record.labels.iter().all(Label::is_hashtag);
    let plain = is_read && is_tagged && !text.is_empty() && !text.starts_with('"');
    let text = if plain { text } else { format!("\"{text}\"") };
    let gap = if more.is_empty() { "" } else { "  " };
    let id = shown_id(record.id.as_deref().unwrap_or_default());
    format!("- [{}] {id:widest$}  {text}{gap}{}", mark(record.status.stored()), more.join(" "))
}

/// Reads a line. `is_shown` knows the ids that lines begin with, `is_known` those that a todo may need.
pub(super) fn read_item(
    line: &str,
    is_shown: &dyn Fn(&str) -> bool,
    is_known: &dyn Fn(&str) -> bool,
) -> Result<SheetLine, String> {
    let body = line.strip_prefix(['-', '*', '+']).map(str::trim_start).filter(|body| body.starts_with('['));
    let Some(body) = body else { return Err("not a todo: write `- [ ] text`, or `# name` for a phase".to_owned()) };
    let mut marks = body[1..].chars();
    let (Some(mark), Some(']')) = (marks.next(), marks.next()) else {
        return Err("the mark must be `[ ]`, `[>]`, `[x]`, `[-]` or `[!]`".to_owned());
    };
    if !matches!(mark, ' ' | '>' | 'x' | 'X' | '-' | '!') {
        return Err(format!("unknown mark `[{mark}]`: use `[ ]`, `[>]`, `[x]`, `[-]` or `[!]`"));
    }
    let rest = marks.as_str().trim();
    let (first, after) = first_id(rest);
    let (id, rest) = if is_shown(first) { (Some(first.to_owned()), after) } else { (None, rest) };
    let mut item = read_rest(rest, is_known)?;
    if item.text.is_empty() && !rest.starts_with('"') {
        return Err("the text is missing".to_owned());
    }
    item.id = id;
    item.mark = if mark == 'X' { 'x' } else { mark };
    Ok(item)
}

/// What a line begins with where lines have their ids.
pub(super) struct LineStart<'a> {
    pub(super) id: &'a str,
    /// Blanks between it and what follows.
    gap: usize,
}

impl<'a> LineStart<'a> {
    /// The beginning of a line that [`read_item`] understands; `None` if it begins with a text in quotes.
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let rest = line.split_once(']')?.1.trim();
        if rest.starts_with('"') {
            return None;
        }
        let (id, after) = first_id(rest);
        let quotes = if rest.starts_with('`') { 2 } else { 0 };
        Some(Self { id, gap: rest.len().saturating_sub(after.len() + id.len() + quotes) })
    }

    /// Returns true if it stands apart from the text as ids do, or is like an id that Punchlist makes.
    pub(super) fn has_form_of_id(&self) -> bool {
        let number = self.id.strip_prefix(['T', 't']).and_then(|rest| rest.strip_prefix('-'));
        self.gap > 1 || number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// A field after the text, set apart by two blanks, whose name is nearly `needs`.
fn misspelt(rest: &str) -> Option<String> {
    let (_, tail) = rest.rsplit_once("  ")?;
    let (key, _) = tail.trim_start().split_once(':')?;
    let near = nearest(key, ["needs"].into_iter(), 1);
    (key != "needs" && !key.contains(' ') && !near.is_empty()).then(|| neutral(key).into_owned())
}

/// The text, then `p1`, `~20k` and `#label` in any order, then `needs:`.
fn read_rest(rest: &str, is_known: &dyn Fn(&str) -> bool) -> Result<SheetLine, String> {
    let (mut priority, mut tokens, mut labels) = (None, None, BTreeSet::new());
    let quoted =
        rest.strip_prefix('"').and_then(|inner| inner.rfind('"').map(|end| (&inner[..end], &inner[end + 1..])));
    let (quoted_text, mut rest) = quoted.map_or((None, rest), |(text, rest)| (Some(text), rest.trim()));
    let mut needs = Vec::new();
    if let Some(at) = rest.rfind("needs:").filter(|at| *at == 0 || rest[..*at].ends_with(' ')) {
        for id in listed(&rest[at + "needs:".len()..]) {
            if !is_known(&id) {
                return Err(format!("needs: no todo `{}`", neutral(&id)));
            }
            needs.push(id);
        }
        rest = rest[..at].trim_end();
    }
    if let Some(key) = misspelt(rest) {
        return Err(format!("unknown field `{key}:` (did you mean `needs:`?)"));
    }
    loop {
        let word = rest.rsplit(' ').next().unwrap_or_default();
        let is_first = word.len() == rest.len();
        if word.is_empty() || (is_first && quoted_text.is_none()) {
            break;
        }
        if let Some(given) = word.strip_prefix('p').and_then(|n| n.parse().ok()).filter(|p| (1..=5).contains(p)) {
            priority = priority.or(Some(given));
        } else if let Some(given) = word.strip_prefix('~').and_then(text::tokens) {
            tokens = tokens.or(Some(given));
        } else if let Some(label) = word
            .strip_prefix('#')
            .and_then(|label| Label::parse(label).ok())
            .filter(|label| quoted_text.is_some() || label.is_hashtag())
        {
            labels.insert(label);
        } else {
            break;
        }
        rest = rest[..rest.len() - word.len()].trim_end();
    }
    let text = match quoted_text {
        Some(_) if !rest.is_empty() => return Err(format!("not understood after the text: `{}`", neutral(rest))),
        Some(text) => text,
        None => rest,
    };
    Ok(SheetLine { id: None, mark: ' ', text: text.to_owned(), priority, tokens, labels, needs })
}

/// Ids between commas; what stands between backticks is one id.
fn listed(given: &str) -> Vec<String> {
    let (mut out, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in given.chars() {
        match c {
            '`' => quoted = !quoted,
            ',' if !quoted => out.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    out.push(word);
    out.into_iter().map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect()
}
