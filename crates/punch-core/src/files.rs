//! Which todos would touch the same files, judged by their globs.

/// Two globs may name the same file: one's literal prefix leads into the other's. Errs on the side of yes.
pub fn overlap(a: &str, b: &str) -> bool {
    let (a, b) = (Prefix::of(a), Prefix::of(b));
    a.covers(&b) || b.covers(&a)
}

struct Prefix<'a> {
    literal: &'a str,
    /// A wildcard follows, so the last component may go on.
    open: bool,
}

impl<'a> Prefix<'a> {
    fn of(glob: &'a str) -> Self {
        let glob = glob.strip_prefix("./").unwrap_or(glob);
        match glob.find(['*', '?', '[', '{']) {
            Some(at) => Self { literal: &glob[..at], open: true },
            None => Self { literal: glob.trim_end_matches('/'), open: false },
        }
    }

    /// Everything under `other` starts with this prefix, at a boundary of components unless a wildcard follows.
    fn covers(&self, other: &Prefix<'_>) -> bool {
        match other.literal.strip_prefix(self.literal) {
            Some(rest) => self.open || self.literal.is_empty() || rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::overlap;

    #[test]
    fn a_folder_overlaps_what_is_in_it_and_nothing_beside_it() {
        for (a, b, expected) in [
            ("src", "src/main.rs", true),
            ("src/", "src/main.rs", true),
            ("src/a", "src/ab", false),
            ("src/a*", "src/ab", true),
            ("src/*.rs", "src/lib.rs", true),
            ("src/**", "docs/**", false),
            ("**/x.rs", "anything", true),
            ("./src", "src/x", true),
            ("", "a", true),
            ("Cargo.toml", "Cargo.lock", false),
            ("src/{a,b}.rs", "src/c.rs", true),
        ] {
            assert_eq!(overlap(a, b), expected, "{a} {b}");
            assert_eq!(overlap(b, a), expected, "{b} {a}");
        }
    }
}
