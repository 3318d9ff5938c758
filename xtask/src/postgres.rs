//! The step `postgres` of the gate: the contract suite, the differential runs and the tests of the program on a server that
//! they start themselves. Where `CI` is set, PostgreSQL is installed if it is missing, and a skip is a failure.

use std::process::Command;

use punch_testkit::postgres::programs;

use crate::{TaskResult, process, search};

/// What the tests need: the server, a pooler in front of it, and wrong clocks.
const PACKAGES: [&str; 3] = ["postgresql", "pgbouncer", "faketime"];

/// Tests of the program that say something about a store in a file, and therefore nothing about one on a server: all others
/// also run with the plans of every test on a server.
const ABOUT_FILES: &[&str] = &[
    // Where stores in files are, how they break and how they are copied.
    "copies::",
    "disk::",
    "files::",
    "git::",
    "killed::",
    "lost::",
    "store::",
    "first_day::a_store_that_is_named_must_exist_and_one_outside_git_is_announced",
    "guard::a_setting_with_a_command_counts_once_the_user_approved_it",
    "guard::an_approval_of_an_earlier_version_is_void_and_that_is_said",
    "hooks::a_damaged_store_and_bad_settings_are_logged_and_told_to_nobody",
    "log_follow::a_store_that_is_not_there_is_waited_for",
    "log_follow::a_store_that_is_replaced_is_followed_at_its_new_place",
    "settings::every_setting_has_two_values_that_lead_to_different_behavior",
    // They look into the file themselves.
    "editing::an_empty_plan_is_begun_in_the_editor",
    "hook_checks::you_are_notified_of_what_agents_put_into_the_inbox",
    "inbox::a_finished_plan_is_listed_until_you_look",
    "inbox::a_session_that_begins_tells_the_user_how_many_things_need_them",
    "inbox::the_inbox_lists_what_needs_you_with_the_command_to_type",
    "inbox::the_tools_show_the_inbox_without_commands",
    "inbox::what_waits_for_approval_is_the_same_on_every_surface",
    "keeping::a_decision_can_be_replayed",
    "keeping::a_session_that_is_kept_going_says_so",
    "keeping::a_stop_is_explained",
    "keeping::an_agent_that_stopped_with_work_left_is_shown_until_you_look",
    "keeping::a_turn_is_shown_with_what_was_open",
    "keeping::people_switch_it_off_and_on",
    "keeping::tools_that_failed_are_named_before_and_after_the_next_stop",
    "same_everywhere::every_surface_gives_the_same_answer_to_the_same_question",
    // Their snapshots hold the note that a store was created in a folder.
    "changes::a_parked_todo_stays_in_the_list_and_is_no_open_work",
    "changes::add_makes_todos",
    "changes::add_reads_one_todo_per_line_from_standard_input",
    "exchange::todos_come_in_and_go_out",
    "formats::a_folder_of_tasks_comes_in_and_goes_out",
    "formats::a_plan_file_of_cursor_comes_in_and_goes_out",
    "formats::nested_lists_and_bad_files_are_told_apart",
    "plans::plans_are_made_chosen_renamed_and_put_away",
    "todo_commands::the_list_grows_is_worked_on_and_goes",
    // They have nothing to do with a store, or bring servers of their own.
    "docs",
    "install",
    "postgres",
    "round_trips::",
    // Runs start many agents and take minutes.
    "on_a_terminal::",
    "run::",
];

/// Runs the tests that need a server.
pub fn check() -> TaskResult {
    if process::in_ci() {
        install()?;
    } else if programs().is_none() {
        println!("    SKIPPED: PostgreSQL is not installed");
        return Ok(());
    }
    let test = |store: Option<&str>, arguments: &[&str]| {
        let mut cargo = process::cargo();
        if let Some(store) = store {
            cargo.env("PUNCH_TEST_STORE", store);
        }
        process::run(search::same_inputs(cargo.args(["test", "--locked", "--quiet"]).args(arguments)))
    };
    test(None, &["-p", "punch-store-pg"])?;
    test(None, &["-p", "punch-cli", "--test", "it", "--", "postgres", "round_trips::"])?;
    let skipped = ABOUT_FILES.iter().flat_map(|name| ["--skip", *name]);
    let same = ["-p", "punch-cli", "--test", "it", "--"].into_iter().chain(skipped);
    test(Some("postgres"), &same.collect::<Vec<_>>())
}

/// Installs the packages by name.
pub fn install() -> TaskResult {
    let mut apt = Command::new("apt-get");
    process::run(apt.args(["install", "--yes", "--no-install-recommends"]).args(PACKAGES))?;
    if programs().is_some() { Ok(()) } else { Err("PostgreSQL was installed and is not found".to_owned()) }
}
