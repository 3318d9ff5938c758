//! Reads a command line and its exit code as steps: what it changed and what it checked, with the result of a check only
//! where the exit code of the line is that of the check.

use super::shell::{Pipeline, PipelineJoint, ShellScript};
use super::wrapper::{assignment, program, unwrapped};
use super::{CheckKind, changes, commands};

/// Shells inside shells that are followed.
const DEPTH: usize = 4;

/// Characters of a command that are stored.
const COMMAND: usize = 200;

/// Exit codes of a program that did not run to its end: not executable, not found, interrupted, killed, a closed pipe.
const NOT_RUN: &[i32] = &[126, 127, 130, 137, 141, 143];

/// Commands that do not fail in a way that could be mistaken for a failed check.
const HARMLESS: &[&str] = &[
    "cd", "pushd", "popd", "echo", "printf", "export", "set", "true", ":", "source", ".", "mkdir", "pwd", "date",
    "sleep",
];

/// Something that a command line did, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellStep {
    /// It changed a file; the path is as written, and empty where the words do not name it.
    Changed(String),
    /// The command ran a check.
    Checked(SeenRun),
}

/// A run of a check that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRun {
    /// The kind of check.
    pub kind: CheckKind,
    /// The command, without what is before and after it in its line.
    pub command: String,
    /// Its exit code; `None` if that cannot be known.
    pub exit_code: Option<i32>,
}

/// Reads a line that ended with `exit`, which is `None` if the agent did not report it. `own` are commands that the user
/// counts as checks.
pub fn steps(line: &str, exit: Option<i32>, own: &[String]) -> Vec<ShellStep> {
    let mut out = Vec::new();
    read(line, exit, own, DEPTH, &mut out);
    out
}

fn read(line: &str, exit: Option<i32>, own: &[String], depth: usize, out: &mut Vec<ShellStep>) {
    let script = ShellScript::parse(line);
    let trusted = !script.opaque && !script.parts.iter().any(has_own_path);
    let exit = exit.filter(|_| trusted);
    for (at, part) in script.parts.iter().enumerate() {
        out.extend(changes::of(part).into_iter().map(ShellStep::Changed));
        let modes = Modes::at(&script.parts, at);
        let last = part.commands.len().saturating_sub(1);
        for (place, command) in part.commands.iter().enumerate() {
            let words = unwrapped(&command.words);
            let visible = place == last || modes.pipe_fails;
            let code = || exit.filter(|_| visible).and_then(|exit| code_of(&script.parts, at, exit, own));
            if let Some(inner) = shell_line(words).filter(|_| depth > 0) {
                read(inner, code(), own, depth - 1, out);
            } else if let Some(kind) = commands::kind(&command.words, own) {
                let text = crate::text::clip(&words.join(" "), COMMAND).into_owned();
                // pytest ends with 5 if there was nothing to run.
                let code = code().filter(|code| !(*code == 5 && text.contains("pytest")));
                out.push(ShellStep::Checked(SeenRun { kind, command: text, exit_code: code }));
            }
        }
    }
}

/// How the shell treats failures at one point of a script.
#[derive(Clone, Copy, Default)]
struct Modes {
    /// `set -e`: the script ends with the first failure.
    stops: bool,
    /// `set -o pipefail`: a pipeline fails if one of its commands does.
    pipe_fails: bool,
}

impl Modes {
    fn at(parts: &[Pipeline], at: usize) -> Self {
        let mut modes = Self::default();
        for command in parts[..at].iter().flat_map(|part| &part.commands) {
            let Some((first, args)) = command.words.split_first() else { continue };
            if first != "set" {
                continue;
            }
            for arg in args {
                match arg.as_str() {
                    "pipefail" => modes.pipe_fails = true,
                    "+e" => modes.stops = false,
                    flags if flags.starts_with('-') && !flags.starts_with("--") => modes.stops |= flags.contains('e'),
                    _ => {}
                }
            }
        }
        modes
    }
}

/// The exit code of the pipeline at `at`, given that of the whole line; `None` if the line hides it.
fn code_of(parts: &[Pipeline], at: usize, exit: i32, own: &[String]) -> Option<i32> {
    let part = &parts[at];
    let stops = Modes::at(parts, at).stops;
    let follows = |part: &Pipeline| match part.joint {
        PipelineJoint::And => true,
        PipelineJoint::Then => stops,
        PipelineJoint::Or => false,
    };
    if part.background || part.joint == PipelineJoint::Or || !parts[at + 1..].iter().all(follows) {
        return None;
    }
    let code = match (part.negated, exit) {
        (false, exit) => exit,
        (true, 0) => 1,
        (true, _) => 0,
    };
    if exit == 0 || (part.negated && at + 1 == parts.len()) {
        return Some(code);
    }
    if NOT_RUN.contains(&exit) {
        return None;
    }
    // One of those that run one after the other failed. If it may be another one than the check, nothing is known.
    let joined = |next: &usize| follows(&parts[*next]);
    let first = (1..=at).rev().take_while(joined).last().map_or(at, |first| first - 1);
    let clear = parts[first..].iter().all(|other| other.commands.iter().all(|command| is_clear(&command.words, own)));
    clear.then_some(code)
}

/// Returns true for a command that is a check or cannot fail in its place.
fn is_clear(words: &[String], own: &[String]) -> bool {
    let rest = unwrapped(words);
    let harmless = rest.first().is_none_or(|first| HARMLESS.contains(&first.as_str()));
    harmless || shell_line(rest).is_some() || commands::kind(words, own).is_some() || is_filter(rest)
}

/// Returns true for a program that only shortens what it reads.
fn is_filter(words: &[String]) -> bool {
    words.first().is_some_and(|first| matches!(program(first), "tail" | "head" | "tee" | "cat" | "sort"))
}

/// The line that a shell runs: `bash -lc "…"`.
fn shell_line(words: &[String]) -> Option<&str> {
    let (first, args) = words.split_first()?;
    if !matches!(program(first), "sh" | "bash" | "zsh" | "dash") {
        return None;
    }
    let flag = |arg: &String| arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with('c');
    args.get(args.iter().position(flag)? + 1).map(String::as_str)
}

/// Returns true for a pipeline that looks for programs in an unusual place, which may contain a false one.
fn has_own_path(part: &Pipeline) -> bool {
    let known = |entry: &str| {
        let starts =
            ["$PATH", "${PATH}", "$HOME", "${HOME}", "~", "/usr/", "/opt/", "/bin", "/sbin", "/home/", "/root/"];
        let more = ["/nix/", "/Users/", "/snap/", "$(", "$GOPATH", "$CARGO_HOME", "node_modules/", "./node_modules/"];
        starts.iter().chain(&more).any(|start| entry.starts_with(start)) || entry.contains("/node_modules/.bin")
    };
    let words = part.commands.iter().flat_map(|command| &command.words);
    words.filter_map(|word| assignment(word)).any(|(name, value)| name == "PATH" && !value.split(':').all(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(line: &str, exit: i32) -> Vec<Option<i32>> {
        let checked = |step| match step {
            ShellStep::Checked(run) => Some(run.exit_code),
            ShellStep::Changed(_) => None,
        };
        steps(line, Some(exit), &[]).into_iter().filter_map(checked).collect()
    }

    #[test]
    fn the_exit_code_belongs_to_the_check_or_to_nobody() {
        for (line, exit, expected) in [
            ("cargo test", 0, vec![Some(0)]),
            ("cargo test", 101, vec![Some(101)]),
            ("cd x && cargo test", 101, vec![Some(101)]),
            ("cargo clippy && cargo test", 1, vec![Some(1), Some(1)]),
            ("cargo test && git push", 0, vec![Some(0)]),
            ("cargo test && git push", 1, vec![None]),
            ("npm ci && npm test", 1, vec![None]),
            ("make x; cargo test", 1, vec![Some(1)]),
            ("cargo test; ls", 0, vec![None]),
            ("cargo test || cargo test", 0, vec![None, None]),
            ("true || cargo test", 0, vec![None]),
            ("cargo test | tail", 0, vec![None]),
            ("set -o pipefail && cargo test | tail", 1, vec![Some(1)]),
            ("set -euo pipefail\ncargo test | tail\nls", 0, vec![Some(0)]),
            ("! cargo test", 0, vec![Some(1)]),
            ("! cargo test", 1, vec![Some(0)]),
            ("cargo test &", 0, vec![None]),
            ("cargo test", 127, vec![None]),
            ("bash -c 'cargo test; true'", 0, vec![None]),
            ("bash -c 'sh -c \"cargo test\"' && true", 2, vec![Some(2)]),
            ("pytest", 5, vec![None]),
            ("export PATH=\"$HOME/.cargo/bin:$PATH\"; cargo test", 0, vec![Some(0)]),
            ("export PATH=./bin:$PATH; cargo test", 0, vec![None]),
            ("if true; then cargo test; fi\ncargo test", 0, vec![None]),
        ] {
            assert_eq!(codes(line, exit), expected, "{line} ended with {exit}");
        }
        assert_eq!(steps("cargo test", None, &[]).len(), 1);
    }

    #[test]
    fn steps_come_in_order() {
        let steps = steps("sed -i s/a/b/ x && cargo test -q && rm y", Some(0), &[]);
        let run = SeenRun { kind: CheckKind::Test, command: "cargo test -q".into(), exit_code: Some(0) };
        assert_eq!(steps, [ShellStep::Changed("x".into()), ShellStep::Checked(run), ShellStep::Changed("y".into())]);
    }

    #[test]
    fn any_bytes_are_read() {
        for line in
            ["'", "\"$(", "a\0b", "<<", "<<E", ">", "&&", "| |", "bash -c", "()", "\\", "sh -c 'sh -c \"sh -c a\"'"]
        {
            steps(line, Some(0), &[]);
        }
    }
}
