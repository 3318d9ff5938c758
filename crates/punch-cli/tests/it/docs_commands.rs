//! Commands in the documentation work. Blocks marked `console` are played in a new project for each page, and what they
//! print is compared with the page; everywhere else, every `punch VERB` must at least be a verb.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::punch::punch;
use crate::world::{PUNCH, World};

/// After a change of what commands print: `UPDATE_DOCS=1 cargo test -p punch-cli docs_commands`.
#[test]
fn commands_in_the_documentation_print_what_it_shows() {
    let mut played = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap().replace("\r\n", "\n");
        let (wanted, commands) = play(&text);
        played += commands;
        if std::env::var_os("UPDATE_DOCS").is_some() && wanted != text {
            fs::write(&page, &wanted).unwrap();
            continue;
        }
        assert_eq!(text, wanted, "{}: run the test with UPDATE_DOCS=1", page.display());
    }
    assert!(played > 20, "only {played} commands were played");
}

#[test]
fn every_verb_in_the_documentation_exists() {
    let mut verbs: BTreeSet<(String, PathBuf)> = BTreeSet::new();
    // The reference is generated from the verbs themselves.
    for page in pages().into_iter().filter(|page| !page.ends_with("docs/cli.md")) {
        let text = fs::read_to_string(&page).unwrap();
        verbs.extend(mentioned(&text).into_iter().map(|verb| (verb, page.clone())));
    }
    let known: BTreeSet<String> = verbs.iter().map(|(verb, _)| verb.clone()).collect();
    let unknown: BTreeSet<String> =
        known.into_iter().filter(|verb| punch(&[verb, "--help"], "").exit != Some(0)).collect();
    let wrong: Vec<String> = verbs
        .into_iter()
        .filter(|(verb, _)| unknown.contains(verb))
        .map(|(verb, page)| format!("{}: punch {verb}", page.display()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The pages of the book. Decisions and the changelog describe earlier versions too.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut out = vec![root.join("README.md")];
    for folder in ["docs", "docs/formats"] {
        let files = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        out.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    out.sort();
    out
}

/// Plays the `console` blocks of a page in a new project. Returns the page with what the commands printed, and their number.
fn play(text: &str) -> (String, usize) {
    let mut world = None;
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    let mut commands = 0;
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if line != "```console" {
            continue;
        }
        let world = world.get_or_insert_with(World::with_git);
        while let Some(line) = lines.next_if(|line| *line != "```") {
            let command = line.strip_prefix("$ ").unwrap_or_else(|| panic!("output without a command: {line}"));
            let mut shown = Vec::new();
            while let Some(line) = lines.next_if(|line| *line != "```" && !line.starts_with("$ ")) {
                shown.push(line.to_owned());
            }
            commands += 1;
            let printed = run(world, command, shown.iter().any(|line| line.starts_with("error:")));
            out.push_str(&format!("$ {command}\n"));
            let printed = if fits(&shown, &printed) { shown } else { printed };
            printed.iter().for_each(|line| out.push_str(&format!("{line}\n")));
        }
    }
    (out, commands)
}

fn run(world: &World, command: &str, fails: bool) -> Vec<String> {
    let mut shell = world.program("sh");
    let own = Path::new(PUNCH).parent().unwrap();
    let path = shell.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, path)| path).unwrap().to_owned();
    let path = std::env::join_paths([own.to_owned()].into_iter().chain(std::env::split_paths(&path))).unwrap();
    for (name, value) in [("GIT_AUTHOR", "you"), ("GIT_COMMITTER", "you")] {
        shell.env(format!("{name}_NAME"), value).env(format!("{name}_EMAIL"), "you@example.org");
    }
    let output = shell.args(["-c", &format!("{{ {command}\n}} 2>&1")]).env("PATH", path).output().unwrap();
    let text = world.hide_paths(&String::from_utf8(output.stdout).unwrap()).replace("$ROOT/p", "~/project");
    let text = text.replace("$ROOT/home", "~");
    assert_eq!(output.status.success(), !fails, "$ {command}\n{text}");
    text.lines().map(str::to_owned).collect()
}

/// Compares line by line. A line `…` stands for any lines, `…` inside a line for any text.
fn fits(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == "…" => (0..=printed.len()).any(|n| fits(rest, &printed[n..])),
        Some((first, rest)) => match printed.split_first() {
            Some((line, more)) => line_fits(first, line) && fits(rest, more),
            None => false,
        },
    }
}

fn line_fits(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = parts.next().and_then(|first| printed.strip_prefix(first)) else { return false };
    let mut open = false;
    for part in parts {
        open = true;
        let Some(at) = rest.rfind(part).filter(|_| !part.is_empty()).or(part.is_empty().then_some(rest.len())) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty() || (open && shown.ends_with('…'))
}

/// The verbs of every `punch VERB` in code: between backticks, and at the beginning of a line of a block.
fn mentioned(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut fence = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fence = !fence;
            continue;
        }
        let blocks = fence || line.starts_with("    ");
        let spans: Vec<&str> = if blocks {
            vec![line.trim().trim_start_matches("$ ")]
        } else {
            line.split('`').skip(1).step_by(2).collect()
        };
        for span in spans {
            let Some(rest) = span.strip_prefix("punch ") else { continue };
            let verb: String = rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            let ends = rest[verb.len()..].chars().next().is_none_or(char::is_whitespace);
            if ends && !verb.is_empty() && !verb.starts_with('-') {
                out.push(verb);
            }
        }
    }
    out
}

#[test]
fn an_ellipsis_stands_for_anything() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(fits(&lines("a\n…\nz"), &lines("a\nb\nc\nz")));
    assert!(fits(&lines("took … ms"), &lines("took 12 ms")));
    assert!(!fits(&lines("took … ms"), &lines("took 12 s")));
    assert!(!fits(&lines("a"), &lines("a\nb")));
}
