//! Commands in the documentation work. Blocks marked `console` are played in a new project for each page, and what they
//! print is compared with the page; everywhere else, every `punch …` must at least name a verb and flags that exist.

use std::collections::{BTreeMap, BTreeSet};
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
    let mut commands: BTreeMap<Vec<String>, Vec<PathBuf>> = BTreeMap::new();
    // The reference is generated from the verbs themselves.
    for page in pages().into_iter().filter(|page| !page.ends_with("docs/cli.md")) {
        let text = fs::read_to_string(&page).unwrap();
        mentioned(&text).into_iter().for_each(|command| commands.entry(command).or_default().push(page.clone()));
    }
    assert!(commands.len() > 100, "only {} commands were found", commands.len());
    let world = World::new();
    let wrong: Vec<String> = commands
        .iter()
        .filter_map(|(words, pages)| Some(format!("{pages:?}: punch {}: {}", words.join(" "), problem(&world, words)?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Older names still work, but the documentation must not teach them.
#[test]
fn documentation_and_pictures_use_current_names() {
    let help = punch(&["help", "--all"], "").stdout;
    let (_, older) = help.split_once("\nOlder names\n").unwrap();
    let older = older.lines().take_while(|line| line.starts_with("  "));
    let older = older.filter_map(|line| line.split_once(" now ")).flat_map(|(names, _)| names.split([',', ' ']));
    let older: BTreeSet<&str> = older.filter(|name| !name.is_empty()).collect();
    assert!(older.contains("why-stop") && older.contains("finish"), "{older:?}");
    let mut wrong = Vec::new();
    for page in pages().into_iter().filter(|page| !page.ends_with("docs/cli.md")) {
        let used = mentioned(&fs::read_to_string(&page).unwrap());
        // The line that `punch replay` reads is printed only under the older name.
        let used = used.into_iter().filter(|words| *words != ["why-stop", "--line"]);
        let used = used.filter(|words| older.contains(words[0].as_str()));
        wrong.extend(used.map(|words| format!("{}: punch {}", page.display(), words.join(" "))));
    }
    let pages: String = pages().iter().map(|page| fs::read_to_string(page).unwrap()).collect();
    let folder = root().join("docs/images");
    for picture in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = picture.file_name().unwrap().to_str().unwrap().to_owned();
        if !pages.contains(&format!("images/{name})")) {
            wrong.push(format!("{name}: no page shows it"));
        }
        if !name.ends_with(".svg") {
            continue;
        }
        let drawn = fs::read_to_string(&picture).unwrap();
        // Texts between tags; each run of one color is a tag of its own.
        let texts: Vec<&str> = drawn.split('<').filter_map(|tag| tag.split_once('>')).map(|(_, text)| text).collect();
        for rest in texts.join(" ").split("punch ").skip(1) {
            let verb: String = rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            if older.contains(verb.as_str()) {
                wrong.push(format!("{name}: punch {verb}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Says what is wrong with the arguments of a command, without running it: the parser reads everything before `--help`.
fn problem(world: &World, words: &[String]) -> Option<String> {
    let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
    arguments.push("--help");
    let run = world.punch(&arguments);
    // A sentence may name a flag without its value, or with a placeholder for it.
    let placeholder = ["a value is required for", "invalid value `", "invalid value '"];
    // `note` takes everything after the todo as its text, and there is no todo here.
    let is_text = words[0] == "note" && run.stderr.contains("no todo");
    let fits = run.exit == Some(0) || is_text || placeholder.iter().any(|text| run.stderr.contains(text));
    (!fits).then_some(run.stderr)
}

/// The pages of the book. Decisions and the changelog describe earlier versions too.
fn pages() -> Vec<PathBuf> {
    let root = root();
    let mut out = vec![root.join("README.md")];
    for folder in ["docs", "docs/formats"] {
        let files = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        out.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    out.sort();
    out
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
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

/// The arguments of every `punch …` in code: between backticks, and at the beginning of a line of a block.
fn mentioned(text: &str) -> Vec<Vec<String>> {
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
        out.extend(spans.into_iter().filter_map(|span| span.strip_prefix("punch ")).map(words));
    }
    out.retain(|words| {
        words.first().is_some_and(|verb| verb.starts_with(|c: char| c.is_ascii_lowercase() || c == '-'))
    });
    out
}

/// Splits a command as a shell does, up to a comment, an operator, `--` or an ellipsis.
fn words(command: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = command.trim_start();
    while let Some(first) = rest.chars().next().filter(|c| !"#|&;><()[".contains(*c)) {
        let mut word = String::new();
        let mut quote = None;
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            match quote {
                Some(open) if c == open => quote = None,
                None if c == '\'' || c == '"' => quote = Some(c),
                None if c.is_whitespace() || ";|".contains(c) => {
                    end = at;
                    break;
                }
                _ => word.push(c),
            }
        }
        if word == "--" || (word.contains('…') && !"'\"".contains(first)) {
            break;
        }
        out.push(word);
        rest = rest[end..].trim_start();
    }
    out
}

#[test]
fn commands_are_split_as_a_shell_does() {
    assert_eq!(words("add 'two words' --needs T-3   # why"), ["add", "two words", "--needs", "T-3"]);
    assert_eq!(words("keep-going on|off|pause --session ID"), ["keep-going", "on"]);
    assert_eq!(words("install AGENT…"), ["install"]);
    assert_eq!(
        mentioned("`punch list -n 3` and punch\n```sh\npunch add \"x y\" && punch\n```"),
        [vec!["list", "-n", "3"], vec!["add", "x y"]]
    );
}

#[test]
fn an_ellipsis_stands_for_anything() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(fits(&lines("a\n…\nz"), &lines("a\nb\nc\nz")));
    assert!(fits(&lines("took … ms"), &lines("took 12 ms")));
    assert!(!fits(&lines("took … ms"), &lines("took 12 s")));
    assert!(!fits(&lines("a"), &lines("a\nb")));
}
