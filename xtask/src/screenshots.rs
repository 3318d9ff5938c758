//! `cargo xtask screenshots`: pictures of the real program for the documentation. Plays commands in a scratch project, takes
//! what `punch` prints on a terminal (with `script` of util-linux), and draws it as SVG into `docs/images`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::svg::{CharacterStyle, Text, lines, svg};
use crate::{TaskResult, process};

/// Columns of the pictures.
const COLUMNS: usize = 96;

/// A plan with work in every state: commands that are played before the pictures are taken.
const PLAN: &[&[&str]] = &[
    &["add", "Agree on the file format", "--phase", "Core"],
    &["add", "Write the parser", "--phase", "Core", "--needs", "T-1", "--priority", "1"],
    &["add", "Write the printer", "--phase", "Core", "--needs", "T-1"],
    &["add", "Fuzz the parser", "--phase", "Core", "--needs", "T-2"],
    &["add", "Publish it", "--phase", "Release"],
    &["add", "Write the changelog", "--phase", "Release", "--priority", "2"],
    &["add", "Choose a license", "--phase", "Release"],
    &["add", "Tag 1.0", "--phase", "Release", "--needs", "T-5"],
    &["add", "Read the old format", "--phase", "Core"],
    &["add", "Write a plugin for editors", "--phase", "Release"],
    &["add", "Write the manual", "--phase", "Release"],
    &["start", "T-1"],
    &["done", "T-1", "--evidence", "reviewed by two people"],
    &["claim", "T-2", "--owner", "claude"],
    &["hold", "T-7", "MIT or Apache?"],
    &["start", "T-5"],
    &["fail", "T-5", "--error", "no answer"],
    &["start", "T-5"],
    &["fail", "T-5", "--error", "no answer"],
    &["cancel", "T-9"],
    &["hold", "T-10", "--kind", "parked", "after 1.0"],
    // What needs something that is not done while it is in progress is stalled.
    &["claim", "T-11", "--owner", "codex"],
    &["edit", "T-11", "--add-needs", "T-2"],
    &["install", "claude", "--user", "-y"],
];

/// The pictures: a file name and the command it shows.
const PICTURES: &[(&str, &[&str])] = &[("dashboard", &[])];

/// Draws every picture.
pub fn run() -> TaskResult {
    let punch = process::build_punch()?;
    let root = process::root();
    let scratch = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let project = scratch.path().join("project");
    fs::create_dir(&project).map_err(|cause| cause.to_string())?;
    command(Path::new("git"), scratch.path(), &["init", "--quiet", "."])?;
    for words in PLAN {
        command(&punch, scratch.path(), words)?;
    }
    let images = root.join("docs").join("images");
    fs::create_dir_all(&images).map_err(|cause| cause.to_string())?;
    for (name, words) in PICTURES {
        let typed = ["punch"].iter().chain(words.iter()).copied().collect::<Vec<_>>().join(" ");
        let line = format!("stty cols {COLUMNS} rows 99; {typed}");
        let printed = command(Path::new("script"), scratch.path(), &["-qec", &line, "/dev/null"])?.replace('\r', "");
        let path = images.join(format!("{name}.svg"));
        fs::write(&path, picture(&typed, &printed)).map_err(|cause| format!("{}: {cause}", path.display()))?;
        println!("{}", path.strip_prefix(&root).unwrap_or(&path).display());
    }
    Ok(())
}

/// What a program prints on both streams, run in the scratch project without anything of the user's environment.
fn command(program: &Path, scratch: &Path, words: &[&str]) -> Result<String, String> {
    // On the terminal, `punch` is started by its name.
    let own = process::target()?.join("debug");
    let others = env::var_os("PATH").unwrap_or_default();
    let path =
        env::join_paths([own].into_iter().chain(env::split_paths(&others))).map_err(|cause| cause.to_string())?;
    let output = Command::new(program)
        .args(words)
        .current_dir(scratch.join("project"))
        .env_clear()
        .env("PATH", path)
        .env("HOME", scratch)
        .envs([("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("PAGER", "cat")])
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| format!("{}: {cause}", program.display()))?;
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).map_err(|cause| cause.to_string())
}

/// A picture of a command and what it printed.
fn picture(typed: &str, printed: &str) -> String {
    let mut shown: Vec<Text> =
        vec![vec![(CharacterStyle::bold(Some(2)), "$ ".to_owned()), (CharacterStyle::bold(None), typed.to_owned())]];
    shown.extend(lines(printed.trim_end()));
    svg(&shown, COLUMNS)
}
