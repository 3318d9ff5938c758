//! Project tasks: what the build cannot express by itself. `cargo xtask` lists them.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task runner talks to the person who runs it")]

mod agents;
mod api;
mod bench;
mod boards;
mod cargo_tool;
mod chaos;
mod compare;
mod conformance;
mod counts;
mod crates;
mod deny;
mod dist;
mod error_codes;
mod escape;
mod exhaustive;
mod faults;
mod features;
mod fuzz;
mod inspector;
mod install;
mod licences;
mod links;
mod metadata;
mod named_files;
mod network;
mod paths;
mod postgres;
mod process;
mod promises;
mod public_api;
mod registry;
mod release;
mod screenshots;
mod search;
mod shipped;
mod simulate;
mod size;
mod soak;
mod sources;
mod support;
mod svg;
mod tables;
mod test;
mod type_names;
mod unused;
mod web;
mod wording;

use std::path::Path;
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask <TASK>

Tasks:
  test [--only STEP,…] [--with-deny]   everything a change must pass; what CI runs
  test --without-agents                the same without the steps that download real agents with npm
  test --list                          the steps of `test`
  install [--root DIR]                 `punch` built for daily use, into cargo's folder of programs
  agents [AGENT…] [--all] [--list]     real coding agents against a scripted model
  model SCRIPT [--port N]              the scripted model alone
  api [--seconds N]                    requests drawn from the API's description, by schemathesis, to `punch serve`
  boards [WORD… | --pictures]          the terminal board in tmux, driven by keys while other processes work
  conformance                          the protocol's own suite on our HTTP stack, its inspector on `punch mcp`
  bench mcp                            tokens, times and memory of `punch mcp`, beside a bare server
  bench cli                            CPU per call of `punch`, beside a bare program and Taskwarrior
  bench hooks                          the rows of `bench cli` about hooks, in a third of the time
  bench run                            what `punch run` adds to a bare spawn, to git, on a large plan; memory and idle CPU
  bench follow                         how soon a change is seen in another process, and the idle CPU of a follower
  bench boards                         what the boards of 10,000 todos cost: first picture, updates, idle, streams
  bench inbox                          what the inbox of 10,000 todos costs: at most 5 ms
  bench large                          what each command costs on a plan of 200,000 todos
  bench library                        what the library adds to a program: crates, build time, bytes, time of a call
  bench fleet                          what plans in PostgreSQL cost, beside pgbench on the same server
  bench finish [--seeds N] [--write]   how much of a plan is really done when the agent stops, with and without punch
  bench tokens                         what the tools cost, and a plan of 20 todos with each agent, in tokens
  bench schedule                       what the orders of a schedule gain over 1,000 seeded plans, and cost
  compare [--with-beads-rust] [--punch P] the same work with other todo tools, into docs/benchmarks/compare.md
  compare --quick                      the same in some minutes, to see that every tool works; writes nothing
  dist [--once | --program P]          everything that users install: built twice, packed, installed and tried
  dist --target TARGET                 the same, and packages for another system that this one can build for
  release --check                      what has to hold before a release, step by step
  tables                               tables of the documentation that follow from the tree
  validate                             plugins and extensions, by the validators of their agents
  size                                 lines of code per crate, and the largest files
  simulate [--minutes N] [--hours N] [--seed N] [--figures]  fleets of workers on the real engine with a virtual clock and faults
  exhaustive                           every state within more writes, through pairs of policy values
  escape [--binary PATH]                  what agents, clones, archives and other users can make run
  faults [--rounds N] [--seed N] [--runs]  kill -9 in mid-write and of runs, and many processes at once, at length
  frameworks                           the library in agents of other frameworks; downloads and builds hundreds of crates
  fuzz [--seconds N] [--stable [--seed N]] [NAME…]  every fuzz target, or those of the names, for N seconds
  screenshots                          pictures of the program for the documentation, into docs/images
  search [--cases N] [NAME]            every property (or those of the name) with many new inputs
  web [--pictures]                     the bundle of the web page from its sources, or pictures of it into docs/images
  soak [--minutes N] [--seed N]        18 mixed writers with kill -9 on real stores; every promise checked
  chaos [--minutes N] [--seed N]       the same writers on a PostgreSQL server that crashes, hangs, fills up and is cut off
  chaos --workers [--minutes N] [--seed N]  workers in network namespaces that are cut off, killed and stopped";

/// What a task ends with: the error is a text for the person who ran it.
type TaskResult = Result<(), String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        ["test", rest @ ..] => test::run(rest),
        ["install", rest @ ..] => install::run(rest),
        ["agents", rest @ ..] => agents::run(rest),
        ["model", rest @ ..] => agents::model(rest),
        ["api", rest @ ..] => api::run(rest),
        ["boards", rest @ ..] => boards::run(rest),
        ["conformance"] => conformance::run(),
        ["bench", "mcp"] => bench::mcp(),
        ["bench", "schedule"] => bench::schedule(),
        ["bench", "inbox"] => bench::inbox(),
        ["bench", "large"] => bench::large(),
        ["bench", "library"] => bench::library(),
        ["bench", "fleet"] => bench::fleet(),
        ["bench", "follow"] => bench::follow(),
        ["bench", "boards"] => bench::boards::run(),
        ["bench", "cli"] => bench::cli::run(),
        ["bench", "hooks"] => bench::cli::hooks(),
        ["bench", "run"] => bench::run::run(),
        ["bench", "tokens", rest @ ..] => bench::tokens::run(rest),
        ["bench", "finish", rest @ ..] => bench::finish::run(rest),
        // The agent of the arm `punch run`.
        ["bench", "finish-agent", home] => bench::finish::agent(Path::new(home)),
        ["compare", rest @ ..] => compare::run(rest),
        ["dist", rest @ ..] => dist::run(rest),
        ["release", "--check"] => release::check(),
        ["tables"] => tables::update(),
        ["validate"] => agents::validate(),
        ["size"] => size::run(),
        ["exhaustive", rest @ ..] => exhaustive::run(rest),
        ["simulate", rest @ ..] => simulate::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["escape", rest @ ..] => escape::run(rest),
        ["faults", rest @ ..] => faults::run(rest),
        ["frameworks"] => features::frameworks(),
        ["screenshots"] => screenshots::run(),
        ["search", rest @ ..] => search::run(rest),
        ["web", rest @ ..] => web::run(rest),
        ["soak", rest @ ..] => soak::run(rest),
        ["chaos", rest @ ..] => chaos::run(rest),
        [unknown, ..] => Err(format!("no task `{unknown}`\n\n{HELP}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
