//! Stores on a server. Their address comes from the user: a flag, a variable, or the user's own file of servers, which names
//! them by repository. Nothing in a project can redirect its store.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use punch_core::hash::fnv1a;
use punch_store::{create_own_folder, replace_file};
use serde::{Deserialize, Serialize};

use super::git::{Repository, main_root};
use super::{IN_GIT, IN_TREE, Kind, LocateError, Location, Surroundings, usable};

/// A project in a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPlace {
    /// `postgres://…`, without a password.
    pub address: String,
    /// The name of the project.
    pub project: String,
}

impl ServerPlace {
    /// What identifies the place to this user: approvals are kept under it.
    pub fn id(&self) -> String {
        format!("{}#{}", self.address, self.project)
    }
}

/// Returns true if a store is named by the address of a server.
pub fn is_server(store: &Path) -> bool {
    store.to_str().is_some_and(|text| text.starts_with("postgres://") || text.starts_with("postgresql://"))
}

/// Records in the user's file that the repository around `root` keeps its plans on a server.
pub fn record_server(file: &Path, root: &Path, place: &ServerPlace) -> io::Result<()> {
    let mut known = match fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text).map_err(io::Error::other)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
        Err(error) => return Err(error),
    };
    known.insert(main_root(root).to_string_lossy().into_owned(), place.clone());
    let text = serde_json::to_string_pretty(&known).map_err(io::Error::other)?;
    create_own_folder(file.parent().unwrap_or(file))?;
    replace_file(file, format!("{text}\n").as_bytes(), 0o600)
}

/// The location of a store on a server: what belongs to this clone stays beside it.
pub(super) fn location(
    around: &Surroundings,
    repository: Option<&Repository>,
    address: &str,
    project: Option<String>,
) -> Result<Location, LocateError> {
    let root = repository.map_or_else(|| around.cwd.clone(), |repository| repository.root().to_owned());
    let project = project.or_else(|| around.project_env.clone()).unwrap_or_else(|| default_project(&root));
    let place = ServerPlace { address: address.to_owned(), project };
    let base = match (repository, &around.state_home) {
        (Some(repository), _) => repository.common.join(IN_GIT),
        (None, Some(state)) => state.join("punch").join("clones").join(hash(&root.to_string_lossy())),
        (None, None) => root.join(IN_TREE),
    };
    usable(&base)?;
    let dir = base.join("servers").join(hash(&place.id()));
    Ok(Location {
        database: dir.join(super::DATABASE),
        config: base.join("config.toml"),
        kind: Kind::Server,
        exists: true,
        project_root: root,
        server: Some(place),
        dir,
    })
}

/// The server that the user's file names for this repository or folder.
pub(super) fn recorded(
    around: &Surroundings,
    repository: Option<&Repository>,
) -> Result<Option<Location>, LocateError> {
    let Some(file) = &around.servers else { return Ok(None) };
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LocateError::Unreadable { path: file.clone(), cause: error.to_string() }),
    };
    let known: BTreeMap<String, ServerPlace> = serde_json::from_str(&text)
        .map_err(|error| LocateError::Unreadable { path: file.clone(), cause: error.to_string() })?;
    let folders: Vec<PathBuf> = match repository {
        Some(repository) => vec![main_root(repository.root())],
        None => around.cwd.ancestors().map(Path::to_owned).collect(),
    };
    let found = folders.iter().find_map(|folder| known.get(&*folder.to_string_lossy()));
    let Some(ServerPlace { address, project }) = found else { return Ok(None) };
    let project = around.project_env.clone().unwrap_or_else(|| project.clone());
    location(around, repository, address, Some(project)).map(Some)
}

/// The name of the repository: that of the folder of its main worktree.
fn default_project(root: &Path) -> String {
    let main = main_root(root);
    main.file_name().map_or_else(|| "main".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn hash(text: &str) -> String {
    format!("{:016x}", fnv1a(text.bytes()))
}
