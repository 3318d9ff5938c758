//! The commands that check work, by ecosystem: which of them test, build or lint. A command that only prints help, lists
//! tests or shows what it would do checks nothing.

use super::CheckKind;
use super::CheckKind::{Build, Lint, Test};
use super::wrapper::{program, unwrapped};

/// Flags with which a program checks nothing, whatever else it is asked for.
const IDLE: &[&str] = &[
    "--help",
    "-h",
    "--version",
    "-V",
    "--list",
    "--list-tests",
    "--listTests",
    "--collect-only",
    "--co",
    "--dry-run",
    "--show-only",
    "--showConfig",
    "--watch",
    "--init",
];

/// Returns what a command checks; `None` if it checks nothing that is known. `own` are commands of the user.
pub(super) fn kind(words: &[String], own: &[String]) -> Option<CheckKind> {
    let words: Vec<&str> = unwrapped(words).iter().map(String::as_str).collect();
    let is_own = |line: &&String| {
        let line: Vec<&str> = line.split_whitespace().collect();
        !line.is_empty() && words.starts_with(&line)
    };
    if own.iter().any(|line| is_own(&line)) {
        return Some(Test);
    }
    let (first, rest) = words.split_first()?;
    if rest.iter().any(|word| IDLE.contains(word)) {
        return None;
    }
    of_program(program(first), rest)
}

fn of_program(name: &str, args: &[&str]) -> Option<CheckKind> {
    match name {
        "cargo" => cargo(args),
        "npm" | "pnpm" | "yarn" | "bun" => package_script(name, args),
        "python" | "python3" | "py" => python(args),
        "go" => go(args),
        "mvn" | "mvnw" | "mvnd" => maven(args),
        "gradle" | "gradlew" => gradle(args),
        "make" | "gmake" | "ninja" => make(args),
        "dotnet" => dotnet(args),
        "ruby" => args.iter().any(|arg| arg.contains("test") || arg.contains("spec")).then_some(Test),
        "rails" => first(args, &[]).and_then(script).filter(|kind| *kind == Test),
        "rake" => first(args, &[]).map_or(Some(Test), script),
        "mix" => mix(args),
        "ctest" => (!args.contains(&"-N")).then_some(Test),
        "cmake" => cmake(args),
        "just" | "task" | "mage" | "invoke" | "inv" | "composer" => first(args, &[]).and_then(script),
        "turbo" | "nx" | "moon" => {
            args.iter().find(|arg| !arg.starts_with('-') && **arg != "run").and_then(|t| script(t))
        }
        "deno" | "swift" | "zig" | "sbt" | "lein" | "stack" | "cabal" | "flutter" | "dart" | "bazel" | "meson" => {
            args.iter().find_map(|arg| script(arg))
        }
        "pytest" | "py.test" | "tox" | "nox" | "jest" | "mocha" | "ava" | "tap" | "karma" | "rspec" | "minitest"
        | "cucumber" | "phpunit" | "pest" | "gotestsum" | "bats" => Some(Test),
        "vitest" => (args.first() != Some(&"list")).then_some(Test),
        "playwright" | "cypress" => args.iter().any(|arg| matches!(*arg, "test" | "run")).then_some(Test),
        "node" => args.contains(&"--test").then_some(Test),
        "manage.py" => args.first().and_then(|task| script(task)).filter(|kind| *kind == Test),
        "tsc" | "vue-tsc" => (!args.contains(&"-w")).then_some(Build),
        "vite" | "next" | "webpack" | "astro" => args.contains(&"build").then_some(Build),
        "eslint" | "stylelint" | "oxlint" | "standard" | "xo" | "mypy" | "pyright" | "flake8" | "pylint"
        | "rubocop" | "standardrb" | "brakeman" | "staticcheck" | "shellcheck" | "golangci-lint" | "hadolint"
        | "clippy-driver" => Some(Lint),
        "biome" => args.first().is_some_and(|task| matches!(*task, "check" | "lint" | "ci")).then_some(Lint),
        "prettier" => args.iter().any(|arg| matches!(*arg, "--check" | "-c")).then_some(Lint),
        "ruff" => match args.first() {
            Some(&"check") => Some(Lint),
            Some(&"format") => args.contains(&"--check").then_some(Lint),
            _ => None,
        },
        "black" | "isort" => args.iter().any(|arg| arg.starts_with("--check")).then_some(Lint),
        _ => None,
    }
}

/// The first word that is not a flag; `valued` flags take the next word with them.
fn first<'a>(args: &[&'a str], valued: &[&str]) -> Option<&'a str> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if valued.contains(arg) {
            args.next();
        } else if !arg.starts_with('-') && !arg.starts_with('+') {
            return Some(arg);
        }
    }
    None
}

/// Returns true for a word that names a script or target, and not a path.
pub(super) fn is_task(name: &str) -> bool {
    !name.contains(['/', '.']) && !name.contains("::") && script(name).is_some()
}

/// What a script or target of that name checks: `test:unit`, `lint`, `build-all`, `typecheck`.
fn script(name: &str) -> Option<CheckKind> {
    let parts = || name.split([':', '-', '_', '.', '/']).map(str::to_ascii_lowercase);
    let any = |words: &[&str]| parts().any(|part| words.contains(&part.as_str()));
    if any(&[
        "test", "tests", "t", "spec", "specs", "e2e", "check", "verify", "ci", "unittest", "vitest", "jest", "pytest",
    ]) && !any(&["fix", "watch", "clean", "format", "type", "types"])
    {
        return Some(Test);
    }
    if any(&["lint", "linter", "eslint", "clippy", "analyze", "vet"]) && !any(&["fix", "watch"]) {
        return Some(Lint);
    }
    let builds = any(&["build", "compile", "typecheck", "tsc", "types", "type", "all"]);
    (builds && !any(&["watch", "clean"])).then_some(Build)
}

fn cargo(args: &[&str]) -> Option<CheckKind> {
    let valued = ["-Z", "--config", "--manifest-path", "-C", "--color", "--target-dir"];
    let sub = first(args, &valued)?;
    let after = || args.iter().skip_while(|arg| **arg != sub).skip(1);
    match sub {
        "test" | "t" if args.contains(&"--no-run") => Some(Build),
        "test" | "t" | "tarpaulin" | "llvm-cov" | "hack" => Some(Test),
        "nextest" => after().any(|arg| matches!(*arg, "run" | "r")).then_some(Test),
        "build" | "b" | "check" | "c" | "rustc" | "doc" => Some(Build),
        "clippy" | "deny" | "audit" | "udeps" | "machete" => Some(Lint),
        "fmt" => args.contains(&"--check").then_some(Lint),
        "xtask" | "make" => after().find(|arg| !arg.starts_with('-')).and_then(|task| script(task)),
        _ => None,
    }
}

fn package_script(manager: &str, args: &[&str]) -> Option<CheckKind> {
    let valued = ["-C", "--prefix", "-w", "--workspace", "--filter", "-F", "--cwd", "--dir"];
    let task = first(args, &valued)?;
    let mut after = args.iter().skip_while(|arg| **arg != task).skip(1).filter(|arg| !arg.starts_with('-'));
    match task {
        "test" | "t" | "tst" => Some(Test),
        "run" | "run-script" => after.next().and_then(|name| script(name)),
        "workspace" if manager == "yarn" => after.nth(1).and_then(|name| of_yarn(name)),
        "ci" | "install" | "i" | "add" | "audit" | "publish" | "pack" | "link" | "init" | "update" => None,
        "build" if manager == "bun" => Some(Build),
        // `yarn lint`, `pnpm lint`, `yarn jest`: scripts and programs without `run`.
        name if matches!(manager, "yarn" | "pnpm") => of_yarn(name),
        _ => None,
    }
}

fn of_yarn(name: &str) -> Option<CheckKind> {
    script(name).or_else(|| of_program(name, &[]))
}

fn python(args: &[&str]) -> Option<CheckKind> {
    let (module, rest) = match args.iter().position(|arg| *arg == "-m") {
        Some(at) => (*args.get(at + 1)?, args.get(at + 2..).unwrap_or_default()),
        None => {
            let file = first(args, &["-W", "-X"])?;
            let rest: Vec<&str> = args.iter().skip_while(|arg| **arg != file).skip(1).copied().collect();
            return of_program(program(file), &rest).filter(|_| program(file) == "manage.py");
        }
    };
    match module {
        "unittest" | "nose2" | "doctest" => Some(Test),
        "compileall" | "build" => Some(Build),
        "coverage" => rest.iter().position(|arg| *arg == "-m").and_then(|at| of_program(rest.get(at + 1)?, &[])),
        module => of_program(module, rest),
    }
}

fn go(args: &[&str]) -> Option<CheckKind> {
    match *args.first()? {
        "test" if args.iter().any(|arg| arg.starts_with("-list")) => None,
        "test" if args.contains(&"-c") || args.iter().any(|arg| arg.ends_with("^$")) => Some(Build),
        "test" => Some(Test),
        "build" | "install" => Some(Build),
        "vet" => Some(Lint),
        _ => None,
    }
}

fn maven(args: &[&str]) -> Option<CheckKind> {
    let skips = args.iter().any(|arg| {
        matches!(arg.split_once('='), None | Some((_, "true")))
            && (arg.starts_with("-DskipTests") || arg.starts_with("-Dmaven.test.skip"))
    });
    let mut found = None;
    for goal in args.iter().filter(|arg| !arg.starts_with('-')) {
        let kind = match *goal {
            "test" | "verify" | "install" | "package" | "integration-test" | "deploy" => {
                if skips {
                    Build
                } else {
                    Test
                }
            }
            "compile" | "test-compile" => Build,
            goal if goal.ends_with(":test") || goal.ends_with(":integration-test") => Test,
            goal if goal.ends_with(":check") => Lint,
            _ => continue,
        };
        found = found.max(Some(kind));
    }
    found
}

fn gradle(args: &[&str]) -> Option<CheckKind> {
    if args.contains(&"-m") {
        return None;
    }
    let skips = args.windows(2).any(|pair| pair[0] == "-x" && script(pair[1]) == Some(Test));
    let mut found = None;
    let mut words = args.iter();
    while let Some(arg) = words.next() {
        if matches!(*arg, "-x" | "-p" | "-b" | "--tests" | "-c" | "--project-dir" | "--exclude-task") {
            words.next();
        } else if !arg.starts_with('-') {
            let task = arg.rsplit(':').next().unwrap_or(arg).to_ascii_lowercase();
            let kind = match task.as_str() {
                "build" => Some(if skips { Build } else { Test }),
                "assemble" | "classes" | "testclasses" => Some(Build),
                task if task.starts_with("compile") || task.starts_with("assemble") => Some(Build),
                task if task.contains("lint") || task.contains("detekt") || task.contains("spotless") => Some(Lint),
                task if task.contains("test") || task == "check" || task == "verify" => Some(Test),
                _ => None,
            };
            found = found.max(kind);
        }
    }
    found
}

fn make(args: &[&str]) -> Option<CheckKind> {
    if args.iter().any(|arg| matches!(*arg, "-n" | "--just-print" | "-q" | "--question" | "-t")) {
        return None;
    }
    let mut found = None;
    let (mut words, mut targets) = (args.iter(), 0);
    while let Some(arg) = words.next() {
        if matches!(*arg, "-C" | "-f" | "-I" | "--directory" | "--file" | "-j" | "-l")
            && !(matches!(*arg, "-j" | "-l") && words.clone().next().is_none_or(|n| n.parse::<u32>().is_err()))
        {
            words.next();
        } else if !arg.starts_with('-') && !arg.contains('=') {
            targets += 1;
            found = found.max(script(arg));
        }
    }
    if targets == 0 { Some(Build) } else { found }
}

fn dotnet(args: &[&str]) -> Option<CheckKind> {
    match *args.first()? {
        "test" | "vstest" => (!args.contains(&"-t")).then_some(Test),
        "build" | "publish" | "msbuild" => Some(Build),
        "format" => args.contains(&"--verify-no-changes").then_some(Lint),
        _ => None,
    }
}

fn mix(args: &[&str]) -> Option<CheckKind> {
    match first(args, &[])? {
        "test" | "espec" | "coveralls" => Some(Test),
        "compile" => Some(Build),
        "credo" | "dialyzer" | "sobelow" => Some(Lint),
        "format" => args.contains(&"--check-formatted").then_some(Lint),
        // `mix do compile, test`
        "do" => args.iter().filter_map(|arg| script(arg.trim_end_matches(','))).max(),
        task => script(task),
    }
}

fn cmake(args: &[&str]) -> Option<CheckKind> {
    if !args.contains(&"--build") {
        return None;
    }
    let target = args.iter().skip_while(|arg| !matches!(**arg, "--target" | "-t")).nth(1);
    Some(target.and_then(|target| script(target)).unwrap_or(Build))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<CheckKind> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        kind(&words, &["just ci".to_owned(), "./scripts/check.sh".to_owned()])
    }

    #[test]
    fn ten_ecosystems_are_known() {
        for (kind, lines) in [
            (
                Test,
                "cargo test -p x|cargo +nightly -q t|cargo nextest run|cargo xtask test|npm t|npm run test:unit|\
                 pnpm --filter app test|pnpm vitest|yarn jest|yarn workspace a test|bun test|bun run check|npx jest|\
                 pytest -q|python3 -m pytest|python -m unittest discover|python manage.py test|tox|uv run pytest|\
                 go test ./...|gotestsum|mvn verify|./mvnw -B test|gradle check|./gradlew build|./gradlew :a:connectedTest|\
                 make test|make -j 4 check|make -C x test|dotnet test|rspec|bundle exec rake|bin/rails test|\
                 ruby -Itest test/a.rb|mix test|mix do compile, test|ctest --test-dir b|\
                 cmake --build b --target test|just ci --fast|./scripts/check.sh|node --test|phpunit|deno test",
            ),
            (
                Build,
                "cargo build|cargo check --all|cargo test --no-run|npm run build|yarn tsc|npx tsc --noEmit|\
                 npm run typecheck|go build ./...|go test -c ./x|go test -run ^$|mvn compile|mvn package -DskipTests|\
                 gradle assemble|./gradlew build -x test|make|make -j8|make all|dotnet build|mix compile|\
                 cmake --build b|python -m compileall .|ninja",
            ),
            (
                Lint,
                "cargo clippy|cargo fmt --check|npm run lint|yarn lint|pnpm eslint|npx eslint .|ruff check|\
                 python -m mypy a|black --check .|go vet ./...|golangci-lint run|./gradlew ktlintCheck|mvn checkstyle:check|\
                 make lint|dotnet format --verify-no-changes|bundle exec rubocop|mix credo|mix format --check-formatted|\
                 prettier --check .|shellcheck a.sh",
            ),
        ] {
            for line in lines.split('|') {
                assert_eq!(of(line.trim()), Some(kind), "{line}");
            }
        }
    }

    #[test]
    fn what_checks_nothing_is_not_a_check() {
        let lines = "cargo test --help|cargo --version|cargo test -- --list|cargo run|cargo fmt|cargo nextest list|cargo|\
                     npm ci|npm install|npm run dev|npm run lint:fix|npm run test:watch|pytest --collect-only|pytest --version|\
                     python app.py|python test.py|go test -list .|go run .|gradle -m test|gradle tasks|mvn clean|\
                     make -n test|make clean|make install|dotnet run|dotnet test --list-tests|dotnet test -t|dotnet format|\
                     rails server|mix format|mix phx.server|ctest -N|cmake -B build|just|just fmt|echo cargo test|\
                     cat cargo test|ls|vitest list|tsc -w|jest --watch|git commit|black .|ruff format|prettier --write .";
        for line in lines.split('|') {
            assert_eq!(of(line.trim()), None, "{line}");
        }
    }
}
