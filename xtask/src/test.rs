//! `cargo xtask test`: the gate. Steps run in order, cheap ones first; the first failure ends the run.

use std::time::{Duration, Instant};

use crate::{
    TaskResult, agents, bench, boards, crates, deny, error_codes, escape, features, licences, links, named_files,
    network, postgres, process, promises, search, simulate, soak, sources, tables, unused, web, wording,
};

/// What the steps may depend on.
struct GateOptions {
    /// Build cargo-deny if it is missing.
    with_deny: bool,
}

/// Steps that download agents with npm.
const NEED_NPM: [&str; 2] = ["agents", "validate"];

/// Minutes that a step may take on two cores, after the build. A step that takes longer makes the gate too slow to be run.
const LIMITS: [(&str, u64); 7] =
    [("tests", 8), ("browser", 3), ("postgres", 3), ("soak", 2), ("escape", 2), ("agents", 5), (ALL, 20)];

/// The limit of all steps together.
const ALL: &str = "all steps";

/// One step of the gate.
struct GateStep {
    name: &'static str,
    what: &'static str,
    run: fn(&GateOptions) -> TaskResult,
}

const STEPS: &[GateStep] = &[
    GateStep { name: "fmt", what: "formatting", run: |_| fmt() },
    GateStep { name: "sources", what: "rules for source files that no compiler checks", run: |_| sources::check() },
    GateStep { name: "network", what: "which source files may use the network", run: |_| network::check() },
    GateStep {
        name: "unused",
        what: "public items that only tests use, settings that no code reads",
        run: |_| unused::check(),
    },
    GateStep {
        name: "guides",
        what: "files that ARCHITECTURE.md and CONTRIBUTING.md name",
        run: |_| named_files::check(),
    },
    GateStep { name: "links", what: "links and anchors in Markdown files", run: |_| links::check() },
    GateStep { name: "errors", what: "an entry in docs/errors.md for every error code", run: |_| error_codes::check() },
    GateStep { name: "words", what: "phrases that texts of this project do not use", run: |_| wording::check() },
    GateStep { name: "promises", what: "a test for every promise of the documentation", run: |_| promises::check() },
    GateStep {
        name: "tables",
        what: "tables of the documentation that follow from the tree",
        run: |_| tables::check(),
    },
    GateStep { name: "crates", what: "direction of dependencies between crates", run: |_| crates::check() },
    GateStep { name: "licences", what: "licences and origins of all dependencies", run: |_| licences::check() },
    GateStep { name: "deny", what: "advisories and bans, where cargo-deny can run", run: |o| deny::check(o.with_deny) },
    GateStep { name: "clippy", what: "lints, warnings denied", run: |_| clippy() },
    GateStep {
        name: "features",
        what: "the library with every set of features that hosts use",
        run: |_| features::check(),
    },
    GateStep { name: "docs", what: "documentation without warnings", run: |_| docs() },
    GateStep { name: "postgres", what: "plans in PostgreSQL, on a server of its own", run: |_| postgres::check() },
    GateStep { name: "tests", what: "all tests of the workspace", run: |_| tests() },
    GateStep { name: "escape", what: "what agents, clones and other users can make run", run: |_| escape::run(&[]) },
    GateStep { name: "finish", what: "every arm of the finish benchmark, in small", run: |_| bench::finish::small() },
    GateStep {
        name: "page",
        what: "the web page: types, unit tests, and the bundle from its sources",
        run: |_| web::check(),
    },
    GateStep { name: "boards", what: "the terminal board in tmux, driven by keys", run: |_| boards::run(&[]) },
    GateStep { name: "browser", what: "every page of the web board in chromium", run: |_| web::browse() },
    GateStep {
        name: "simulate",
        what: "simulated fleets with many faults, and every planted bug caught",
        run: |_| simulate::gate(),
    },
    GateStep { name: "soak", what: "mixed writers with kill -9, every promise checked", run: |_| soak::run(&[]) },
    GateStep { name: "agents", what: "real coding agents, one scenario each", run: |_| agents::run(&[]) },
    GateStep { name: "validate", what: "plugins and extensions, by their agents", run: |_| agents::validate() },
];

/// Runs all steps, or the chosen ones.
pub fn run(arguments: &[&str]) -> TaskResult {
    if arguments == ["--list"] {
        STEPS.iter().for_each(|step| println!("{:<10}{}", step.name, step.what));
        return Ok(());
    }
    let (steps, options) = parse(arguments)?;
    let begin = Instant::now();
    let left_out: Vec<&str> =
        STEPS.iter().map(|step| step.name).filter(|name| !steps.iter().any(|step| step.name == *name)).collect();
    for step in &steps {
        println!("==> {}: {}", step.name, step.what);
        let begin = Instant::now();
        (step.run)(&options).map_err(|cause| format!("step `{}` failed: {cause}", step.name))?;
        println!("    {} ok, {:.1} s", step.name, begin.elapsed().as_secs_f64());
        warn_if_slow(step.name, begin.elapsed());
    }
    println!("==> {} steps passed in {:.1} s", steps.len(), begin.elapsed().as_secs_f64());
    warn_if_slow(ALL, begin.elapsed());
    if !left_out.is_empty() {
        println!("    not run: {}", left_out.join(", "));
    }
    Ok(())
}

fn warn_if_slow(name: &str, took: Duration) {
    if let Some(warning) = slow(name, took) {
        eprintln!("WARNING: {warning}");
    }
}

/// Says by how much a step is over its limit. The time includes the build, so a first run may be over it.
fn slow(name: &str, took: Duration) -> Option<String> {
    let (_, minutes) = LIMITS.iter().find(|(limited, _)| *limited == name)?;
    let over = took > Duration::from_secs(minutes * 60);
    over.then(|| {
        format!("{name} took {:.1} minutes; the limit is {minutes} after the build", took.as_secs_f64() / 60.0)
    })
}

/// Returns true if there is a step of this name.
pub fn has_step(name: &str) -> bool {
    STEPS.iter().any(|step| step.name == name)
}

fn parse(arguments: &[&str]) -> Result<(Vec<&'static GateStep>, GateOptions), String> {
    // A build of cargo-deny takes minutes: CI can afford it, the user decides.
    let mut options = GateOptions { with_deny: process::in_ci() };
    let mut only: Option<Vec<&str>> = None;
    let mut without_agents = false;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match *argument {
            "--with-deny" => options.with_deny = true,
            "--without-agents" => without_agents = true,
            "--only" => {
                let names = arguments.next().ok_or("`--only` needs names of steps, as in `--only fmt,clippy`")?;
                only = Some(names.split(',').collect());
            }
            unknown => {
                return Err(format!(
                    "`test` knows no argument `{unknown}`; it takes --only, --with-deny, --without-agents, --list"
                ));
            }
        }
    }
    let Some(only) = only else {
        let wanted = |step: &&GateStep| !without_agents || !NEED_NPM.contains(&step.name);
        return Ok((STEPS.iter().filter(wanted).collect(), options));
    };
    if let Some(unknown) = only.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        return Err(format!("no step `{unknown}`; the steps are {}", known.join(", ")));
    }
    Ok((STEPS.iter().filter(|step| only.contains(&step.name)).collect(), options))
}

fn fmt() -> TaskResult {
    process::component("rustfmt", "fmt")?;
    process::run(process::cargo().args(["fmt", "--all", "--check"]))
        .map_err(|cause| format!("{cause}; try `cargo fmt --all`"))
}

fn clippy() -> TaskResult {
    process::component("clippy", "clippy")?;
    let clippy = ["clippy", "--locked", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    process::run(process::cargo().args(clippy))
}

/// Two runs, because each sees links the other is blind to: the public one links to private items, the private
/// one broken links inside private items.
fn docs() -> TaskResult {
    for private in [&["--document-private-items"][..], &[]] {
        let doc = ["doc", "--locked", "--workspace", "--no-deps", "--quiet"];
        process::run(process::cargo().args(doc).args(private).env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(())
}

/// The runner that comes with cargo: it is always there, and it runs documentation tests too.
fn tests() -> TaskResult {
    process::run(search::same_inputs(process::cargo().args(["test", "--locked", "--workspace"])))
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
    fn only_the_steps_that_need_npm_can_be_left_out_together() {
        let (steps, _) = parse(&["--without-agents"]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(steps.len() + NEED_NPM.len(), STEPS.len());
        assert!(NEED_NPM.iter().all(|name| STEPS.iter().any(|step| step.name == *name)));
    }

    #[test]
    fn a_step_over_its_limit_is_reported_and_the_guide_has_all_limits() {
        let minutes = |n: u64| Duration::from_secs(n * 60);
        assert_eq!(slow("tests", minutes(8)), None);
        assert_eq!(slow("fmt", minutes(99)), None);
        assert_eq!(
            slow("tests", minutes(9)).unwrap_or_default(),
            "tests took 9.0 minutes; the limit is 8 after the build"
        );
        assert!(LIMITS.iter().all(|(name, _)| *name == ALL || has_step(name)));
        let guide =
            std::fs::read_to_string(process::root().join("CONTRIBUTING.md")).unwrap_or_else(|cause| panic!("{cause}"));
        for (name, minutes) in LIMITS {
            assert!(guide.contains(&format!("| `{name}` | {minutes} |").replace(&format!("`{ALL}`"), ALL)), "{name}");
        }
    }

    #[test]
    fn unknown_steps_and_arguments_are_named() {
        let error = |arguments: &[&str]| parse(arguments).map(|_| ()).unwrap_err();
        assert!(error(&["--only", "fmt,lint"]).starts_with("no step `lint`"));
        assert!(error(&["--fast"]).contains("`--fast`"));
        assert!(error(&["--only"]).contains("needs names"));
    }
}
