//! What an agent writes into its lane makes the runner execute nothing, and touches nothing of the user's.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use punch_run::worktree::{Lane, SettleResult, WorktreeError};

use super::sandbox::{Sandbox, git, write};

/// A git configuration that leaves a file behind whenever git runs a program that it names.
fn hostile(folder: &Path, canary: &Path) {
    let touch = format!("touch '{}'", canary.display());
    for (key, value) in [
        ("filter.e.clean", format!("{touch}; cat")),
        ("filter.e.smudge", format!("{touch}; cat")),
        ("filter.e.process", touch.clone()),
        ("core.fsmonitor", touch.clone()),
        ("core.sshCommand", touch.clone()),
        ("diff.external", touch.clone()),
        ("merge.e.driver", format!("{touch}; false")),
        ("gpg.program", touch.clone()),
        ("commit.gpgSign", "true".to_owned()),
    ] {
        git(folder, &["config", "--file", &folder.join("config").display().to_string(), key, &value]);
    }
    let hooks = folder.join("hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in
        ["pre-commit", "post-commit", "post-checkout", "post-merge", "reference-transaction", "post-index-change"]
    {
        fs::write(hooks.join(hook), format!("#!/bin/sh\n{touch}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(hooks.join(hook), mode).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    let done = std::process::Command::new("cp").arg("-R").arg(from).arg(to).status().unwrap();
    assert!(done.success());
}

type Trick = fn(&Sandbox, &Lane, &Path);

/// Where `.git` of a lane can lead.
const LINKS: &[(&str, Trick)] = &[
    ("the user's git folder", |sandbox, lane, _| {
        write(lane, ".git", &format!("gitdir: {}\n", sandbox.root().join(".git").display()));
    }),
    ("another repository", |sandbox, lane, canary| {
        let other = sandbox.lanes_folder().join("other");
        fs::create_dir_all(&other).unwrap();
        git(&other, &["init", "-q"]);
        hostile(&other.join(".git"), canary);
        write(lane, ".git", &format!("gitdir: {}\n", other.join(".git").display()));
    }),
    ("a copy with filters inside the lane", |sandbox, lane, canary| {
        let copied = lane.path.join(".copy");
        copy(&sandbox.root().join(".git"), &copied);
        hostile(&copied, canary);
        fs::write(copied.join("HEAD"), format!("ref: refs/heads/{}\n", lane.branch)).unwrap();
        write(lane, ".git", "gitdir: .copy\n");
    }),
    ("a copy in place of the link", |sandbox, lane, canary| {
        fs::remove_file(lane.path.join(".git")).unwrap();
        copy(&sandbox.root().join(".git"), &lane.path.join(".git"));
        hostile(&lane.path.join(".git"), canary);
    }),
    ("a symbolic link", |sandbox, lane, _| {
        fs::remove_file(lane.path.join(".git")).unwrap();
        symlink(sandbox.root().join(".git"), lane.path.join(".git")).unwrap();
    }),
    ("the git folder of another lane", |sandbox, lane, _| {
        let names = fs::read_dir(sandbox.root().join(".git/worktrees")).unwrap();
        let other = names.map(|entry| entry.unwrap().path()).find(|path| !path.ends_with(&lane.name)).unwrap();
        write(lane, ".git", &format!("gitdir: {}\n", other.display()));
    }),
];

#[test]
fn a_lane_that_leads_elsewhere_is_refused_and_nothing_of_it_runs() {
    for (what, trick) in LINKS {
        let sandbox = Sandbox::new();
        let canary = sandbox.lanes_folder().with_file_name("canary");
        let lanes = sandbox.begin();
        lanes.open("other").unwrap();
        let lane = lanes.open("a").unwrap();
        fs::write(sandbox.root().join("staged"), "mine\n").unwrap();
        sandbox.git(&["add", "staged"]);
        let before = (sandbox.users_state(), sandbox.git(&["rev-parse", &lane.branch]));
        write(&lane, ".gitattributes", "* filter=e merge=e\n");
        write(&lane, "work", "x\n");
        trick(&sandbox, &lane, &canary);
        let refused = lanes.settle(&lane, "work").unwrap_err();
        assert!(matches!(refused, WorktreeError::Relinked { .. }), "{what}: {refused}");
        assert_eq!(lanes.open("a").unwrap_err().code(), "lane_relinked", "{what}");
        assert_eq!(lanes.refresh(&lane).unwrap_err().code(), "lane_relinked", "{what}");
        let left = lanes.close(&lane, "work").unwrap();
        assert_eq!(left.folder.as_ref(), Some(&lane.path), "{what}: the work stays to be looked at");
        assert!(!canary.exists(), "{what}: a program ran");
        assert_eq!((sandbox.users_state(), sandbox.git(&["rev-parse", &lane.branch])), before, "{what}");
        // As the hint says.
        let dot = lane.path.join(".git");
        if dot.is_dir() && !dot.is_symlink() {
            fs::remove_dir_all(&dot).unwrap();
        } else {
            fs::remove_file(&dot).unwrap();
        }
        sandbox.git(&["worktree", "repair"]);
        assert!(matches!(lanes.settle(&lane, "work").unwrap(), SettleResult::Ready { .. }), "{what}");
    }
}

/// Everything else that an agent can write while the link stays as it is.
#[test]
fn attributes_and_settings_of_a_lane_make_nothing_run() {
    let sandbox = Sandbox::new();
    let canary = sandbox.lanes_folder().with_file_name("canary");
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    let before = sandbox.users_state();
    write(&lane, ".gitattributes", "* filter=e merge=e diff=e\n");
    write(&lane, ".gitconfig", &format!("[filter \"e\"]\n\tclean = touch '{}'\n", canary.display()));
    write(&lane, ".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c touch\n\tupdate = !touch canary\n");
    write(&lane, ".githooks/pre-commit", "#!/bin/sh\ntouch canary\n");
    write(&lane, "work", "x\n");
    assert!(matches!(lanes.settle(&lane, "work").unwrap(), SettleResult::Ready { .. }));
    assert!(!canary.exists() && !lane.path.join("canary").exists());
    assert_eq!(sandbox.users_state(), before);
}

/// The git folder of the lane belongs to the repository, but its `commondir` decides which configuration counts.
#[test]
fn another_common_folder_is_not_followed() {
    let sandbox = Sandbox::new();
    let canary = sandbox.lanes_folder().with_file_name("canary");
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    let copied: PathBuf = lane.path.join(".copy");
    copy(&sandbox.root().join(".git"), &copied);
    hostile(&copied, &canary);
    let own = lanes.folders(&lane).unwrap().own;
    fs::write(own.join("commondir"), format!("{}\n", copied.display())).unwrap();
    write(&lane, ".gitattributes", "* filter=e\n");
    write(&lane, "work", "x\n");
    lanes.settle(&lane, "work").unwrap();
    assert!(!canary.exists());
}

/// git asks the repository inside a submodule for its status.
#[test]
fn a_submodule_with_another_git_folder_is_held_and_not_asked() {
    let sandbox = Sandbox::new();
    let library = sandbox.lanes_folder().with_file_name("library");
    fs::create_dir_all(&library).unwrap();
    git(&library, &["init", "-q"]);
    fs::write(library.join("lib.txt"), "one\n").unwrap();
    git(&library, &["add", "."]);
    git(&library, &["commit", "-q", "-m", "one"]);
    let from = library.display().to_string();
    let with_files = ["-c", "protocol.file.allow=always", "submodule", "--quiet"];
    sandbox.git(&[&with_files[..], &["add", &from, "lib"]].concat());
    sandbox.commit("with a submodule");
    let canary = sandbox.lanes_folder().with_file_name("canary");
    let lanes = sandbox.begin();
    let lane = lanes.open("a").unwrap();
    git(&lane.path, &[&with_files[..], &["update", "--init"]].concat());
    // The one that git made may be asked.
    assert!(matches!(lanes.settle(&lane, "work").unwrap(), SettleResult::Nothing { .. }));
    let inside = lane.path.join("lib");
    let modules = git(&inside, &["rev-parse", "--absolute-git-dir"]);
    fs::remove_file(inside.join(".git")).unwrap();
    copy(Path::new(&modules), &inside.join(".git"));
    let config = inside.join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    let lines = text.lines().filter(|line| !line.contains("worktree"));
    fs::write(&config, lines.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    hostile(&inside.join(".git"), &canary);
    fs::write(inside.join(".gitattributes"), "* filter=e\n").unwrap();
    fs::write(inside.join("lib.txt"), "two\n").unwrap();
    let SettleResult::Held(held) = lanes.settle(&lane, "work").unwrap() else { panic!("not held") };
    assert_eq!(held.paths, ["lib"]);
    assert!(!canary.exists(), "a program ran");
}
