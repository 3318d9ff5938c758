//! `cargo xtask screenshots`: pictures of the real program for the documentation. Plays commands in a scratch project, takes
//! what `punch` prints on a terminal (with `script` of util-linux), and draws it as SVG into `docs/images`.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::{Done, process};

/// Columns of the pictures.
const COLUMNS: usize = 96;

/// Size of a character cell and of the frame, in pixels.
const CELL: (f64, f64) = (8.4, 19.0);
const FRAME: f64 = 18.0;

/// A plan with work in every state: commands that are played before the pictures are taken.
const PLAN: &[&[&str]] = &[
    &["add", "Agree on the file format", "--phase", "Core"],
    &["add", "Write the parser", "--phase", "Core", "--needs", "T-1", "--priority", "1"],
    &["add", "Write the printer", "--phase", "Core", "--needs", "T-1"],
    &["add", "Fuzz the parser", "--phase", "Core", "--needs", "T-2"],
    &["add", "Publish to the registry", "--phase", "Release"],
    &["add", "Write the changelog", "--phase", "Release", "--priority", "2"],
    &["add", "Choose a license", "--phase", "Release"],
    &["add", "Tag 1.0", "--phase", "Release", "--needs", "T-4", "--needs", "T-5", "--needs", "T-7"],
    &["start", "T-1"],
    &["done", "T-1", "--evidence", "reviewed by two people"],
    &["claim", "T-2", "--owner", "claude"],
    &["hold", "T-7", "MIT or Apache?"],
    &["start", "T-5"],
    &["fail", "T-5", "--error", "no answer"],
    &["start", "T-5"],
    &["fail", "T-5", "--error", "no answer"],
];

/// The pictures: a file name and the command it shows.
const PICTURES: &[(&str, &[&str])] = &[
    ("dashboard", &[]),
    ("list", &["list", "--all", "--tree"]),
    ("why", &["why", "T-8"]),
    ("refusal", &["done", "T-8"]),
    ("help", &["help"]),
];

/// Draws every picture.
pub fn run() -> Done {
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
        fs::write(&path, svg(&typed, &printed)).map_err(|cause| format!("{}: {cause}", path.display()))?;
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

/// How characters look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    /// One of the terminal's sixteen colors.
    color: Option<u8>,
}

impl Look {
    /// Applies the codes of one escape, as in `1;32`.
    fn apply(&mut self, codes: &str) {
        for code in codes.split(';').map(|code| code.parse::<u8>().unwrap_or(0)) {
            match code {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underline = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underline = false,
                30..=37 => self.color = Some(code - 30),
                90..=97 => self.color = Some(code - 90 + 8),
                39 => self.color = None,
                _ => {}
            }
        }
    }

    fn attributes(self) -> String {
        let mut out = String::new();
        if let Some(color) = self.color {
            let _ = write!(out, " fill=\"{}\"", PALETTE[usize::from(color) % PALETTE.len()]);
        }
        for (on, attribute) in [
            (self.bold, " font-weight=\"bold\""),
            (self.dim, " opacity=\"0.6\""),
            (self.italic, " font-style=\"italic\""),
            (self.underline, " text-decoration=\"underline\""),
        ] {
            if on {
                out.push_str(attribute);
            }
        }
        out
    }
}

/// The sixteen colors, readable on the dark background of the pictures.
const PALETTE: [&str; 16] = [
    "#484f58", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#c9d1d9", "#8b949e", "#ffa198",
    "#7ee787", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#f0f6fc",
];

/// Splits a line with escapes into texts of one look. The look at the end of a line holds for the next one.
fn runs(line: &str, look: &mut Look) -> Vec<(Look, String)> {
    let mut out: Vec<(Look, String)> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        if let Some(escape) = rest.strip_prefix("\u{1b}[") {
            let end = escape.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(escape.len().saturating_sub(1));
            if escape[end..].starts_with('m') {
                look.apply(&escape[..end]);
            }
            rest = escape.get(end + 1..).unwrap_or_default();
            continue;
        }
        let end = rest.find('\u{1b}').filter(|end| *end > 0).unwrap_or(rest.len());
        out.push((*look, rest[..end].replace('\u{1b}', "")));
        rest = &rest[end..];
    }
    out
}

/// A picture of a command and what it printed.
fn svg(typed: &str, printed: &str) -> String {
    let mut prompt = Look { color: Some(2), bold: true, ..Look::default() };
    let mut lines = vec![vec![(prompt, "$ ".to_owned()), (Look { bold: true, ..Look::default() }, typed.to_owned())]];
    prompt = Look::default();
    lines.extend(printed.trim_end().lines().map(|line| runs(line, &mut prompt)));
    let width = |line: &Vec<(Look, String)>| line.iter().map(|(_, text)| text.chars().count()).sum::<usize>();
    let columns = lines.iter().map(width).max().unwrap_or_default().max(COLUMNS);
    let (wide, high) = (columns as f64 * CELL.0 + 2.0 * FRAME, lines.len() as f64 * CELL.1 + 2.0 * FRAME);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.0}\" height=\"{high:.0}\" viewBox=\"0 0 {wide:.0} {high:.0}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\" \
         fill=\"#c9d1d9\">\n"
    );
    for (row, line) in lines.iter().enumerate() {
        let y = FRAME + CELL.1 * (row as f64 + 0.75);
        let mut column = 0;
        for (look, text) in line {
            for (start, words) in chunks(text) {
                let x = FRAME + CELL.0 * (column + start) as f64;
                let length = CELL.0 * words.chars().count() as f64;
                let attributes = look.attributes();
                let _ = writeln!(
                    out,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\"{attributes}>{}</text>",
                    escaped(words)
                );
            }
            column += text.chars().count();
        }
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// Words with the columns they start at. More than one blank separates, so that columns stay aligned in every font.
fn chunks(text: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let words = &rest[blanks..];
        let end = words.find("  ").unwrap_or(words.trim_end().len());
        if end > 0 {
            out.push((text[..at + blanks].chars().count(), &words[..end]));
        }
        at += blanks + end.max(usize::from(blanks == 0));
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_looks() {
        let mut look = Look::default();
        let found = runs("a \u{1b}[1;32mb\u{1b}[0m\u{1b}[2Kc", &mut look);
        let green = Look { bold: true, color: Some(2), ..Look::default() };
        assert_eq!(
            found,
            [(Look::default(), "a ".to_owned()), (green, "b".to_owned()), (Look::default(), "c".to_owned())]
        );
    }

    #[test]
    fn columns_are_kept_apart() {
        assert_eq!(chunks("  a b   ○ c "), [(2, "a b"), (8, "○ c")]);
        assert_eq!(chunks("   "), []);
    }

    #[test]
    fn text_of_a_picture_is_escaped() {
        let picture = svg("punch", "<&>\n");
        assert!(picture.contains("&lt;&amp;&gt;") && picture.ends_with("</svg>\n"), "{picture}");
    }
}
