//! Names of branches, private refs and folders, made from names that can be anything.

/// The longest name; longer ones are cut so that a path has room for several.
const LONGEST: usize = 60;

/// Returns the name of the result branch of a run. The branches of lanes are its siblings, not below it: git stores
/// refs like files, and none can be both a file and a folder.
pub fn result_branch(run: &str) -> String {
    format!("punch/{}/result", part(run))
}

/// Returns the name of the branch of a lane. A lane called `result` gets another name.
pub fn branch_of(run: &str, lane: &str) -> String {
    format!("punch/{}/{}", part(run), lane_part(lane))
}

/// The prefix of marks. Not `refs/punch`: `punch/7/result` would then be ambiguous with a mark.
pub(super) const MARKS: &str = "refs/lanes/";

/// Returns the mark of a branch: a private ref that says that punch created the branch, and from which commit.
pub(super) fn mark_of(branch: &str) -> String {
    format!("{MARKS}{branch}")
}

/// Returns a name that can be one part of a ref and of a path.
pub(super) fn lane_part(lane: &str) -> String {
    match part(lane) {
        taken if taken.eq_ignore_ascii_case("result") => format!("{taken}-lane"),
        free => free,
    }
}

/// Keeps letters, digits, `_`, `-` and dots inside; everything else becomes `-`. The result is never empty, hidden, or
/// an option, and git accepts it in a ref. Case is kept, although some file systems ignore it.
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

    /// An independent version of the rules of `git check-ref-format`.
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
