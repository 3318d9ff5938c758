//! `cargo xtask test`: the gate. Steps run in order, cheap ones first; the first failure ends the run.

use std::time::Instant;

use crate::{
    Done, agents, boards, crates, deny, error_codes, escape, licences, links, named_files, postgres, process, promises,
    search, soak, sources, unused, web, wording,
};

/// What the steps may depend on.
struct Options {
    /// Build cargo-deny if it is missing.
    with_deny: bool,
}

/// One step of the gate.
struct Step {
    name: &'static str,
    what: &'static str,
    run: fn(&Options) -> Done,
}

const STEPS: &[Step] = &[
    Step { name: "fmt", what: "formatting", run: |_| fmt() },
    Step { name: "sources", what: "rules for source files that no compiler checks", run: |_| sources::check() },
    Step {
        name: "unused",
        what: "public items that only tests use, settings that no code reads",
        run: |_| unused::check(),
    },
    Step { name: "guides", what: "files that ARCHITECTURE.md and CONTRIBUTING.md name", run: |_| named_files::check() },
    Step { name: "links", what: "links and anchors in Markdown files", run: |_| links::check() },
    Step { name: "errors", what: "an entry in docs/errors.md for every error code", run: |_| error_codes::check() },
    Step { name: "words", what: "phrases that texts of this project do not use", run: |_| wording::check() },
    Step { name: "promises", what: "a test for every promise of the threat model", run: |_| promises::check() },
    Step { name: "crates", what: "direction of dependencies between crates", run: |_| crates::check() },
    Step { name: "licences", what: "licences and origins of all dependencies", run: |_| licences::check() },
    Step { name: "deny", what: "advisories and bans, where cargo-deny can run", run: |o| deny::check(o.with_deny) },
    Step { name: "clippy", what: "lints, warnings denied", run: |_| clippy() },
    Step { name: "docs", what: "documentation without warnings", run: |_| docs() },
    Step { name: "postgres", what: "plans in PostgreSQL, on a server of its own", run: |_| postgres::check() },
    Step { name: "tests", what: "all tests of the workspace", run: |_| tests() },
    Step { name: "escape", what: "what agents, clones and other users can make run", run: |_| escape::run(&[]) },
    Step {
        name: "page",
        what: "the web page: types, unit tests, and the bundle from its sources",
        run: |_| web::check(),
    },
    Step { name: "boards", what: "the terminal board in tmux, driven by keys", run: |_| boards::run(&[]) },
    Step { name: "browser", what: "every page of the web board in chromium", run: |_| web::browse() },
    Step { name: "soak", what: "16 mixed writers with kill -9, every promise checked", run: |_| soak::run(&[]) },
    Step { name: "agents", what: "real coding agents, one scenario each", run: |_| agents::run(&[]) },
];

/// Runs all steps, or the chosen ones.
pub fn run(arguments: &[&str]) -> Done {
    if arguments == ["--list"] {
        STEPS.iter().for_each(|step| println!("{:<10}{}", step.name, step.what));
        return Ok(());
    }
    let (steps, options) = parse(arguments)?;
    let begin = Instant::now();
    for step in &steps {
        println!("==> {}: {}", step.name, step.what);
        let begin = Instant::now();
        (step.run)(&options).map_err(|cause| format!("step `{}` failed: {cause}", step.name))?;
        println!("    {} ok, {:.1} s", step.name, begin.elapsed().as_secs_f64());
    }
    println!("==> {} steps passed in {:.1} s", steps.len(), begin.elapsed().as_secs_f64());
    Ok(())
}

fn parse(arguments: &[&str]) -> Result<(Vec<&'static Step>, Options), String> {
    // A build of cargo-deny takes minutes: CI can afford it, the user decides.
    let mut options = Options { with_deny: process::in_ci() };
    let mut only: Option<Vec<&str>> = None;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match *argument {
            "--with-deny" => options.with_deny = true,
            "--only" => {
                let names = arguments.next().ok_or("`--only` needs names of steps, as in `--only fmt,clippy`")?;
                only = Some(names.split(',').collect());
            }
            unknown => {
                return Err(format!("`test` knows no argument `{unknown}`; it takes --only, --with-deny, --list"));
            }
        }
    }
    let Some(only) = only else { return Ok((STEPS.iter().collect(), options)) };
    if let Some(unknown) = only.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        return Err(format!("no step `{unknown}`; the steps are {}", known.join(", ")));
    }
    Ok((STEPS.iter().filter(|step| only.contains(&step.name)).collect(), options))
}

fn fmt() -> Done {
    process::component("rustfmt", "fmt")?;
    process::run(process::cargo().args(["fmt", "--all", "--check"]))
        .map_err(|cause| format!("{cause}; try `cargo fmt --all`"))
}

fn clippy() -> Done {
    process::component("clippy", "clippy")?;
    let clippy = ["clippy", "--locked", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    process::run(process::cargo().args(clippy))
}

/// Two runs, because each sees links the other is blind to: the public one links to private items, the private
/// one broken links inside private items.
fn docs() -> Done {
    for private in [&["--document-private-items"][..], &[]] {
        let doc = ["doc", "--locked", "--workspace", "--no-deps", "--quiet"];
        process::run(process::cargo().args(doc).args(private).env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(())
}

/// The runner that comes with cargo: it is always there, and it runs documentation tests too.
fn tests() -> Done {
    let mut cargo = process::cargo();
    // One tree, one answer: the gate draws the same inputs every time, `cargo xtask search` draws new ones.
    if std::env::var_os(search::SEED).is_none() {
        cargo.env(search::SEED, "1");
    }
    process::run(cargo.args(["test", "--locked", "--workspace"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_steps_keep_the_order_of_the_gate() {
        let (steps, _) = parse(&["--only", "clippy,fmt"]).unwrap_or_else(|error| panic!("{error}"));
        let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
        assert_eq!(names, ["fmt", "clippy"]);
    }

    #[test]
    fn unknown_steps_and_arguments_are_named() {
        let error = |arguments: &[&str]| parse(arguments).map(|_| ()).unwrap_err();
        assert!(error(&["--only", "fmt,lint"]).starts_with("no step `lint`"));
        assert!(error(&["--fast"]).contains("`--fast`"));
        assert!(error(&["--only"]).contains("needs names"));
    }
}
