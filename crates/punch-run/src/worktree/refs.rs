//! Reads several refs with one git command: the commit, its parents, and where it is checked out.

use std::path::Path;

use super::WorktreeError;
use super::git::LaneGit;

/// The format of the output. Fields end with a zero byte, which no path contains.
const FORMAT: &str = "--format=%(refname)%00%(objectname)%00%(parent)%00%(worktreepath)%00";

/// A ref that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnownRef {
    /// The full name of the ref.
    name: String,
    /// The commit of the ref.
    pub commit: String,
    /// The parents of the commit.
    parents: Vec<String>,
    /// The worktree that has the ref checked out.
    pub tree: Option<String>,
}

/// The requested refs that exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Refs(Vec<KnownRef>);

impl Refs {
    /// Returns the ref with this full name.
    pub fn get(&self, name: &str) -> Option<&KnownRef> {
        self.0.iter().find(|known| known.name == name)
    }

    /// Returns true if the ref with this full name exists.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

impl KnownRef {
    /// Returns true if that commit is a parent of this one. If not, it may still be an older ancestor.
    pub fn follows(&self, commit: &str) -> bool {
        self.parents.iter().any(|parent| parent == commit)
    }

    /// Returns the ref as it is once this worktree is removed.
    pub fn not_in(mut self, tree: &Path) -> Self {
        self.tree = self.tree.filter(|path| Path::new(path) != tree);
        self
    }
}

impl LaneGit {
    /// Reads refs by their full names.
    pub fn refs(&self, names: &[&str]) -> Result<Refs, WorktreeError> {
        let answer = self.read("read its branches", &[&["for-each-ref", FORMAT], names].concat())?;
        let mut refs = read(&answer);
        // git also matches refs below a name.
        refs.0.retain(|known| names.contains(&known.name.as_str()));
        Ok(refs)
    }
}

fn read(answer: &str) -> Refs {
    let mut fields = answer.split('\0');
    let mut out = Vec::new();
    while let (Some(name), Some(commit), Some(parents), Some(tree)) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    {
        out.push(KnownRef {
            name: name.trim_start_matches('\n').to_owned(),
            commit: commit.to_owned(),
            parents: parents.split(' ').filter(|parent| !parent.is_empty()).map(str::to_owned).collect(),
            tree: Some(tree.to_owned()).filter(|tree| !tree.is_empty()),
        });
    }
    Refs(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_are_read_with_any_path_of_a_work_tree() {
        let known = |name: &str, parents: &[&str], tree: Option<&str>| KnownRef {
            name: name.into(),
            commit: "c".into(),
            parents: parents.iter().map(|parent| (*parent).to_owned()).collect(),
            tree: tree.map(str::to_owned),
        };
        let answer = "refs/heads/a\0c\0p q\0/x\ny z\0\nrefs/heads/b\0c\0\0\0\n";
        let found = read(answer);
        assert_eq!(found.0, [known("refs/heads/a", &["p", "q"], Some("/x\ny z")), known("refs/heads/b", &[], None)]);
        assert!(found.0[0].follows("q") && !found.0[0].follows("c"));
        assert_eq!(read("cut\0short"), Refs::default());
    }
}
