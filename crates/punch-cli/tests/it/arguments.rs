//! Help, version and usage errors.

use insta::assert_snapshot;

use crate::punch::punch;

#[test]
fn help_of_replay_has_examples() {
    assert_snapshot!(punch(&["replay", "--help"], "").render(), @r#"
    exit 0
    --- stdout
    Replay recorded todo calls of a dialect and print the answers.

    Reads JSON lines from standard input. Every line is one recording: its calls run in order on a fresh
    plan in memory, and one line {"id": ..., "results": [...]} is printed for it. Nothing is stored.

    A line that cannot be read prints {"id": null, "error": {"code", "message", "hint"}}; the other
    lines are still answered, and the exit code is 1.

    Usage: punch replay --dialect <NAME>

    Options:
          --dialect <NAME>
              The format of the calls

              [possible values: phases, phases-markdown, phases-commands, cursor, todowrite, extended,
              native, drive]

      -h, --help
              Print help (see a summary with '-h')

    Examples:
      punch replay --dialect todowrite < examples/todowrite.jsonl
      punch replay --dialect cursor < calls.jsonl | diff - expected.jsonl
    --- stderr
    "#);
}

#[test]
fn version_is_one_line() {
    let run = punch(&["--version"], "");
    assert_eq!(run.stdout, format!("punch {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn an_unknown_verb_is_a_usage_error() {
    assert_snapshot!(punch(&["replya"], "").render(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: unrecognized subcommand 'replya'

      tip: a similar subcommand exists: 'replay'

    Usage: punch [OPTIONS] [COMMAND]

    For more information, try '--help'.
    "#);
}

#[test]
fn an_unknown_dialect_lists_all_and_the_nearest() {
    assert_snapshot!(punch(&["replay", "--dialect", "todowrit"], "").render(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: invalid value 'todowrit' for '--dialect <NAME>'
      [possible values: phases, phases-markdown, phases-commands, cursor, todowrite, extended, native, drive]

      tip: a similar value exists: 'todowrite'

    For more information, try '--help'.
    "#);
}

#[test]
fn a_missing_dialect_is_a_usage_error() {
    assert_snapshot!(punch(&["replay"], "").render(), @r"
    exit 2
    --- stdout
    --- stderr
    error: the following required arguments were not provided:
      --dialect <NAME>

    Usage: punch replay --dialect <NAME>

    For more information, try '--help'.
    ");
}
