//! Reads the state of a lane with one git command and a few looks at its files.

use super::WorktreeError;
use super::git::{ANSWER, LaneGit};
use super::settle::PATHS;
use super::submodule::foreign_submodules;

/// The state in which an agent left its lane.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LaneState {
    /// The current commit; `None` if the branch has none yet.
    pub head: Option<String>,
    /// The current branch, or what git prints without one.
    pub branch: String,
    /// True if anything differs from the current commit.
    pub changed: bool,
    /// Paths with merge conflicts.
    pub unmerged: Vec<String>,
    /// Changed submodules: the status that git prints, and the path.
    pub submodules: Vec<([u8; 3], String)>,
    /// True if a folder in it may be a separate repository.
    pub nests: bool,
    /// Submodules whose git folder is not the one that git created for this lane. If there are any, nothing else is
    /// read.
    pub foreign: Vec<String>,
}

impl LaneState {
    /// Reads the state of the lane in which this git works.
    pub fn at(git: &LaneGit) -> Result<Self, WorktreeError> {
        // For the status of a submodule git runs in that repository, with its configuration.
        let foreign = foreign_submodules(git)?;
        if !foreign.is_empty() {
            return Ok(Self { foreign, ..Self::default() });
        }
        // When every file is listed, an entry that ends with a slash is a separate repository.
        let ask = ["status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--untracked-files=all"];
        let answer = git.read("look at a worktree", &[&ask[..], &["--ignore-submodules=none"]].concat())?;
        let mut look = read(&answer);
        if answer.len() as u64 >= ANSWER {
            // The output was cut off, so there may be more.
            look.nests = true;
            let unmerged = ["diff", "--name-only", "--diff-filter=U", "-z"];
            look.unmerged = git.read("look for conflicts", &unmerged)?.split('\0').map(str::to_owned).collect();
            look.unmerged.retain(|path| !path.is_empty());
        }
        look.unmerged.truncate(PATHS);
        Ok(look)
    }
}

fn read(answer: &str) -> LaneState {
    let mut look = LaneState::default();
    for entry in answer.split('\0') {
        match entry.split_once(' ') {
            Some(("#", header)) => match header.split_once(' ') {
                Some(("branch.oid", oid)) => look.head = Some(oid.to_owned()).filter(|oid| !oid.starts_with('(')),
                Some(("branch.head", name)) => name.clone_into(&mut look.branch),
                _ => {}
            },
            Some(("1", rest)) => {
                look.changed = true;
                let fields: Vec<&str> = rest.splitn(8, ' ').collect();
                let [_, sub, _, index, tree, _, _, path] = fields[..] else { continue };
                look.nests |= index == GITLINK || tree == GITLINK;
                if let [b'S', commit, modified, untracked] = *sub.as_bytes() {
                    look.submodules.push(([commit, modified, untracked], path.to_owned()));
                }
            }
            Some(("u", rest)) => {
                look.changed = true;
                look.unmerged.extend(rest.splitn(10, ' ').nth(9).map(str::to_owned));
            }
            Some(("?", path)) => {
                look.changed = true;
                look.nests |= path.ends_with('/');
            }
            _ => {}
        }
    }
    look
}

/// The mode of a submodule in the output of git.
const GITLINK: &str = "160000";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_git_is_read_with_any_path() {
        assert_eq!(read(""), LaneState::default());
        let answer = "# branch.oid abc\0# branch.head punch/7/a\0\
            1 .M N... 100644 100644 100644 1 1 with space\nand line\0\
            1 .M SCMU 160000 160000 160000 1 1 lib\0\
            u UU N... 100644 100644 100644 100644 1 2 3 both sides\0? new\0";
        let wanted = LaneState {
            head: Some("abc".into()),
            branch: "punch/7/a".into(),
            changed: true,
            unmerged: vec!["both sides".into()],
            submodules: vec![(*b"CMU", "lib".into())],
            nests: true,
            foreign: Vec::new(),
        };
        assert_eq!(read(answer), wanted);
        let plain = read("# branch.oid (initial)\0# branch.head (detached)\0? new file\0");
        assert_eq!(plain, LaneState { branch: "(detached)".into(), changed: true, ..LaneState::default() });
        assert!(read("? inside/\0").nests);
        assert!(!read("1 D. N... 100644 000000 000000 1 1 x\0").nests);
        assert_eq!(read("1 x\0u y\0#\0# z"), LaneState { changed: true, ..LaneState::default() });
    }
}
