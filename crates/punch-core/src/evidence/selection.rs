//! Which part of a project a check command selects: packages, paths and names of tests. A check of one part says nothing
//! about the work on another one.

use super::commands;
use super::wrapper::program;

/// Programs whose first words name what to do.
const WITH_TASKS: &[&str] = &[
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "go",
    "dotnet",
    "mix",
    "deno",
    "just",
    "task",
    "mage",
    "invoke",
    "inv",
    "composer",
    "turbo",
    "nx",
    "moon",
    "swift",
    "zig",
    "flutter",
    "dart",
    "playwright",
    "cypress",
    "ruff",
    "biome",
    "vite",
    "next",
    "astro",
    "golangci-lint",
    "rails",
];

/// Programs whose arguments are targets, each of them a separate check.
const WITH_TARGETS: &[&str] = &[
    "make", "gmake", "ninja", "mvn", "mvnw", "mvnd", "rake", "tox", "nox", "ctest", "cmake", "sbt", "lein", "stack",
    "cabal", "bazel", "meson",
];

/// Words before the name of a task.
const BEFORE_TASK: &[&str] =
    &["run", "run-script", "exec", "nextest", "xtask", "workspace", "hack", "llvm-cov", "tarpaulin", "discover"];

/// Flags with a value that selects no part.
const VALUED: &[&str] = &[
    "--features",
    "--target",
    "--profile",
    "--color",
    "-j",
    "--jobs",
    "--config",
    "-c",
    "--reporter",
    "--timeout",
    "--maxfail",
    "-n",
    "--target-dir",
    "-Z",
    "--test-threads",
    "-o",
    "--format",
    "--shard",
    "--seed",
    "--retries",
    "--workers",
    "-W",
    "-X",
    "--exclude",
    "-D",
];

/// Flags that select a part and may carry it after `=`.
const SELECTING: &[&str] = &[
    "--package",
    "--filter",
    "--tests",
    "--test",
    "--grep",
    "--testNamePattern",
    "--projects",
    "--project",
    "--workspace",
    "--dir",
    "-Dtest",
    "-run",
    "-k",
    "-pl",
    "-p",
    "-t",
];

/// Folders that hold a whole project, and words that say nothing about a part.
const WHOLE: &[&str] =
    &["", ".", "..", "...", "src", "lib", "test", "tests", "spec", "specs", "__tests__", "unit", "manage.py"];

/// The parts that a check command selects; none if it checks everything. A word that is taken for a part by mistake makes the
/// check count for fewer todos.
pub fn selected(command: &str) -> Vec<&str> {
    let mut words = command.split_whitespace();
    let name = words.next().map_or("", program);
    if WITH_TARGETS.contains(&name) {
        return of_flags(words).collect();
    }
    let (mut out, mut named, mut is_value) = (Vec::new(), Vec::new(), false);
    for word in words {
        if std::mem::take(&mut is_value) || word.starts_with('+') || word.parse::<f64>().is_ok() {
            continue;
        }
        match word.strip_prefix('-') {
            Some(_) => {
                // `python -m` names the program.
                is_value = VALUED.contains(&word) || (word == "-m" && name.starts_with("py"));
                out.extend(of_flags(std::iter::once(word)));
            }
            None => named.push(word),
        }
    }
    if matches!(name, "gradle" | "gradlew") {
        // `:app:test` is the task `test` of the part `app`.
        out.extend(named.iter().filter_map(|task| task.rsplit_once(':')).flat_map(|(part, _)| part.split(':')));
    } else {
        let (all, is_nextest) = (named.len(), named.contains(&"nextest"));
        named.retain(|word| !BEFORE_TASK.contains(word));
        if WITH_TASKS.contains(&name) && !is_nextest {
            let is_first = named.len() == all && all > 0;
            let task = named.iter().position(|word| commands::is_task(word)).or(is_first.then_some(0));
            task.map(|at| named.remove(at));
        }
        out.extend(named);
    }
    out.retain(|word| !WHOLE.contains(&folder(word)) && !is_settings(word));
    out
}

fn of_flags<'a>(words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    words.filter_map(|word| word.split_once('=')).filter(|(flag, _)| SELECTING.contains(flag)).map(|(_, part)| part)
}

fn is_settings(word: &str) -> bool {
    let end = word.rsplit_once('.').map_or("", |(_, end)| end);
    matches!(end, "toml" | "json" | "yaml" | "yml" | "cfg" | "ini" | "xml")
}

/// A path without what says that all below it is meant.
fn folder(word: &str) -> &str {
    let word = word.strip_prefix("./").unwrap_or(word);
    word.strip_suffix("...").unwrap_or(word).trim_end_matches(['/', '*'])
}

/// Returns true if a part that a check selects is the file, a folder above it, or named like one of them.
pub fn selects(part: &str, file: &str) -> bool {
    let part = part.trim_matches(['\'', '"', '^', '$']);
    let path = folder(part.split("::").next().unwrap_or(part));
    if path.contains('/') && (file == path || file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))) {
        return true;
    }
    // A path says where, so that only its end is a name; other words may name modules one inside the other.
    let last = if part.contains('/') { path.rsplit('/').next().unwrap_or(path) } else { part };
    let names: Vec<String> = last.split(['#', ':']).flat_map(ends).map(subject).collect();
    file.split('/').map(subject).any(|own| own.len() > 2 && !WHOLE.contains(&own.as_str()) && names.contains(&own))
}

/// The names in `parser.test.ts`, `tests.test_parser` and `com.example.ParserTest` that may say what it is about.
fn ends(name: &str) -> impl Iterator<Item = &str> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let is_class = last.starts_with(char::is_uppercase);
    name.split('.').next().filter(|_| !is_class).into_iter().chain(Some(last))
}

/// What a name is about: `test_parser.py`, `parser.spec.ts`, `ParserTest` and `TestParser` are about `parser`.
fn subject(name: &str) -> String {
    let name = name.split('.').next().unwrap_or(name);
    let short = name.strip_prefix("Test").filter(|rest| rest.starts_with(char::is_uppercase)).unwrap_or(name);
    let short = ["Tests", "Test", "Spec"].iter().find_map(|end| short.strip_suffix(end)).unwrap_or(short);
    let lower = if short.is_empty() { name } else { short }.to_lowercase().replace('-', "_");
    let short = lower.strip_prefix("test_").unwrap_or(&lower);
    ["_tests", "_test", "_spec"].iter().find_map(|end| short.strip_suffix(end)).unwrap_or(short).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_of_everything_select_no_part() {
        for line in [
            "cargo test|cargo +nightly test --workspace --all-features -- --nocapture|cargo nextest run|cargo xtask test",
            "cargo test --features tls --target x86_64-unknown-linux-gnu -j 4|cargo clippy --all-targets -- -D warnings",
            "npm test|npm run test:unit|pnpm lint|yarn jest|bun test|tsc --noEmit -p tsconfig.json|vitest run|jest --ci",
            "pytest -q|pytest tests/|python -m pytest|python3 -m unittest discover|tox -e py312|pytest --maxfail 1",
            "go test ./...|go vet ./...|go test -count=1 -race ./...|make test lint|make -C sub check|mvn -B verify",
            "./gradlew build|dotnet test|rspec|rake spec|mix test|python manage.py test|ctest --test-dir build|eslint .|eslint src|just ci|deno test",
        ]
        .iter()
        .flat_map(|lines| lines.split('|'))
        {
            assert_eq!(selected(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn parts_are_packages_paths_and_names_of_tests() {
        for (line, parts) in [
            ("cargo test -p parser", vec!["parser"]),
            ("cargo test --package=parser --lib lexer", vec!["parser", "lexer"]),
            ("cargo nextest run parser::tests", vec!["parser::tests"]),
            ("cargo +nightly t parser_test", vec!["parser_test"]),
            ("npm test -- src/parser.test.ts", vec!["src/parser.test.ts"]),
            ("pnpm --filter app test", vec!["app"]),
            ("vitest run parser", vec!["parser"]),
            ("yarn workspace parser test", vec!["parser"]),
            ("cargo xtask test parser", vec!["parser"]),
            ("python -m pytest tests/test_parser.py::test_a", vec!["tests/test_parser.py::test_a"]),
            ("pytest -k parser", vec!["parser"]),
            ("pytest -x tests/test_parser.py", vec!["tests/test_parser.py"]),
            ("go test ./parser/...", vec!["./parser/..."]),
            ("go test ./... -run=TestParser", vec!["TestParser"]),
            ("mvn test -Dtest=ParserTest", vec!["ParserTest"]),
            ("./gradlew :parser:test", vec!["parser"]),
            ("rspec spec/parser_spec.rb", vec!["spec/parser_spec.rb"]),
            ("mypy parser", vec!["parser"]),
            ("./scripts/check.sh --fast parser", vec!["parser"]),
        ] {
            assert_eq!(selected(line), parts, "{line}");
        }
    }

    #[test]
    fn a_part_is_found_in_the_paths_of_its_files() {
        for (part, file) in [
            ("parser", "src/parser.rs"),
            ("parser", "crates/parser/src/lib.rs"),
            ("parser::tests::quotes", "src/parser/mod.rs"),
            ("my-parser", "crates/my_parser/src/a.rs"),
            ("./parser/...", "parser/a.go"),
            ("tests/test_parser.py::test_a", "src/parser.py"),
            ("tests/test_parser.py", "tests/test_parser.py"),
            ("src/parser.test.ts", "src/parser.ts"),
            ("spec/parser_spec.rb", "lib/parser.rb"),
            ("TestParser", "pkg/parser.go"),
            ("com.example.ParserTest#quotes", "src/main/java/com/example/Parser.java"),
            ("part03", "part03.txt"),
        ] {
            assert!(selects(part, file), "{part} and {file}");
        }
        for (part, file) in [
            ("parser", "src/lexer.rs"),
            ("part03", "part13.txt"),
            ("src/parser.test.ts", "src/lexer.ts"),
            ("./parser/...", "parsers/a.go"),
            ("tests::quotes", "tests/it/lexer.rs"),
            ("it", "tests/it/lexer.rs"),
            ("com.example.ParserTest", "src/main/java/com/example/Lexer.java"),
            ("latest", "src/la.rs"),
        ] {
            assert!(!selects(part, file), "{part} and {file}");
        }
    }
}
