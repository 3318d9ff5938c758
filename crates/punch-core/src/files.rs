//! Which todos would touch the same files, judged by their globs.

/// Two globs may name the same file: one's literal prefix leads into the other's. Errs on the side of yes.
pub fn overlap(a: &str, b: &str) -> bool {
    let (a, b) = (Prefix::of(a), Prefix::of(b));
    a.covers(b) || b.covers(a)
}

/// Returns true if a glob names a file: `*` and `?` stay within a folder, `**` stands for any folders, `{a,b}` for either. A
/// name without wildcards stands for itself and everything below it.
pub fn matches(glob: &str, path: &str) -> bool {
    if !overlap(glob, path) {
        return false;
    }
    let glob = glob.trim().trim_start_matches("./").trim_end_matches('/');
    // Sets of characters are rare; their prefix decides.
    if !glob.contains(['*', '?', '{']) || glob.contains('[') {
        return true;
    }
    alternatives(glob).iter().any(|glob| {
        let (glob, path): (Vec<&str>, Vec<&str>) = (glob.split('/').collect(), path.split('/').collect());
        folders_match(&glob, &path)
    })
}

/// Expands a glob into one without braces for each choice, up to a small number.
fn alternatives(glob: &str) -> Vec<String> {
    let mut out = vec![glob.to_owned()];
    for _ in 0..4 {
        let split = |glob: &String| -> Vec<String> {
            let Some((before, rest)) = glob.split_once('{') else { return vec![glob.clone()] };
            let Some((choices, after)) = rest.split_once('}') else { return vec![glob.clone()] };
            choices.split(',').take(16).map(|choice| format!("{before}{choice}{after}")).collect()
        };
        out = out.iter().flat_map(split).take(64).collect();
    }
    out
}

/// Matches folder by folder; `reached[n]` says that the globs so far may end after `n` folders.
fn folders_match(glob: &[&str], path: &[&str]) -> bool {
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for part in glob {
        let mut next = vec![false; path.len() + 1];
        for n in 0..=path.len() {
            if *part == "**" {
                next[n] = reached[n] || (n > 0 && next[n - 1]);
            } else if n > 0 {
                next[n] = reached[n - 1] && name_matches(part, path[n - 1]);
            }
        }
        reached = next;
    }
    // A named folder represents everything below it.
    let last = if glob.last().is_some_and(|part| part.contains(['*', '?'])) { path.len() } else { 0 };
    reached.iter().skip(last).skip(usize::from(last == 0)).any(|reached| *reached)
}

fn name_matches(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for part in glob {
        let mut next = vec![false; name.len() + 1];
        for n in 0..=name.len() {
            next[n] = match part {
                '*' => reached[n] || (n > 0 && next[n - 1]),
                '?' => n > 0 && reached[n - 1],
                c => n > 0 && reached[n - 1] && name[n - 1] == c,
            };
        }
        reached = next;
    }
    reached[name.len()]
}

/// What is fixed of a glob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Prefix<'a> {
    /// Everything before the first wildcard.
    pub text: &'a str,
    /// There is a wildcard.
    wild: bool,
}

impl<'a> Prefix<'a> {
    pub fn of(glob: &'a str) -> Self {
        let mut glob = glob.trim();
        while let Some(rest) = glob.strip_prefix("./") {
            glob = rest.trim_start_matches('/');
        }
        match glob.find(['*', '?', '[', '{']) {
            Some(end) => Self { text: &glob[..end], wild: true },
            None => Self { text: glob.trim_end_matches('/'), wild: false },
        }
    }

    /// What this glob matches may lie under it. A name without wildcards stands for itself and what is below it as
    /// a folder, so `src/a` covers `src/a/b` and not `src/ab`.
    pub fn covers(self, other: Self) -> bool {
        other.text.strip_prefix(self.text).is_some_and(|rest| {
            self.wild || rest.is_empty() || rest.starts_with('/') || self.text.is_empty() || self.text == "."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{matches, overlap};

    #[test]
    fn prefixes_decide() {
        for (a, b) in [
            ("src/**", "src/a.rs"),
            ("src", "src/a.rs"),
            ("./src/", "src/*.rs"),
            ("src/a*", "src/ab.rs"),
            ("*.rs", "docs/x.md"),
            ("a.rs", "a.rs"),
            ("**/x.rs", "anything"),
            ("", "a"),
            ("src/{a,b}.rs", "src/c.rs"),
        ] {
            assert!(overlap(a, b) && overlap(b, a), "{a} {b}");
        }
        for (a, b) in [("src/a", "src/ab.rs"), ("src/*", "docs/*"), ("a.rs", "b.rs"), ("src/ab*", "src/a")] {
            assert!(!overlap(a, b) && !overlap(b, a), "{a} {b}");
        }
    }

    #[test]
    fn globs_name_files() {
        for (glob, path) in [
            ("src/a.rs", "src/a.rs"),
            ("src", "src/a/b.rs"),
            ("./src/", "src/a.rs"),
            ("src/*.rs", "src/a.rs"),
            ("src/**", "src/a/b.rs"),
            ("src/**/*.rs", "src/a.rs"),
            ("**/*.md", "docs/a/b.md"),
            ("*.md", "README.md"),
            ("crates/*/src", "crates/a/src/b.rs"),
            ("src/{a,b}.rs", "src/b.rs"),
            ("src/?.rs", "src/a.rs"),
            ("src/[ab].rs", "src/a.rs"),
        ] {
            assert!(matches(glob, path), "{glob} {path}");
        }
        for (glob, path) in [
            ("src/a.rs", "src/b.rs"),
            ("src/*.rs", "src/a/b.rs"),
            ("src/*.rs", "src/a.md"),
            ("*.rs", "docs/x.md"),
            ("**/x.rs", "src/y.rs"),
            ("src/{a,b}.rs", "src/c.rs"),
            ("crates/*/src", "crates/a/tests/b.rs"),
            ("docs", "src/docs.rs"),
        ] {
            assert!(!matches(glob, path), "{glob} {path}");
        }
    }
}
