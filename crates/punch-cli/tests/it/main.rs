//! The binary as a user meets it: arguments and standard input in; standard output, standard error and exit code out.
#![expect(clippy::unwrap_used, reason = "a test that cannot run its program has failed")]

mod arguments;
#[cfg(unix)]
mod assign;
mod changes;
mod checkpoint;
mod claims;
mod copies;
mod disk;
mod docs;
mod docs_commands;
mod editing;
mod exchange;
mod files;
mod first_day;
mod flags;
#[cfg(all(target_os = "linux", feature = "postgres"))]
mod fleet;
mod formats;
mod git;
mod guard;
mod history;
mod hook_checks;
mod hooks;
mod inbox;
mod informed;
mod install;
mod install_keeps;
mod install_levels;
mod install_tools;
mod keeping;
mod killed;
mod log_follow;
mod looks;
mod lost;
mod many;
mod mcp;
mod mistakes;
mod newcomer;
#[cfg(target_os = "linux")]
mod on_a_terminal;
mod opencode_plugin;
mod other_languages;
mod plan_file;
mod plans;
mod postgres;
mod postgres_board;
mod punch;
mod reasons;
mod replay;
mod round_trips;
#[cfg(target_os = "linux")]
mod run;
mod same_everywhere;
mod schedule;
mod schemas;
mod scripted_agents;
#[cfg(target_os = "linux")]
mod serve;
mod settings;
mod store;
mod strange_text;
mod todo_commands;
#[cfg(unix)]
mod usage;
mod verify;
mod world;
