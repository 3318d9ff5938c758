//! Where the store of a project lives. Finding it writes nothing and, in an ordinary repository, starts no process:
//! every command pays for this. There is no fallback to a second place: what cannot be used is an error that names
//! the path and the way out.

mod create;
mod error;
mod folder;
mod git;
mod head;
mod server;

use std::path::{Path, PathBuf};

pub use error::LocateError;
use folder::{DATABASE, is_store, usable};
use git::Repository;
pub use git::main_root;
pub(crate) use head::head_in;
pub use head::{head_commit, is_work_tree};
pub use server::{ServerPlace, is_server, record_server};

/// The name of a store folder beside the code.
const IN_TREE: &str = ".punch";

/// The name of a store folder inside git's own.
const IN_GIT: &str = "punch";

/// All that decides where the store lives. The caller reads it from the process; paths may be relative to `cwd`,
/// which is absolute itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The working folder.
    pub cwd: PathBuf,
    /// The user's home: outside git, stores above it are not looked for.
    pub home: Option<PathBuf>,
    /// `XDG_STATE_HOME`, else `.local/state` in the home folder. Copies of stores go there.
    pub state_home: Option<PathBuf>,
    /// `PUNCH_STORE`; empty counts as not given.
    pub store_env: Option<PathBuf>,
    /// `--store`.
    pub store_flag: Option<PathBuf>,
    /// The user's file that names servers by repository.
    pub servers: Option<PathBuf>,
    /// `PUNCH_PROJECT`: the name of the project on a server.
    pub project_env: Option<String>,
    /// `GIT_DIR`, which git sets for its hooks.
    pub git_dir_env: Option<PathBuf>,
    /// `GIT_COMMON_DIR`.
    pub git_common_dir_env: Option<PathBuf>,
    /// `GIT_WORK_TREE`.
    pub git_work_tree_env: Option<PathBuf>,
    /// `GIT_CEILING_DIRECTORIES`, split: the search for a repository ends below these.
    pub git_ceilings: Vec<PathBuf>,
}

punch_core::words! {
    /// The rule that chose the place.
    pub enum LocationRule {
        /// In the common git folder, shared by all worktrees.
        Git = "git",
        /// Beside the code of a git repository.
        InTree = "in-tree",
        /// Outside git.
        Outside = "outside",
        /// Given by a flag or the environment.
        Given = "given",
        /// On a server.
        Server = "server",
    }
}

impl LocationRule {
    /// Explains in a sentence why the store is there and what follows from it.
    pub const fn why(self) -> &'static str {
        match self {
            Self::Git => "inside .git: shared by all worktrees, safe from `git clean` and `git stash`, never committed",
            Self::InTree => "beside the code, which suits sandboxes that protect `.git`; git ignores it",
            Self::Outside => "in this folder, which is in no git repository; folders below use it too",
            Self::Given => "where `--store` or PUNCH_STORE says",
            Self::Server => "on a database server: everyone who can write to that database shares it",
        }
    }
}

/// The place of a store, which need not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The folder of the store.
    pub dir: PathBuf,
    /// The database in it.
    pub database: PathBuf,
    /// The project's configuration in it.
    pub config: PathBuf,
    /// The rule that led to this place.
    pub kind: LocationRule,
    /// Whether there is a database.
    pub exists: bool,
    /// The top of the worktree, or without one the parent of the store folder: distinguishes worktrees that share a
    /// store.
    pub project_root: PathBuf,
    /// The server that holds the plans. `dir` then holds what belongs to this clone, and there is no file at `database`.
    pub server: Option<ServerPlace>,
}

impl Location {
    /// The store as messages name it: its path, or its address.
    pub fn shown(&self) -> String {
        match &self.server {
            Some(place) => format!("{}, project {}", place.address, place.project),
            None => self.database.display().to_string(),
        }
    }

    /// Returns true if there is a database now: `exists` says whether there was one when the place was found.
    pub fn has_database(&self) -> bool {
        self.server.is_some() || self.database.exists()
    }
}

/// Finds the place of the store: the flag, else the environment, else the server in the user's own file, else `.punch/` in the worktree, else `punch/` in
/// the common git folder; outside git the nearest `.punch/` not above the home folder, else one in `cwd`.
///
/// Two stores for one worktree are an error, not a choice by rank: one of them would silently stop being used.
pub fn locate(around: &Surroundings) -> Result<Location, LocateError> {
    if let Some(given) = given(around)? {
        return Ok(given);
    }
    let repository = git::find(around)?;
    if let Some(recorded) = server::recorded(around, repository.as_ref())? {
        return Ok(recorded);
    }
    match repository {
        Some(repository) => in_git(around, &repository),
        None => outside(around),
    }
}

/// The place that `init --in-tree` makes: `.punch/` at the top of the worktree, or in `cwd` outside git.
///
/// Refused where a store in the git folder exists already.
pub fn locate_in_tree(around: &Surroundings) -> Result<Location, LocateError> {
    let Some(repository) = git::find(around)? else {
        let dir = around.cwd.join(IN_TREE);
        usable(&dir)?;
        return location(dir, LocationRule::Outside, around.cwd.clone());
    };
    let Some(top) = &repository.top else {
        return Err(LocateError::NoWorkTree { git_dir: repository.git_dir });
    };
    let dir = top.join(IN_TREE);
    if usable(&dir)? {
        refuse_tracked(&repository, &dir)?;
    }
    refuse_second(&repository, &dir)?;
    location(dir, LocationRule::InTree, top.clone())
}

fn given(around: &Surroundings) -> Result<Option<Location>, LocateError> {
    let env = around.store_env.as_deref().filter(|path| !path.as_os_str().is_empty());
    let Some(path) = around.store_flag.as_deref().or(env) else { return Ok(None) };
    if path.as_os_str().is_empty() {
        return Err(LocateError::EmptyPath);
    }
    if let Some(address) = path.to_str().filter(|_| is_server(path)) {
        let repository = git::find(around).ok().flatten();
        return server::location(around, repository.as_ref(), address, None).map(Some);
    }
    let mut dir = around.cwd.join(path);
    // People name the file they see.
    if dir.file_name().is_some_and(|name| name == DATABASE) {
        dir.pop();
    }
    // Chosen by the user, so a link is followed and the owner does not matter here; one spelling for one store keeps
    // its copy findable.
    let dir = dir.canonicalize().unwrap_or(dir);
    if dir.exists() && !dir.is_dir() {
        return Err(LocateError::NotAFolder { path: dir });
    }
    // A broken repository around an explicitly chosen store is not this command's problem.
    let top = git::find(around).ok().flatten().map(|repository| repository.root().to_owned());
    let root = top.or_else(|| dir.parent().map(Path::to_owned)).unwrap_or_else(|| dir.clone());
    location(dir, LocationRule::Given, root).map(Some)
}

fn in_git(around: &Surroundings, repository: &Repository) -> Result<Location, LocateError> {
    let root = repository.root().to_owned();
    let candidates = repository.folders(&around.cwd);
    if let Some(dir) = nearest(candidates.iter().map(PathBuf::as_path))? {
        refuse_tracked(repository, &dir)?;
        refuse_second(repository, &dir)?;
        return location(dir, LocationRule::InTree, root);
    }
    let dir = repository.common.join(IN_GIT);
    usable(&dir)?;
    location(dir, LocationRule::Git, root)
}

fn outside(around: &Surroundings) -> Result<Location, LocateError> {
    // The working folder comes without links, the home folder as it was written.
    let home = around.home.as_ref().map(|home| home.canonicalize().unwrap_or_else(|_| home.clone()));
    let above_home = |folder: &Path| {
        home.as_ref().is_some_and(|home| around.cwd.starts_with(home) && folder != home && home.starts_with(folder))
    };
    let folders = around.cwd.ancestors().take_while(|folder| !above_home(folder));
    let dir = nearest(folders)?.unwrap_or_else(|| around.cwd.join(IN_TREE));
    let root = dir.parent().unwrap_or(&around.cwd).to_owned();
    location(dir, LocationRule::Outside, root)
}

/// The first store folder beside the code.
fn nearest<'a>(mut folders: impl Iterator<Item = &'a Path>) -> Result<Option<PathBuf>, LocateError> {
    folders
        .find_map(|folder| {
            let dir = folder.join(IN_TREE);
            match usable(&dir) {
                Ok(true) => Some(Ok(dir)),
                Ok(false) => None,
                Err(error) => Some(Err(error)),
            }
        })
        .transpose()
}

/// A tracked folder came with the repository, from its author.
fn refuse_tracked(repository: &Repository, dir: &Path) -> Result<(), LocateError> {
    if repository.tracks(dir)? { Err(LocateError::Tracked { dir: dir.to_owned() }) } else { Ok(()) }
}

fn refuse_second(repository: &Repository, in_tree: &Path) -> Result<(), LocateError> {
    let git = repository.common.join(IN_GIT);
    if is_store(&git)? { Err(LocateError::TwoStores { in_tree: in_tree.to_owned(), git }) } else { Ok(()) }
}

fn location(dir: PathBuf, kind: LocationRule, project_root: PathBuf) -> Result<Location, LocateError> {
    let exists = is_store(&dir)?;
    Ok(Location {
        database: dir.join(DATABASE),
        config: dir.join("config.toml"),
        kind,
        exists,
        project_root,
        server: None,
        dir,
    })
}
