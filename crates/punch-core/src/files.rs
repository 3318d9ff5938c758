//! Which todos would touch the same files, judged by their globs.

/// Two globs may name the same file: one's literal prefix leads into the other's. Errs on the side of yes.
pub fn overlap(a: &str, b: &str) -> bool {
    let (a, b) = (Prefix::of(a), Prefix::of(b));
    a.covers(b) || b.covers(a)
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
    use super::overlap;

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
}
