//! Stores on a server. Their address comes from the user: a flag, a variable, or the user's own file of servers, which names
//! them by repository. Nothing in a project can redirect its store.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use punch_core::hash::fnv1a;
use punch_store::{create_own_folder, has_password, read_own, replace_file};
use serde::{Deserialize, Serialize};

use super::git::{Repository, main_root};
use super::{IN_GIT, IN_TREE, LocateError, Location, LocationRule, Surroundings, usable};

/// Bytes of the file of servers.
const LARGEST: u64 = 1024 * 1024;

/// A project in a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPlace {
    /// `postgres://…`, without a password.
    pub address: String,
    /// The name of the project.
    pub project: String,
}

impl ServerPlace {
    /// The identity of the place for this user: approvals are stored under it.
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
    let mut known = match read_own(file, LARGEST) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other)?,
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
    if has_password(address) {
        return Err(LocateError::Password);
    }
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
        kind: LocationRule::Server,
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
    let bytes = match read_own(file, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LocateError::Unreadable { path: file.clone(), cause: error.to_string() }),
    };
    let known: BTreeMap<String, ServerPlace> = serde_json::from_slice(&bytes)
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::locate::locate;

    fn around(folder: &Path) -> Surroundings {
        let home = Some(folder.to_owned());
        let servers = Some(folder.join("config/servers.json"));
        Surroundings {
            cwd: folder.join("shop"),
            home,
            servers,
            git_ceilings: vec![folder.to_owned()],
            ..Surroundings::default()
        }
    }

    #[test]
    fn a_server_comes_from_the_flag_the_variable_or_the_users_own_file() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("shop/deep")).unwrap();
        let plain = around(&root);
        assert_eq!(locate(&plain).unwrap().server, None);
        let place = |address: &str, project: &str| ServerPlace { address: address.into(), project: project.into() };
        record_server(plain.servers.as_ref().unwrap(), &plain.cwd, &place("postgres://db/a", "team")).unwrap();
        let found = locate(&plain).unwrap();
        assert_eq!(
            (found.kind, found.exists, &found.server),
            (LocationRule::Server, true, &Some(place("postgres://db/a", "team")))
        );
        assert!(!found.dir.exists(), "nothing is made by looking");
        let deep = Surroundings { cwd: root.join("shop/deep"), ..plain.clone() };
        assert_eq!(locate(&deep).unwrap().server, found.server, "folders below use it too");
        let named = Surroundings { store_env: Some("postgres://db/b".into()), ..plain.clone() };
        assert_eq!(locate(&named).unwrap().server, Some(place("postgres://db/b", "shop")), "named after the folder");
        let named =
            Surroundings { project_env: Some("x".into()), store_flag: Some("postgresql://db/c".into()), ..named };
        assert_eq!(locate(&named).unwrap().server, Some(place("postgresql://db/c", "x")));
        let elsewhere = Surroundings { cwd: root.clone(), ..plain };
        assert_eq!(locate(&elsewhere).unwrap().server, None);
    }

    #[test]
    #[cfg(unix)]
    fn a_file_of_servers_that_is_a_link_a_pipe_or_too_large_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let around = around(&folder.path().canonicalize().unwrap());
        let file = around.servers.clone().unwrap();
        fs::create_dir_all(&around.cwd).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let pipe = || rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let link = || std::os::unix::fs::symlink("/dev/null", &file).unwrap();
        let large = || fs::write(&file, " ".repeat(usize::try_from(LARGEST).unwrap() + 1)).unwrap();
        let place = ServerPlace { address: "postgres://db/a".into(), project: "team".into() };
        for make in [&pipe as &dyn Fn(), &link, &large] {
            make();
            assert!(matches!(locate(&around), Err(LocateError::Unreadable { .. })), "{:?}", locate(&around));
            assert!(record_server(&file, &around.cwd, &place).is_err());
            fs::remove_file(&file).unwrap();
        }
    }

    #[test]
    fn an_address_with_a_password_is_refused_and_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("shop")).unwrap();
        for address in
            ["postgres://ann:hush@db/a", "postgres://ann:hu/sh@db/hush", "postgres://db/a?schema=x&password=hush"]
        {
            let given = Surroundings { store_env: Some(address.into()), ..around(folder.path()) };
            let error = locate(&given).unwrap_err();
            assert_eq!(error.code(), "store_address");
            assert!(!format!("{} {} {error:?}", error.message(), error.hint()).contains("hush"));
            // An earlier version may have recorded it.
            let around = around(folder.path());
            let place = ServerPlace { address: address.into(), project: "team".into() };
            record_server(around.servers.as_ref().unwrap(), &around.cwd, &place).unwrap();
            assert_eq!(locate(&around).unwrap_err().code(), "store_address");
        }
    }
}
