//! Names of branches, private refs and folders, made from names that can be anything.

use punch_core::hash::fnv1a;

/// The longest name; longer ones are cut so that a path has room for several.
const LONGEST: usize = 60;

/// The longest part of a name that is followed by a hash.
const BEFORE_HASH: usize = 48;

/// Digits of a hash in a name.
const HASH: usize = 10;

/// The longest part of the name of a plan in the name of a run.
const PLAN: usize = 30;

/// How the names of a coordinator's lanes end.
pub(super) const MERGE: &str = ".merge";

/// The name of a run in branches and folders, and how its lanes are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunName {
    name: String,
    /// Two todos never share a lane. False in runs of earlier versions, whose lanes must be found again.
    is_exact: bool,
}

impl From<&str> for RunName {
    fn from(name: &str) -> Self {
        Self { name: part(name), is_exact: true }
    }
}

impl RunName {
    /// Returns the name of a run whose lanes are named as earlier versions did.
    pub(super) fn of_earlier_version(name: &str) -> Self {
        Self { name: part(name), is_exact: false }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.name
    }

    /// Returns the name of the result branch. The branches of lanes are its siblings, not below it: git stores refs like
    /// files, and none can be both a file and a folder.
    pub fn result_branch(&self) -> String {
        self.branch_with("result")
    }

    /// Returns the name of the branch of a todo's lane.
    pub fn branch_of(&self, todo: &str) -> String {
        self.branch_with(&self.lane_of(todo))
    }

    /// Returns the name of a todo's lane: one part of a ref and of a path.
    pub(super) fn lane_of(&self, todo: &str) -> String {
        match part(todo) {
            made if self.is_exact => {
                if made == todo && !is_reserved(&made) {
                    made
                } else {
                    with_hash(&made, todo)
                }
            }
            taken if taken.eq_ignore_ascii_case("result") => format!("{taken}-lane"),
            free => free,
        }
    }

    /// Returns the name of the branch of a lane with this name.
    pub(super) fn branch_with(&self, lane: &str) -> String {
        format!("punch/{}/{lane}", self.name)
    }
}

/// Returns what the names of a plan's runs begin with.
pub(crate) fn plan_part(name: &str, id: i64) -> String {
    format!("{}-{id}", cut(&part(name), PLAN))
}

/// Returns true if the lane of another todo, of the coordinator or the result could have this name.
fn is_reserved(name: &str) -> bool {
    let has_hash = || {
        let hash = name.rsplit_once('-').map(|(_, hash)| hash);
        hash.is_some_and(|hash| hash.len() == HASH && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    name.eq_ignore_ascii_case("result") || name.ends_with(MERGE) || has_hash()
}

/// Returns a name that differs for different ids, although `made` is the same.
fn with_hash(made: &str, id: &str) -> String {
    let hash = format!("{:016x}", fnv1a(id.bytes()));
    format!("{}-{}", cut(made, BEFORE_HASH), &hash[16 - HASH..])
}

/// Returns the beginning of a name that is one part of a ref.
fn cut(name: &str, most: usize) -> String {
    part(name.get(..most).unwrap_or(name))
}

/// The prefix of marks. Not `refs/punch`: `punch/7/result` would then be ambiguous with a mark.
pub(super) const MARKS: &str = "refs/lanes/";

/// Returns the mark of a branch: a private ref that says that punch created the branch, and from which commit.
pub(super) fn mark_of(branch: &str) -> String {
    format!("{MARKS}{branch}")
}

/// Keeps letters, digits, `_`, `-` and dots inside; everything else becomes `-`. The result is never empty, hidden, or
/// an option, and git accepts it in a ref. Case is kept, although some file systems ignore it.
fn part(name: &str) -> String {
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
        let run = RunName::from("7");
        assert_eq!((run.branch_of("T-1"), run.result_branch()), ("punch/7/T-1".into(), "punch/7/result".into()));
        for (id, wanted) in [("result", "result-"), ("Result", "Result-"), ("T-1.merge", "T-1.merge-"), ("a b", "a-b-")]
        {
            let lane = run.lane_of(id);
            assert!(lane.starts_with(wanted) && lane.len() == wanted.len() + HASH, "{lane}");
        }
        assert_eq!(plan_part(&"release ".repeat(9), 7), "release-release-release-releas-7");
        let earlier = RunName::of_earlier_version("7");
        assert_eq!(["result", "a b", "T-1"].map(|id| earlier.lane_of(id)), ["result-lane", "a-b", "T-1"]);
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
        fn no_two_todos_have_one_lane(ids in prop::collection::hash_set("[a-b .-]{0,4}(result|\\.merge|-0123456789)?", 2..40)) {
            let run = RunName::from("7");
            let lanes: Vec<String> = ids.iter().map(|id| run.lane_of(id)).collect();
            prop_assert!(lanes.iter().all(|lane| git_takes(lane) && lane.len() <= LONGEST && lane != "result" && !lane.ends_with(MERGE)));
            let different: std::collections::HashSet<&String> = lanes.iter().collect();
            prop_assert_eq!(different.len(), ids.len(), "{:?}", lanes);
            // A lane's name could be the id of another todo.
            prop_assert!(lanes.iter().all(|lane| ids.contains(lane) || !lanes.contains(&run.lane_of(lane))));
        }

        #[test]
        fn no_two_long_ids_have_one_lane(one in "[a-z ]{0,9}", other in "[a-z ]{0,9}") {
            let run = RunName::from("7");
            let [first, second] = [&one, &other].map(|end| run.lane_of(&format!("{}{end}", "long ".repeat(20))));
            prop_assert_eq!(first == second, one == other);
        }

        #[test]
        fn names_of_punctuation_too(name in "[.@{}/~^: lock-]{0,90}") {
            prop_assert!(git_takes(&part(&name)));
        }
    }
}
