//! A user with a repository, a home and a state folder, and a canary that must not appear.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::TaskResult;

/// Longer than anything takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// The place of one cell.
pub struct EscapeWorld {
    punch: PathBuf,
    root: PathBuf,
    before: String,
    _folder: TempDir,
}

/// How a program ended.
pub struct ProgramEnd {
    pub exit: Option<i32>,
    pub out: String,
    pub err: String,
}

impl EscapeWorld {
    /// With the repository `repo`: a commit, a file that is staged and one that is changed.
    pub fn new(punch: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
        let root = folder.path().canonicalize().map_err(|cause| cause.to_string())?;
        open_to_all(&root)?;
        let mut world = Self { punch: punch.to_owned(), root, before: String::new(), _folder: folder };
        for name in ["home", "state"] {
            fs::create_dir(world.path(name)).map_err(|cause| cause.to_string())?;
        }
        world.repository("repo")?;
        world.write("repo/staged", "staged\n")?;
        world.git("repo", &["add", "staged"])?;
        world.write("repo/README", "changed\n")?;
        world.before = world.users_state()?;
        Ok(world)
    }

    /// A path in the place.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The file that a command leaves which must not run.
    pub fn canary(&self) -> String {
        self.path("CANARY").display().to_string()
    }

    /// A command that leaves the canary.
    pub fn touch(&self) -> String {
        format!("touch {}", self.canary())
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, name: &str, text: &str) -> TaskResult {
        let path = self.path(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, text)).map_err(|cause| format!("{name}: {cause}"))
    }

    /// A repository with one commit.
    pub fn repository(&self, name: &str) -> TaskResult {
        fs::create_dir_all(self.path(name)).map_err(|cause| cause.to_string())?;
        self.git(name, &["init", "--quiet", "--initial-branch", "main"])?;
        self.write(&format!("{name}/README"), "one\n")?;
        self.git(name, &["add", "--all"])?;
        self.git(name, &["commit", "--quiet", "--message", "one"]).map(drop)
    }

    /// git in a folder; it must succeed.
    pub fn git(&self, folder: &str, arguments: &[&str]) -> Result<String, String> {
        let mut git = self.program("git", folder);
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]);
        let ran = finish(git.args(arguments))?;
        match ran.exit {
            Some(0) => Ok(ran.out.trim_end().to_owned()),
            _ => Err(format!("git {arguments:?}: {}", ran.err)),
        }
    }

    /// `punch` as the user types it in a folder.
    pub fn punch(&self, folder: &str, arguments: &[&str]) -> Result<ProgramEnd, String> {
        self.punch_with(folder, arguments, &[])
    }

    /// `punch` with variables.
    pub fn punch_with(
        &self,
        folder: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<ProgramEnd, String> {
        let mut punch = self.command(folder, arguments);
        punch.envs(variables.iter().copied());
        finish(&mut punch)
    }

    /// `punch`, not yet started.
    pub fn command(&self, folder: &str, arguments: &[&str]) -> Command {
        let mut punch = self.program(&self.punch.display().to_string(), folder);
        punch.args(arguments);
        punch
    }

    /// `punch`, which must succeed.
    pub fn ok(&self, folder: &str, arguments: &[&str]) -> Result<String, String> {
        let ran = self.punch(folder, arguments)?;
        match ran.exit {
            Some(0) => Ok(ran.out),
            _ => Err(format!("punch {arguments:?} ended with {:?}: {}{}", ran.exit, ran.out, ran.err)),
        }
    }

    /// `punch`, which must be refused with this code.
    pub fn refused(&self, folder: &str, arguments: &[&str], variables: &[(&str, &str)], code: &str) -> TaskResult {
        let arguments = [arguments, &["--json"]].concat();
        let ran = self.punch_with(folder, &arguments, variables)?;
        match ran.out.contains(&format!("\"code\":\"{code}\"")) {
            true => Ok(()),
            false => {
                Err(format!("punch {arguments:?} was not refused as `{code}`: {}{}", ran.out.trim(), ran.err.trim()))
            }
        }
    }

    /// A shell script by someone else than the user, in a folder.
    pub fn script(&self, folder: &str, script: &str) -> TaskResult {
        let ran = finish(self.program("sh", folder).args(["-ec", script]))?;
        if ran.exit == Some(0) { Ok(()) } else { Err(format!("the script failed: {}", ran.err)) }
    }

    fn program(&self, program: &str, folder: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.current_dir(self.path(folder)).env_clear().env("PATH", path).env("COLUMNS", "80");
        command.env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        command.env("GIT_CEILING_DIRECTORIES", &self.root).env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.env("PUNCH", &self.punch).env("MAIN", self.path("repo")).env("PLACE", &self.root);
        command.env("CANARY", self.canary());
        command
    }

    /// The user's branch, commit, index and files.
    fn users_state(&self) -> Result<String, String> {
        let mut out = self.git("repo", &["symbolic-ref", "HEAD"])?;
        for ask in [
            &["rev-parse", "HEAD"][..],
            &["ls-files", "--stage"],
            &["status", "--porcelain=v2", "--untracked-files=all"],
            &["diff"],
        ] {
            out.push_str(&self.git("repo", ask)?);
        }
        Ok(out)
    }

    /// Returns whether the canary appeared; an error if the user's branch, index or files changed.
    pub fn verdict(&self) -> Result<bool, String> {
        let now = self.users_state()?;
        if now != self.before {
            return Err(format!("the user's repository changed:\n{}\nbefore:\n{}", now, self.before));
        }
        Ok(self.path("CANARY").symlink_metadata().is_ok())
    }
}

/// Runs it to its end, or ends it when it hangs.
pub fn finish(command: &mut Command) -> Result<ProgramEnd, String> {
    finish_within(PATIENCE, command)
}

/// Runs it to its end, or ends it after this time.
pub fn finish_within(limit: Duration, command: &mut Command) -> Result<ProgramEnd, String> {
    let outputs = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let file = |name: &str| fs::File::create(outputs.path().join(name)).map_err(|cause| cause.to_string());
    let child = command.stdin(Stdio::null()).stdout(file("out")?).stderr(file("err")?).spawn();
    let mut child = child.map_err(|cause| format!("{command:?}: {cause}"))?;
    let end = Instant::now() + limit;
    let exit = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.code(),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
                return Err(format!("`{}` hangs", words.join(" ")));
            }
            Err(cause) => return Err(cause.to_string()),
        }
    };
    let read =
        |name: &str| String::from_utf8_lossy(&fs::read(outputs.path().join(name)).unwrap_or_default()).into_owned();
    Ok(ProgramEnd { exit, out: read("out"), err: read("err") })
}

/// Other users may look at what is below: a closed folder at the top would protect everything.
#[cfg(unix)]
fn open_to_all(folder: &Path) -> TaskResult {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder, mode).map_err(|cause| cause.to_string())
}

#[cfg(not(unix))]
fn open_to_all(_folder: &Path) -> TaskResult {
    Ok(())
}
