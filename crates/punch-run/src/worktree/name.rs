//! Names of branches, private refs and folders, made from names that can be anything.

/// Longer names are cut: a path has room for more than one of them.
const LONGEST: usize = 60;

/// The branch on which the work of a run comes together. The branches of lanes stand beside it, not below: git keeps
/// refs like files, and none can be both a file and a folder.
pub fn result_branch(run: &str) -> String {
    format!("punch/{}/result", part(run))
}

/// The branch of a lane. A lane that is itself called `result` gets another name.
pub fn branch_of(run: &str, lane: &str) -> String {
    format!("punch/{}/{}", part(run), lane_part(lane))
}

/// Marks are below this. Not below `refs/punch`: `punch/7/result` would then be short for a mark as well.
pub(super) const MARKS: &str = "refs/lanes/";

/// The ref that says that a branch is ours, and where it began. It is seen by nobody who does not look for it.
pub(super) fn mark_of(branch: &str) -> String {
    format!("{MARKS}{branch}")
}

/// A name as one part of a ref and of a path.
pub(super) fn lane_part(lane: &str) -> String {
    match part(lane) {
        taken if taken.eq_ignore_ascii_case("result") => format!("{taken}-lane"),
        free => free,
    }
}

/// Keeps what is a letter, a digit, `_`, `-` or a dot inside; the rest becomes `-`. Never empty, never hidden, never
/// an option, nothing that git refuses in a ref. Upper and lower case stay, though some file systems take them for one.
pub(super) fn part(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        let fits = c.is_ascii_alphanumeric() || c == '_' || (c == '.' && !out.is_empty() && !out.ends_with('.'));
        let c = if fits { c } else { '-' };
        if c != '-' || !(out.is_empty() || out.ends_with('-')) {
            out.push(c);
        }
        if out.len() >= LONGEST {
            break;
        }
    }
    // `x.lock` would be the lock of `x`.
    let end = out.trim_end_matches(['.', '-']).trim_end_matches(".lock").trim_end_matches(['.', '-']);
    if end.is_empty() { "x".into() } else { end.into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rules of `git check-ref-format`, once more and in other words.
    fn git_takes(part: &str) -> bool {
        !part.is_empty()
            && !part.starts_with(['.', '-'])
            && !part.ends_with('.')
            && !part.ends_with(".lock")
            && !part.contains("..")
            && part.bytes().all(|byte| byte.is_ascii_graphic() && !b" ~^:?*[\\@{/".contains(&byte))
    }

    #[test]
    fn names_are_made_to_fit() {
        let table = [
            ("T-1", "T-1"),
            ("todo-17-abc", "todo-17-abc"),
            ("", "x"),
            ("../../etc", "etc"),
            (".git", "git"),
            ("a..b", "a.-b"),
            ("x.lock", "x"),
            ("x.lock.lock.", "x"),
            ("--force", "force"),
            ("two words\nand a line", "two-words-and-a-line"),
            ("übung", "bung"),
        ];
        for (name, wanted) in table {
            assert_eq!(part(name), wanted, "{name:?}");
        }
        assert_eq!(branch_of("7", "result"), "punch/7/result-lane");
        assert_eq!(branch_of("7", "Result"), "punch/7/Result-lane");
        assert_eq!(result_branch("7"), "punch/7/result");
        assert_eq!(mark_of("punch/7/T-1"), "refs/lanes/punch/7/T-1");
    }

    proptest! {
        #[test]
        fn any_name_becomes_one_that_git_takes(name in any::<String>()) {
            let made = part(&name);
            prop_assert!(git_takes(&made), "{made:?}");
            prop_assert!(made.len() <= LONGEST);
            prop_assert_eq!(part(&made), made, "it stays as it is");
        }

        #[test]
        fn names_of_punctuation_too(name in "[.@{}/~^: lock-]{0,90}") {
            prop_assert!(git_takes(&part(&name)));
        }
    }
}
