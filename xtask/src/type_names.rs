//! One name for each type. A reader who searches for a name finds one definition, so a type that others can see has a name
//! that no other such type in the workspace has.

use std::collections::{BTreeMap, BTreeSet};

/// Files and folders whose names may also be used elsewhere, each with the reason.
const OBVIOUS: &[(&str, &str)] = &[
    (
        "crates/punchlist/src/",
        "the library names things for its users, and each dialect has the names of its wire format",
    ),
    ("crates/punch-engine/src/git/no_repository.rs", "takes the place of the real types where git is left out"),
    ("crates/punch-engine/src/verify/no_consents.rs", "takes the place of the real type where approvals are left out"),
];

/// Participles tell what was done, but not to what.
const PARTICIPLES: &[&str] = &[
    "Asked", "Ended", "Found", "Given", "Heard", "Held", "Kept", "Known", "Made", "Named", "Offered", "Opened", "Said",
    "Seen", "Served", "Shown", "Stored", "Taken", "Told", "Wanted", "Written",
];

/// The types of the workspace that other files can see.
#[derive(Default)]
pub struct TypeNames {
    files: BTreeMap<String, BTreeSet<String>>,
}

impl TypeNames {
    /// Collects the types of one file. Inline tests and files of tests may call their types as they like.
    pub fn read(&mut self, file: &str, text: &str) {
        if file.ends_with("tests.rs") || file.contains("/tests/") {
            return;
        }
        let (shipped, _) = text.split_once("\n#[cfg(test)]\nmod tests {").unwrap_or((text, ""));
        for name in shipped.lines().filter_map(visible_type) {
            self.files.entry(name.to_owned()).or_default().insert(file.to_owned());
        }
    }

    /// Returns a line for each name that is used twice, or that is not a noun.
    pub fn problems(&self) -> Vec<String> {
        let is_obvious = |file: &&String| OBVIOUS.iter().any(|(place, _)| file.starts_with(place));
        let mut out = Vec::new();
        for (name, files) in &self.files {
            let files: Vec<&str> = files.iter().filter(|file| !is_obvious(file)).map(String::as_str).collect();
            if files.len() > 1 {
                out.push(format!("{}: each of these types is called `{name}`: say which is which", files.join(", ")));
            } else if let [file] = files[..]
                && PARTICIPLES.contains(&name.as_str())
            {
                out.push(format!("{file}: `{name}` is not the name of a thing: use a noun"));
            }
        }
        out
    }
}

/// Returns the name of the type that a line defines, if other modules can see it.
fn visible_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest);
    let (kind, rest) = rest.trim_start().split_once(' ')?;
    if !["struct", "enum", "union", "trait", "type"].contains(&kind) {
        return None;
    }
    // A macro that defines types has `$name` here.
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let mut names = TypeNames::default();
        files.iter().for_each(|(file, text)| names.read(file, text));
        names.problems()
    }

    #[test]
    fn a_name_is_used_once() {
        let row = "pub(super) struct Row<'a> {\n}\n";
        assert_eq!(
            problems(&[("a.rs", row), ("b.rs", "struct Row;\n#[cfg(test)]\nmod tests {\n    pub type Row = u8;\n}\n")]),
            [""; 0]
        );
        assert_eq!(problems(&[("a.rs", row), ("b.rs", "pub type Row = (u64, u64);\n")]).len(), 1);
        assert_eq!(problems(&[("a.rs", row), ("b/tests/c.rs", row)]), [""; 0]);
    }

    #[test]
    fn a_file_may_define_a_type_for_each_system() {
        assert_eq!(
            problems(&[("a.rs", "#[cfg(unix)]\npub struct Guard;\n#[cfg(windows)]\npub struct Guard;\n")]),
            [""; 0]
        );
    }

    #[test]
    fn dialects_have_the_names_of_their_formats() {
        let todo = "pub struct Todo {}\n";
        let places = ["crates/punchlist/src/dialect/read.rs", "crates/punchlist/src/dialect/extended.rs"];
        assert_eq!(problems(&[("crates/punch-core/src/todo.rs", todo), (places[0], todo), (places[1], todo)]), [""; 0]);
    }

    #[test]
    fn a_type_is_a_noun() {
        assert_eq!(
            problems(&[("a.rs", "pub enum Found {\n")]),
            ["a.rs: `Found` is not the name of a thing: use a noun"]
        );
    }
}
