//! Programs that run another program and end with its exit code: `env`, `timeout`, `npx`, `bundle exec` and the like.

/// A program that runs the rest of its words.
struct Wrapper {
    /// The words that name it.
    words: &'static [&'static str],
    /// Flags that take the next word with them.
    valued: &'static [&'static str],
    /// Words after the flags that belong to the wrapper, such as the duration of `timeout`.
    own: usize,
}

const fn wrapper(words: &'static [&'static str], valued: &'static [&'static str], own: usize) -> Wrapper {
    Wrapper { words, valued, own }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper(&["env"], &["-u", "--unset", "-C", "--chdir"], 0),
    wrapper(&["cross-env"], &[], 0),
    wrapper(&["time"], &["-o", "-f"], 0),
    wrapper(&["timeout"], &["-k", "--kill-after", "-s", "--signal"], 1),
    wrapper(&["gtimeout"], &["-k", "--kill-after", "-s", "--signal"], 1),
    wrapper(&["nice"], &["-n"], 0),
    wrapper(&["ionice"], &["-c", "-n"], 0),
    wrapper(&["stdbuf"], &["-i", "-o", "-e"], 0),
    wrapper(&["sudo"], &["-u", "-g"], 0),
    wrapper(&["nohup"], &[], 0),
    wrapper(&["setsid"], &[], 0),
    wrapper(&["command"], &[], 0),
    wrapper(&["exec"], &[], 0),
    wrapper(&["unbuffer"], &[], 0),
    wrapper(&["caffeinate"], &[], 0),
    wrapper(&["xvfb-run"], &["-s", "-n"], 0),
    wrapper(&["uv", "run"], &["--with", "--extra", "--group", "-p", "--python", "--package", "--directory"], 0),
    wrapper(&["poetry", "run"], &[], 0),
    wrapper(&["pipenv", "run"], &[], 0),
    wrapper(&["pdm", "run"], &[], 0),
    wrapper(&["rye", "run"], &[], 0),
    wrapper(&["hatch", "run"], &[], 0),
    wrapper(&["conda", "run"], &["-n", "-p"], 0),
    wrapper(&["uvx"], &["--with", "--from", "-p", "--python"], 0),
    wrapper(&["coverage", "run"], &["--source", "--rcfile"], 0),
    wrapper(&["bundle", "exec"], &[], 0),
    wrapper(&["npx"], &["-p", "--package"], 0),
    wrapper(&["bunx"], &["-p", "--package"], 0),
    wrapper(&["npm", "exec"], &["-p", "--package"], 0),
    wrapper(&["pnpm", "exec"], &[], 0),
    wrapper(&["pnpm", "dlx"], &[], 0),
    wrapper(&["yarn", "exec"], &[], 0),
    wrapper(&["yarn", "dlx"], &[], 0),
    wrapper(&["bun", "x"], &[], 0),
    wrapper(&["mise", "exec"], &[], 0),
    wrapper(&["direnv", "exec"], &[], 1),
];

/// Returns the words of the program that really runs: without assignments before it and without wrappers.
pub(super) fn unwrapped(words: &[String]) -> &[String] {
    let mut rest = words;
    loop {
        while rest.first().is_some_and(|word| assignment(word).is_some()) {
            rest = &rest[1..];
        }
        let names = |wrapper: &&Wrapper| {
            let given = rest.iter().take(wrapper.words.len()).map(|word| program(word));
            rest.len() > wrapper.words.len() && given.eq(wrapper.words.iter().copied())
        };
        let Some(found) = WRAPPERS.iter().find(names) else { return rest };
        rest = &rest[found.words.len()..];
        let mut own = found.own;
        while let Some(word) = rest.first() {
            let skipped = match word.as_str() {
                // `coverage run -m pytest`, `python -m` is not a wrapper.
                "--" | "-m" => 1,
                flag if found.valued.contains(&flag) => 2,
                flag if flag.starts_with('-') => 1,
                _ if own > 0 => {
                    own -= 1;
                    1
                }
                _ => break,
            };
            rest = rest.get(skipped..).unwrap_or_default();
        }
    }
}

/// The name and value of `NAME=value`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(good) && !name.starts_with(|c: char| c.is_ascii_digit()))
        .then_some((name, value))
}

/// The name of a program without its folder and without the ending that Windows gives it.
pub(super) fn program(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    [".exe", ".cmd", ".bat"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_really_runs_is_found() {
        for (line, program) in [
            ("A=b C=d cargo test", "cargo test"),
            ("env -u X A=b timeout -k 5 60 nice -n 10 cargo test", "cargo test"),
            ("time -p make test", "make test"),
            ("sudo -u ci -E make", "make"),
            ("uv run --with x pytest -q", "pytest -q"),
            ("coverage run -m pytest", "pytest"),
            ("npx --yes -p typescript tsc", "tsc"),
            ("/usr/bin/env cargo test", "cargo test"),
            ("timeout 60", ""),
            ("A=b", ""),
            ("", ""),
        ] {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(unwrapped(&words).join(" "), program, "{line}");
        }
        assert_eq!(program("./gradlew"), "gradlew");
        assert_eq!(program(r"C:\bin\npm.cmd"), "npm");
    }
}
