//! `docs/cli.md` is what the program says about itself.

use std::{fs, path::Path};

use crate::punch::punch;

const HEAD: &str = "\
# Command line

Generated from `punch help`; a test compares the two (`UPDATE_DOCS=1 cargo test -p punch-cli docs` writes it again).

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

/// A command that users type is in one group, one for agents and scripts is in the list for those, and nothing is in both.
#[test]
fn every_command_has_one_place_in_the_overview() {
    let mut verbs = every_verb();
    let count = verbs.len();
    verbs.sort();
    verbs.dedup();
    assert_eq!(verbs.len(), count, "{verbs:?}");
    for reserved in ["watch", "serve", "token", "worker"] {
        let run = punch(&[reserved, "--help"], "");
        assert!(run.exit == Some(2) || verbs.iter().any(|verb| verb == reserved), "`{reserved}` is not another name");
    }
}

/// Every verb says what it does and shows how.
#[test]
fn every_verb_has_examples() {
    for verb in every_verb() {
        let said = help(&[&verb]);
        assert!(said.contains("Examples:\n  "), "`punch {verb} --help` has no examples");
    }
}

/// An example that is too long for a line is hard to copy.
#[test]
fn examples_fit_on_a_line() {
    for verb in every_verb() {
        let examples = section(&help(&[&verb]), "Examples:").unwrap_or_default();
        let broken: Vec<&str> =
            examples.lines().filter(|line| line.starts_with("  ") && !line.contains("punch")).collect();
        assert!(broken.is_empty(), "`punch {verb} --help`: {broken:?}");
    }
}

fn reference() -> String {
    let mut out = HEAD.to_owned();
    for topic in [&["help", "--all"][..], &["help", "options"], &["help", "symbols"], &["help", "filters"]] {
        let said = answer(topic);
        out.push_str(&format!(
            "{}```text\n$ punch {}\n{}```\n",
            if out == HEAD { "" } else { "\n" },
            topic.join(" "),
            plain(&said)
        ));
    }
    for verb in every_verb() {
        describe(&[&verb], &mut out);
    }
    out
}

/// Every command but the older names, in the order of the overview.
fn every_verb() -> Vec<String> {
    let said = answer(&["help", "--all"]);
    let groups = said.split("Older names").next().unwrap_or_default();
    let rows = groups.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    rows.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn describe(path: &[&str], out: &mut String) {
    let said = help(path);
    let marks = "#".repeat(path.len() + 1);
    out.push_str(&format!("\n{marks} punch {}\n\n```text\n{}```\n", path.join(" "), plain(&said)));
    for verb in verbs(&said) {
        describe(&[path, &[verb.as_str()]].concat(), out);
    }
}

fn help(path: &[&str]) -> String {
    answer(&[path, &["--help"]].concat())
}

fn answer(arguments: &[&str]) -> String {
    let run = punch(arguments, "");
    assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""), "{arguments:?}");
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
