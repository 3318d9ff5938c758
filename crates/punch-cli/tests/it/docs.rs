//! `docs/cli.md` is what the program says about itself.

use std::{fs, path::Path};

use crate::punch::punch;

const HEAD: &str = "\
# Command line

Made from `punch --help`; a test compares the two (`UPDATE_DOCS=1 cargo test -p punch-cli docs` writes it again).

";

/// After a change of a verb: `UPDATE_DOCS=1 cargo test -p punch-cli docs`.
#[test]
fn the_reference_of_the_command_line_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let wanted = reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert_eq!(written, wanted, "run the test with UPDATE_DOCS=1");
}

/// Every verb says what it does and shows how.
#[test]
fn every_verb_has_examples() {
    for verb in verbs(&help(&[])) {
        let said = help(&[&verb]);
        assert!(said.contains("Examples:\n  "), "`punch {verb} --help` has no examples");
    }
}

fn reference() -> String {
    let mut out = HEAD.to_owned();
    let top = help(&[]);
    out.push_str(&format!("```text\n{}```\n", plain(&top)));
    if let Some(flags) = section(&help(&["list"]), "Everywhere:") {
        out.push_str(&format!("\nEvery verb takes these flags:\n\n```text\n{flags}```\n"));
    }
    for verb in verbs(&top) {
        describe(&[&verb], &mut out);
    }
    out
}

fn describe(path: &[&str], out: &mut String) {
    let said = help(path);
    let everywhere = section(&said, "Everywhere:").map_or(String::new(), |flags| format!("\nEverywhere:\n{flags}"));
    let said = said.replacen(&everywhere, "", 1);
    let marks = "#".repeat(path.len() + 1);
    out.push_str(&format!("\n{marks} punch {}\n\n```text\n{}```\n", path.join(" "), plain(&said)));
    for verb in verbs(&said) {
        describe(&[path, &[verb.as_str()]].concat(), out);
    }
}

fn help(path: &[&str]) -> String {
    let run = punch(&[path, &["--help"]].concat(), "");
    assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""), "{path:?}");
    run.stdout
}

/// Help texts have spaces at line ends; editors would not keep them.
fn plain(text: &str) -> String {
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The lines below a heading, up to the next heading or the end.
fn section(help: &str, heading: &str) -> Option<String> {
    let (_, rest) = help.split_once(&format!("\n{heading}\n"))?;
    let own = |line: &&str| line.is_empty() || line.starts_with(' ');
    let lines: Vec<&str> = rest.lines().take_while(own).collect();
    Some(lines.join("\n").trim_end().to_owned() + "\n")
}

fn verbs(help: &str) -> Vec<String> {
    let listed = section(help, "Commands:").unwrap_or_default();
    let named = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = named.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}
