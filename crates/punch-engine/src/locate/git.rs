//! The git repository around a folder, found the way git does but by reading its files: starting git costs more than
//! most commands. Only whether a folder is tracked is asked of git itself.

use std::{
    fs,
    path::{Path, PathBuf},
};

use punch_store::platform;

use super::{LocateError, Surroundings};
use crate::git::{self, GitFolders};

/// Longer than any path; a bigger `.git` file is something else.
const MAX_GIT_FILE: u64 = 1 << 16;

/// A repository, seen from one of its worktrees or from none.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// The git folder of this worktree.
    pub git_dir: PathBuf,
    /// The git folder that all worktrees share.
    pub common: PathBuf,
    /// The top of the worktree; none in a bare repository.
    pub top: Option<PathBuf>,
}

impl Repository {
    /// The identity of this worktree among the others.
    pub fn root(&self) -> &Path {
        self.top.as_deref().unwrap_or(&self.common)
    }

    /// Where a store beside the code may lie, nearest first: from `cwd` to the top, then the top of the main
    /// worktree, so that linked worktrees share a store there as they share one in the git folder.
    pub fn folders(&self, cwd: &Path) -> Vec<PathBuf> {
        let Some(top) = &self.top else { return Vec::new() };
        let mut out: Vec<PathBuf> = Vec::new();
        if cwd.starts_with(top) && !cwd.starts_with(&self.git_dir) {
            out.extend(cwd.ancestors().take_while(|folder| *folder != top).map(Path::to_owned));
        }
        out.push(top.clone());
        out.extend(self.main_top().filter(|main| *main != top).map(Path::to_owned));
        out
    }

    /// Whether files in the folder are in git's index.
    pub fn tracks(&self, dir: &Path) -> Result<bool, LocateError> {
        let failed = |cause: String| LocateError::GitFailed { dir: dir.to_owned(), cause };
        // The main worktree has the index of the common folder.
        let main = self.main_top().filter(|main| self.top.as_deref() != Some(*main) && dir.starts_with(main));
        let inside = self.top.as_deref().filter(|top| dir.starts_with(top));
        let (git_dir, top) = match (inside, main) {
            (Some(top), _) => (&self.git_dir, top),
            (None, Some(main)) => (&self.common, main),
            (None, None) => return Ok(false),
        };
        let mut git = git::program(top, None);
        git.arg("--git-dir").arg(git_dir).arg("--work-tree").arg(top);
        git.args(["--literal-pathspecs", "ls-files", "--cached", "-z", "--"]).arg(dir);
        let call = git::finish(git, None, |pipe| git::read_beginning(pipe, 1));
        let call = call.map_err(|error| failed(format!("`git` cannot be started: {error}")))?;
        match call.status.success() {
            true => Ok(!call.out.is_empty()),
            false => Err(failed(call.complaint.trim().to_owned())),
        }
    }

    fn main_top(&self) -> Option<&Path> {
        self.common.parent().filter(|_| self.common.file_name().is_some_and(|name| name == ".git"))
    }
}

/// The repository around `cwd`, or the one named by the environment.
pub(super) fn find(around: &Surroundings) -> Result<Option<Repository>, LocateError> {
    let mut found = match &around.git_dir_env {
        Some(given) => Some(named(&around.cwd, given)?),
        None => search(around)?,
    };
    if let Some(repository) = &mut found {
        if let Some(common) = &around.git_common_dir_env {
            repository.common = real(&around.cwd.join(common))?;
        }
        if let Some(top) = &around.git_work_tree_env {
            repository.top = Some(real(&around.cwd.join(top))?);
        }
    }
    Ok(found)
}

fn named(cwd: &Path, given: &Path) -> Result<Repository, LocateError> {
    let path = cwd.join(given);
    let git_dir = if path.is_file() { read_git_file(&path)? } else { path.clone() };
    if !is_git_dir(&git_dir) {
        return Err(broken(&path, "it is not a git folder"));
    }
    repository(&git_dir, None)
}

fn search(around: &Surroundings) -> Result<Option<Repository>, LocateError> {
    let device = |folder: &Path| fs::metadata(folder).ok().and_then(|found| platform::device(&found));
    let start = device(&around.cwd);
    for folder in around.cwd.ancestors() {
        let ceiling = folder != around.cwd && around.git_ceilings.iter().any(|ceiling| ceiling == folder);
        // git does not look beyond the file system it is on either.
        if ceiling || device(folder) != start {
            return Ok(None);
        }
        let dot = folder.join(".git");
        match fs::metadata(&dot) {
            Ok(found) if found.is_file() => return repository(&read_git_file(&dot)?, Some(folder)).map(Some),
            Ok(found) if found.is_dir() && is_git_dir(&dot) => return repository(&dot, Some(folder)).map(Some),
            _ => {}
        }
        if is_git_dir(folder) {
            let found = repository(folder, None)?;
            refuse_embedded(around, folder)?;
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Refuses a git folder without a worktree that the repository around it tracks: a clone brought it, with whatever
/// store and configuration someone put in. (git itself has `safe.bareRepository` for this.)
fn refuse_embedded(around: &Surroundings, folder: &Path) -> Result<(), LocateError> {
    // git tracks nothing that is in a folder of this name.
    if folder.components().any(|part| part.as_os_str() == ".git") {
        return Ok(());
    }
    let Some(above) = folder.parent() else { return Ok(()) };
    let outer = search(&Surroundings { cwd: above.to_owned(), ..around.clone() })?;
    match outer.filter(|outer| outer.top.is_some()) {
        Some(outer) if outer.tracks(folder)? => {
            Err(LocateError::Embedded { dir: folder.to_owned(), outer: outer.root().to_owned() })
        }
        _ => Ok(()),
    }
}

/// The git folder of a worktree and the one that all its worktrees share; `None` if it is none.
pub(super) fn folders_of(work_tree: &Path) -> Option<(PathBuf, PathBuf)> {
    let dot = work_tree.join(".git");
    let git_dir = match fs::metadata(&dot) {
        Ok(found) if found.is_file() => read_git_file(&dot).ok()?,
        Ok(_) => dot,
        // A repository without a worktree.
        Err(_) => work_tree.to_owned(),
    };
    is_git_dir(&git_dir).then(|| (git_dir.clone(), common_dir(&git_dir)))
}

/// The top of the main worktree of the repository that a worktree belongs to; the worktree itself where there is no
/// other. A linked worktree belongs to a repository only if that repository lists it: `.git` can name any.
pub fn main_root(worktree: &Path) -> PathBuf {
    let own = worktree.canonicalize().unwrap_or_else(|_| worktree.to_owned());
    let main = || {
        let (git_dir, common) = folders_of(&own)?;
        let (git_dir, common) = (git_dir.canonicalize().ok()?, common.canonicalize().ok()?);
        let listed = GitFolders::registered(&common, &own).filter(|folders| folders.own == git_dir)?;
        let is_dot = listed.common.file_name().is_some_and(|name| name == ".git");
        Some(if is_dot { listed.common.parent()?.to_owned() } else { listed.common })
    };
    main().unwrap_or(own)
}

/// Follows the line `gitdir: PATH` that linked worktrees and submodules have in place of a folder.
fn read_git_file(file: &Path) -> Result<PathBuf, LocateError> {
    if fs::metadata(file).is_ok_and(|found| found.len() > MAX_GIT_FILE) {
        return Err(broken(file, "it is too long for a `gitdir:` line"));
    }
    let text = fs::read(file).map_err(|error| broken(file, &error.to_string()))?;
    let Some(path) = text.strip_prefix(b"gitdir: ").and_then(as_path) else {
        return Err(broken(file, "it has no `gitdir:` line"));
    };
    let git_dir = file.parent().unwrap_or(file).join(path);
    if is_git_dir(&git_dir) {
        return Ok(git_dir);
    }
    Err(broken(file, &format!("`{}` is not a git folder", git_dir.display())))
}

/// Where a repository's parts are; `top` is known if it was found by its `.git`.
fn repository(git_dir: &Path, top: Option<&Path>) -> Result<Repository, LocateError> {
    let git_dir = real(git_dir)?;
    let common = common_dir(&git_dir);
    let common = if common == git_dir { common } else { real(&common)? };
    let top = match top {
        Some(top) => Some(real(top)?),
        None => top_of(&git_dir),
    };
    Ok(Repository { git_dir, common, top })
}

/// The worktree of a git folder that was reached without it: from inside, or by `GIT_DIR`.
fn top_of(git_dir: &Path) -> Option<PathBuf> {
    if git_dir.file_name().is_some_and(|name| name == ".git") {
        return git_dir.parent().map(Path::to_owned);
    }
    // The folder of a linked worktree names that tree's `.git`.
    let back = fs::read(git_dir.join("gitdir")).ok()?;
    git_dir.join(as_path(&back)?).canonicalize().ok()?.parent().map(Path::to_owned)
}

/// Decides like git: there must be a head, objects and references, the latter two perhaps in the common folder.
fn is_git_dir(folder: &Path) -> bool {
    if folder.join("HEAD").symlink_metadata().is_err() {
        return false;
    }
    let common = common_dir(folder);
    common.join("objects").is_dir() && common.join("refs").is_dir()
}

fn common_dir(git_dir: &Path) -> PathBuf {
    let named = fs::read(git_dir.join("commondir")).ok();
    named.as_deref().and_then(as_path).map_or_else(|| git_dir.to_owned(), |path| git_dir.join(path))
}

fn real(path: &Path) -> Result<PathBuf, LocateError> {
    path.canonicalize().map_err(|error| broken(path, &error.to_string()))
}

fn broken(path: &Path, what: &str) -> LocateError {
    LocateError::BrokenRepository { path: path.to_owned(), what: what.to_owned() }
}

/// The path in a one-line file of git.
fn as_path(line: &[u8]) -> Option<PathBuf> {
    let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))?;
    platform::path_from_bytes(&line[..=end])
}
