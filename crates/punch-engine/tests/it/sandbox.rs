//! A temporary folder with a home of its own, and git without the tester's configuration.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use punch_engine::locate::{LocateError, Location, Surroundings, locate};
use tempfile::TempDir;

pub struct Sandbox {
    root: PathBuf,
    _temp: TempDir,
}

impl Sandbox {
    /// An empty folder.
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        Self { root: temp.path().canonicalize().unwrap(), _temp: temp }
    }

    /// A folder with the repository `p`, which has one commit.
    pub fn with_repository() -> Self {
        let sandbox = Self::new();
        sandbox.git(".", &["init", "-q", "p"]);
        sandbox.commit("p", "a.txt");
        sandbox
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        if relative == "." { self.root.clone() } else { self.root.join(relative) }
    }

    pub fn folder(&self, relative: &str) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub fn file(&self, relative: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn commit(&self, repository: &str, file: &str) {
        self.file(&format!("{repository}/{file}"), "x\n");
        self.git(repository, &["add", "-f", file]);
        self.git(repository, &["commit", "-q", "-m", "x"]);
    }

    /// What git prints; it must succeed.
    pub fn git(&self, cwd: &str, arguments: &[&str]) -> String {
        let output = self.try_git(&self.path(cwd), arguments);
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub fn try_git(&self, cwd: &Path, arguments: &[&str]) -> Output {
        Command::new("git")
            .args(["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", "-c", "user.name=t"])
            .args(["-c", "user.email=t@example.org"])
            .args(arguments)
            .current_dir(cwd)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.root)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CEILING_DIRECTORIES", &self.root)
            .output()
            .unwrap()
    }

    /// Working in a folder of the sandbox, with nothing chosen.
    pub fn around(&self, cwd: &str) -> Surroundings {
        Surroundings {
            cwd: self.path(cwd),
            home: Some(self.root.clone()),
            state_home: Some(self.path(".local/state")),
            git_ceilings: vec![self.root.clone()],
            ..Surroundings::default()
        }
    }

    pub fn locate(&self, cwd: &str) -> Result<Location, LocateError> {
        locate(&self.around(cwd))
    }

    /// Where git itself says that the store belongs; `None` outside git.
    pub fn by_git(&self, cwd: &str) -> Option<(PathBuf, PathBuf)> {
        let cwd = self.path(cwd);
        let ask = |what: &str| {
            let output = self.try_git(&cwd, &["rev-parse", "--path-format=absolute", what]);
            let text = String::from_utf8(output.stdout).unwrap();
            output.status.success().then(|| PathBuf::from(text.trim_end()).canonicalize().unwrap())
        };
        let common = ask("--git-common-dir")?;
        let root = ask("--show-toplevel").unwrap_or_else(|| common.clone());
        Some((common.join("punch"), root))
    }
}
