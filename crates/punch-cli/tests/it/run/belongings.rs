//! What a user has in a worktree, as one text that can be compared.

use std::fs;
use std::path::Path;

use crate::world::World;

/// Everything of the user's in a worktree that a run could harm. Files that agents make outside of lanes are left out.
pub fn belongings(world: &World, tree: &Path) -> String {
    let git = |arguments: &[&str]| world.git_in(tree, &[&["--no-optional-locks"], arguments].concat());
    let index = world.git_in(tree, &["rev-parse", "--git-path", "index"]);
    let index = fs::read(tree.join(index.trim())).unwrap_or_default();
    let ours =
        |line: &&str| !line.contains("made-") && !line.contains("refs/heads/punch/") && !line.contains("refs/lanes/");
    let kept = |text: String| text.lines().filter(ours).map(|line| format!("{line}\n")).collect::<String>();
    let status = kept(git(&["status", "--porcelain=v2", "--branch", "--untracked-files=all", "--ignored"]));
    let refs = kept(git(&["for-each-ref"]));
    let mut files = Vec::new();
    list(tree, &mut files);
    format!("{status}{refs}{index:?}\n{}", files.join("\n"))
}

fn list(folder: &Path, out: &mut Vec<String>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            _ if name == ".git" || name.starts_with("made-") => {}
            true => list(&path, out),
            false => out.push(format!("{} {:?}", path.display(), fs::read(&path).unwrap())),
        }
    }
}
