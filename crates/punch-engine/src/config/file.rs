//! Reading a configuration file into dotted names with values and lines.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{ErrorKind, Read},
    path::Path,
};

use toml_edit::{Document, Item, TableLike};

use super::{ConfigError, SettingOrigin, check::check, key, scalar::WrittenValue};
use punch_store::platform;

/// Bytes that a file may have: far more than all settings need.
const MAX_BYTES: u64 = 256 * 1024;

/// Parts that the longest name has.
const MAX_DEPTH: usize = 4;

/// A value with its line number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileValue {
    pub scalar: WrittenValue,
    pub line: usize,
}

/// The settings of a file by name; none if there is no file. Everything in it is known and well-formed.
pub(super) fn load(path: &Path) -> Result<BTreeMap<String, FileValue>, ConfigError> {
    match read(path)? {
        Some(text) => checked(path, &text),
        None => Ok(BTreeMap::new()),
    }
}

/// The settings in a text, all known and well-formed; `path` is for messages.
pub(super) fn checked(path: &Path, text: &str) -> Result<BTreeMap<String, FileValue>, ConfigError> {
    let entries = parse(path, text)?;
    let mut in_order: Vec<(&String, &FileValue)> = entries.iter().collect();
    in_order.sort_by_key(|(_, entry)| entry.line);
    for (name, entry) in in_order {
        check(name, &entry.scalar, || SettingOrigin::File { path: path.to_owned(), line: entry.line })?;
    }
    Ok(entries)
}

/// The text of a file; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let unreadable = |cause: String| ConfigError::Unreadable { path: path.to_owned(), cause };
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            // A link that leads nowhere was meant to lead somewhere.
            return if path.is_symlink() { Err(unreadable("the link leads nowhere".into())) } else { Ok(None) };
        }
        Err(error) => return Err(unreadable(error.to_string())),
    };
    if found.is_dir() {
        return Err(unreadable("it is a folder".into()));
    }
    if platform::has_two_ends(found.file_type()) {
        return Err(unreadable("it is not a regular file".into()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unreadable(format!("it has more than {MAX_BYTES} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        ConfigError::NotUtf8 { place: SettingOrigin::File { path: path.to_owned(), line: line_of(good, good.len()) } }
    })
}

/// Every value of a text by dotted name, known or not.
pub(super) fn parse(path: &Path, text: &str) -> Result<BTreeMap<String, FileValue>, ConfigError> {
    let document = document(path, text)?;
    let mut out = BTreeMap::new();
    collect(document.as_table(), "", 1, text, &mut out);
    Ok(out)
}

/// The text as TOML with the places of its parts.
pub(super) fn document<'t>(path: &Path, text: &'t str) -> Result<Document<&'t str>, ConfigError> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let place = SettingOrigin::File { path: path.to_owned(), line: line_of(text.as_bytes(), at) };
        ConfigError::Syntax { place, what: error.message().to_owned() }
    })
}

/// Goes no deeper than names do: below that everything is unknown, and depth is the file's choice.
fn collect(table: &dyn TableLike, above: &str, depth: usize, text: &str, out: &mut BTreeMap<String, FileValue>) {
    for (part, item) in table.iter() {
        // `"view.ascii"` in quotes is one part and no known name.
        let part_name = if part.contains('.') || part.is_empty() { format!("{part:?}") } else { part.to_owned() };
        let name = if above.is_empty() { part_name } else { format!("{above}.{part_name}") };
        let span = table.get_key_value(part).and_then(|(key, _)| key.span()).or_else(|| item.span());
        let line = line_of(text.as_bytes(), span.map_or(0, |span| span.start));
        let below = item.as_table_like().filter(|_| depth < MAX_DEPTH);
        match below {
            Some(below) if !below.is_empty() => collect(below, &name, depth + 1, text, out),
            // An empty section says nothing, unless it is misspelt.
            Some(_) if key::is_section(&name) => {}
            _ => {
                let scalar = match item {
                    Item::Value(value) => WrittenValue::from_toml(value),
                    Item::ArrayOfTables(_) => WrittenValue::Other("an array of tables"),
                    Item::Table(_) | Item::None => WrittenValue::Other("a table"),
                };
                out.insert(name, FileValue { scalar, line });
            }
        }
    }
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes.iter().take(at).filter(|byte| **byte == b'\n').count()
}
