//! Recognizes commands that change files by their words. Scripts that write files are not recognized.

use super::shell::Pipeline;
use super::wrapper::{program, unwrapped};

/// Places that are not part of a project.
const ELSEWHERE: &[&str] = &["/dev/", "/tmp/", "/var/tmp/", "/proc/", "$TMPDIR", "$(mktemp"];

/// Files of one command that are named.
const NAMED: usize = 20;

/// Returns the files that a pipeline changes; a change of files that the words do not name is an empty path.
pub(super) fn of(part: &Pipeline) -> Vec<String> {
    let mut out = Vec::new();
    for command in &part.commands {
        out.extend(command.writes.iter().filter(|path| is_here(path)).cloned());
        let words: Vec<&str> = unwrapped(&command.words).iter().map(String::as_str).collect();
        if let Some((first, args)) = words.split_first() {
            out.extend(of_command(program(first), args));
        }
    }
    out.truncate(NAMED);
    out
}

fn is_here(path: &str) -> bool {
    !ELSEWHERE.iter().any(|start| path.starts_with(start))
}

fn of_command(name: &str, args: &[&str]) -> Vec<String> {
    let has = |flag: &str| args.contains(&flag);
    let named = |from: usize| -> Vec<String> {
        let paths = args.iter().filter(|arg| !arg.starts_with('-')).skip(from);
        paths.filter(|path| is_here(path)).map(|path| (*path).to_owned()).collect()
    };
    let somewhere = || vec![String::new()];
    match name {
        // The first word is the script.
        "sed" if in_place(args) => named(1),
        "perl" if in_place(args) => named(usize::from(has("-e") || args.iter().any(|arg| arg.ends_with('e')))),
        "tee" | "rm" | "truncate" | "unlink" => named(0),
        "mv" | "cp" | "ln" | "install" | "rsync" => named(0).pop().into_iter().collect(),
        "patch" => somewhere(),
        "git" => git(args),
        "cargo" if args.first() == Some(&"fmt") && !has("--check") => somewhere(),
        "cargo" if matches!(args.first(), Some(&("fix" | "add" | "remove" | "update"))) => somewhere(),
        "cargo" | "eslint" | "ruff" | "biome" if has("--fix") || has("--write") => somewhere(),
        "ruff" if args.first() == Some(&"format") && !has("--check") => somewhere(),
        "rustfmt" | "black" | "isort" if !has("--check") => somewhere(),
        "prettier" if has("--write") || has("-w") => somewhere(),
        "gofmt" | "goimports" if has("-w") => named(0),
        "mix" if args.first() == Some(&"format") && !has("--check-formatted") => somewhere(),
        "dotnet" if args.first() == Some(&"format") && !has("--verify-no-changes") => somewhere(),
        "rubocop" if has("-a") || has("-A") => somewhere(),
        _ => Vec::new(),
    }
}

fn in_place(args: &[&str]) -> bool {
    args.iter().any(|arg| {
        let bundle = arg.starts_with('-') && !arg.starts_with("--") && arg.len() <= 8;
        arg.starts_with("--in-place") || arg.starts_with("-i") || (bundle && arg.contains('i'))
    })
}

/// Commands of git that change files of the worktree.
fn git(args: &[&str]) -> Vec<String> {
    let mut words = args.iter().copied();
    let mut sub = None;
    while let Some(word) = words.next() {
        match word {
            "-C" | "-c" => drop(words.next()),
            flag if flag.starts_with('-') => {}
            word => {
                sub = Some(word);
                break;
            }
        }
    }
    let rest: Vec<&str> = words.collect();
    let named = |rest: &[&str]| -> Vec<String> {
        let after = rest.iter().skip_while(|word| **word != "--").skip(1);
        let paths: Vec<String> = after.map(|path| (*path).to_owned()).collect();
        if paths.is_empty() { vec![String::new()] } else { paths }
    };
    match sub.unwrap_or_default() {
        "checkout" | "switch" if rest.iter().any(|flag| matches!(*flag, "-b" | "-B" | "-c" | "-C")) => Vec::new(),
        "reset" if !rest.contains(&"--hard") => Vec::new(),
        "stash" if rest.first().is_some_and(|word| matches!(*word, "list" | "show" | "drop")) => Vec::new(),
        "apply" if rest.iter().any(|flag| matches!(*flag, "--check" | "--stat")) => Vec::new(),
        "checkout" | "switch" | "restore" | "reset" | "stash" | "apply" | "am" | "revert" | "merge" | "pull"
        | "rebase" | "cherry-pick" | "clean" | "rm" | "mv" => named(&rest),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::shell::ShellScript;

    fn of(line: &str) -> Vec<String> {
        ShellScript::parse(line).parts.iter().flat_map(super::of).collect()
    }

    #[test]
    fn changed_files_are_named_where_the_words_name_them() {
        for (line, files) in [
            ("sed -i 's/a/b/' src/a.rs src/b.rs", vec!["src/a.rs", "src/b.rs"]),
            ("sed -i -e 's/a/b/' a", vec!["a"]),
            ("perl -pi -e 's/a/b/' a", vec!["a"]),
            ("echo x > a.txt 2> /dev/null", vec!["a.txt"]),
            ("cat <<EOF > a\nx\nEOF", vec!["a"]),
            ("make | tee build.log", vec!["build.log"]),
            ("mv a b && cp c d", vec!["b", "d"]),
            ("git checkout -- a b", vec!["a", "b"]),
            ("git -C x reset --hard", vec![""]),
            ("cargo fmt", vec![""]),
            ("git apply p.patch", vec![""]),
        ] {
            assert_eq!(of(line), files, "{line}");
        }
        for line in [
            "sed 's/a/b/' a",
            "grep -i x a",
            "cargo fmt --check",
            "git checkout -b x",
            "git commit -m x",
            "git reset a",
            "git stash list",
            "echo x > /tmp/a",
            "ls",
            "cargo test 2>&1",
            "perl -e 1",
        ] {
            assert!(of(line).is_empty(), "{line}: {:?}", of(line));
        }
    }
}
