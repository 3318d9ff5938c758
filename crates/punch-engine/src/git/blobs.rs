//! The git object names of file contents, to find out whether a content is still there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::repository::ANSWER;
use super::{Blobs, Git};

/// Files that are looked at for one todo.
const FILES: usize = 200;

/// Larger ones are not read by the way.
const LARGEST: u64 = 16 << 20;

/// The number of commits that are searched for what happened to a file.
const COMMITS: &str = "--max-count=2000";

impl Git {
    /// The files that these globs match as they are in the worktree, known to git or not. Empty if git cannot say.
    pub fn blobs(&self, globs: &[String]) -> Blobs {
        let specs: Vec<String> = globs.iter().filter_map(|glob| pathspec(glob)).collect();
        if specs.is_empty() {
            return Blobs::new();
        }
        let mut arguments = vec!["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"];
        arguments.extend(specs.iter().map(String::as_str));
        let Ok(answer) = self.ask(&arguments, None, ANSWER) else { return Blobs::new() };
        let regular = |path: &&str| {
            let found = fs::symlink_metadata(self.root.join(path));
            // Paths go to git on lines of their own.
            !path.contains(['\n', '\r', '"']) && found.is_ok_and(|found| found.is_file() && found.len() <= LARGEST)
        };
        let listed = String::from_utf8_lossy(&answer);
        let paths: BTreeSet<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
        self.hashed(&paths.into_iter().filter(regular).take(FILES).collect::<Vec<_>>())
    }

    /// Contents as git would keep them, line ends and filters of the repository included.
    fn hashed(&self, paths: &[&str]) -> Blobs {
        let input: String = paths.iter().flat_map(|path| [*path, "\n"]).collect();
        if input.is_empty() {
            return Blobs::new();
        }
        let answer = self.ask(&["hash-object", "--stdin-paths"], Some(input), ANSWER).unwrap_or_default();
        let names = String::from_utf8_lossy(&answer);
        let names: Vec<&str> = names.lines().collect();
        // If one vanished in between, there is no answer, because nothing can be distinguished.
        if names.len() != paths.len() {
            return Blobs::new();
        }
        paths.iter().zip(names).map(|(path, name)| ((*path).to_owned(), name.to_owned())).collect()
    }

    /// Whether what these files held is gone: reverted, or in no commit behind the head. What was built further is
    /// not. `None` if git cannot say.
    pub fn lost(&self, then: &Blobs) -> Option<bool> {
        if then.is_empty() {
            return Some(false);
        }
        let paths: Vec<&str> = then.keys().map(String::as_str).collect();
        let present: Vec<&str> = paths.iter().copied().filter(|path| self.root.join(path).is_file()).collect();
        let tree = self.hashed(&present);
        let differs = |path: &&str| tree.get(*path) != then.get(*path);
        let changed: Vec<&str> = paths.into_iter().filter(differs).collect();
        if changed.is_empty() {
            return Some(false);
        }
        let head = self.at_head()?;
        let changed: Vec<&str> = changed.into_iter().filter(|path| head.get(*path) != then.get(*path)).collect();
        if changed.is_empty() {
            return Some(false);
        }
        let history = self.history(&changed)?;
        Some(changed.iter().any(|path| {
            let (Some(blob), states) = (then.get(*path), history.get(*path)) else { return false };
            // It may live on under another name.
            let moved = !head.contains_key(*path) && head.values().any(|other| other == blob);
            !moved && is_lost(blob, head.get(*path).map(String::as_str), states.map_or(&[], Vec::as_slice))
        }))
    }

    /// All files of the head.
    fn at_head(&self) -> Option<Blobs> {
        let answer = self.ask(&["ls-tree", "-r", "-z", "--full-tree", "HEAD"], None, ANSWER).ok()?;
        let text = String::from_utf8_lossy(&answer);
        let entry = |entry: &str| {
            let (about, path) = entry.split_once('\t')?;
            Some((path.to_owned(), about.split(' ').nth(2)?.to_owned()))
        };
        Some(text.split('\0').filter_map(entry).collect())
    }

    /// What each file was before and after every commit that changed it, newest first; no file is an empty name.
    fn history(&self, paths: &[&str]) -> Option<BTreeMap<String, Vec<(String, String)>>> {
        let mut arguments = vec!["log", COMMITS, "--format=", "--raw", "--no-abbrev", "--no-renames", "-z"];
        let specs: Vec<String> = paths.iter().map(|path| format!(":(top,literal){path}")).collect();
        arguments.extend(["--no-ext-diff", "--full-history", "HEAD", "--"]);
        arguments.extend(specs.iter().map(String::as_str));
        let answer = self.ask(&arguments, None, ANSWER).ok()?;
        let text = String::from_utf8_lossy(&answer);
        let mut out: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        let mut parts = text.split('\0');
        while let Some(about) = parts.next() {
            // `:100644 100644 old new M`, then the path.
            let Some(about) = about.trim_start().strip_prefix(':') else { continue };
            let mut words =
                about.split(' ').skip(2).map(|name| if name.bytes().all(|b| b == b'0') { "" } else { name });
            let (Some(old), Some(new), Some(path)) = (words.next(), words.next(), parts.next()) else { break };
            out.entry(path.to_owned()).or_default().push((old.to_owned(), new.to_owned()));
        }
        Some(out)
    }
}

/// `states` are what a file was before and after each commit, newest first. Lost is what never came into this history,
/// and what was reverted to something it had been before.
fn is_lost(blob: &str, now: Option<&str>, states: &[(String, String)]) -> bool {
    let Some(came) = states.iter().rposition(|(_, new)| new == blob) else {
        // It may be older than the history that was looked at.
        return !states.iter().any(|(old, _)| old == blob);
    };
    let now = now.unwrap_or("");
    states[came..].iter().any(|(old, new)| old == now || (new == now && new != blob))
}

/// Returns the glob for git: from the top of the worktree, `**` for any number of folders. A folder includes its
/// content.
fn pathspec(glob: &str) -> Option<String> {
    let glob = glob.trim().trim_start_matches("./").trim_end_matches('/');
    let plain = !glob.is_empty() && !glob.starts_with(['/', ':']) && !glob.contains('\0') && !glob.contains("..");
    plain.then(|| format!(":(top,glob){glob}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect()
    }

    #[test]
    fn lost_is_what_was_taken_back_or_never_came() {
        for (blob, now, history, lost) in [
            ("b", Some("c"), &[("b", "c"), ("a", "b"), ("", "a")][..], false),
            ("b", Some("a"), &[("b", "a"), ("a", "b"), ("", "a")][..], true),
            ("b", None, &[("b", ""), ("", "b")][..], true),
            ("b", Some("c"), &[("a", "c"), ("", "a")][..], true),
            ("b", Some("c"), &[("b", "c")][..], false),
            ("b", Some("c"), &[][..], true),
        ] {
            assert_eq!(is_lost(blob, now, &states(history)), lost, "{blob} {now:?} {history:?}");
        }
    }

    #[test]
    fn only_globs_inside_the_work_tree_are_asked_for() {
        assert_eq!(pathspec("./src/*.rs").as_deref(), Some(":(top,glob)src/*.rs"));
        assert_eq!(pathspec("src/").as_deref(), Some(":(top,glob)src"));
        for bad in ["", "/etc/passwd", "../x", ":(exclude)x", "  "] {
            assert_eq!(pathspec(bad), None, "{bad}");
        }
    }
}
