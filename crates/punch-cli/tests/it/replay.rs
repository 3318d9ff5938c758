//! `punch replay`: how lines are read and answered. What a dialect answers is tested in the core.

use std::{
    fs::File,
    io::Write,
    process::{Command, Stdio},
};

use insta::assert_snapshot;

use crate::punch::{Run, punch, start};

const NATIVE: &[&str] = &["replay", "--dialect", "native"];

/// The lines of standard output; the texts of errors are checked for being there and left out.
fn answers(run: &Run) -> String {
    let mut out = format!("exit {}\n", run.exit.unwrap());
    for line in run.stdout.lines() {
        let mut json: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(error) = json.get_mut("error").and_then(|error| error.as_object_mut()) {
            for field in ["message", "hint"] {
                let text = error.insert(field.to_owned(), "…".into());
                assert!(text.and_then(|text| text.as_str().map(str::len)) > Some(0), "{field} in {line}");
            }
        }
        out.push_str(&format!("{json}\n"));
    }
    assert_eq!(run.stderr, "");
    out
}

#[test]
fn every_line_is_answered_in_order() {
    let run = punch(NATIVE, "{\"id\": \"a\", \"calls\": []}\n{\"id\": 2, \"calls\": []}\n");
    assert_snapshot!(answers(&run), @r#"
    exit 0
    {"id":"a","results":[]}
    {"id":2,"results":[]}
    "#);
}

#[test]
fn an_unreadable_line_is_answered_and_the_rest_goes_on() {
    let run = punch(NATIVE, "{\"id\": 1, \"calls\": []}\nnot json\n{\"id\": 3, \"calls\": []}\n");
    assert_snapshot!(answers(&run), @r#"
    exit 1
    {"id":1,"results":[]}
    {"id":null,"error":{"code":"invalid","message":"…","hint":"…"}}
    {"id":3,"results":[]}
    "#);
}

#[test]
fn bytes_that_are_no_text_are_an_unreadable_line() {
    let run = punch(NATIVE, b"{\"id\": \"\xff\", \"calls\": []}\n{\"id\": 2, \"calls\": []}\n");
    assert_snapshot!(answers(&run), @r#"
    exit 1
    {"id":null,"error":{"code":"invalid","message":"…","hint":"…"}}
    {"id":2,"results":[]}
    "#);
}

#[test]
fn no_input_gives_no_output() {
    assert_snapshot!(punch(NATIVE, "").render(), @r"
    exit 0
    --- stdout
    --- stderr
    ");
}

#[cfg(unix)]
#[test]
fn a_closed_standard_input_gives_no_output() {
    let punch = env!("CARGO_BIN_EXE_punch");
    let output = Command::new("sh").args(["-c", "exec \"$0\" \"$@\" <&-", punch]).args(NATIVE).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
}

#[cfg(unix)]
#[test]
fn input_that_cannot_be_read_is_told() {
    let folder = File::open(env!("CARGO_MANIFEST_DIR")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_punch")).args(NATIVE).stdin(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_snapshot!(String::from_utf8_lossy(&output.stderr), @r"
    error: cannot read standard input: is a directory
    hint: redirect a readable file to it
    ");
}

#[test]
fn the_last_line_needs_no_line_end() {
    assert_snapshot!(answers(&punch(NATIVE, "{\"id\": 1, \"calls\": []}")), @r#"
    exit 0
    {"id":1,"results":[]}
    "#);
}

#[test]
fn windows_line_ends_and_blank_lines_are_white_space() {
    let run = punch(NATIVE, "{\"id\": 1, \"calls\": []}\r\n\r\n \t\n\n{\"id\": 2, \"calls\": []}\r\n");
    assert_snapshot!(answers(&run), @r#"
    exit 0
    {"id":1,"results":[]}
    {"id":2,"results":[]}
    "#);
}

#[test]
fn other_line_separators_do_not_end_a_line() {
    let run = punch(NATIVE, "{\"id\": \"a\u{2028}b\u{85}c\", \"calls\": []}\n");
    assert_eq!(run.stdout, "{\"id\":\"a\u{2028}b\u{85}c\",\"results\":[]}\n");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = start(NATIVE);
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    // More than any buffer between us holds, so that the child must notice. It may be gone before we are done.
    for _ in 0..50_000 {
        if stdin.write_all(b"{\"id\": 1, \"calls\": []}\n").is_err() {
            break;
        }
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn a_line_of_many_megabytes_is_read() {
    let spaces = " ".repeat(32 << 20);
    let run = punch(NATIVE, format!("{{\"id\": 1, {spaces}\"calls\": []}}\n"));
    assert_eq!(run.stdout, "{\"id\":1,\"results\":[]}\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_punch"))
        .args(NATIVE)
        .stdin(Stdio::piped())
        .stdout(File::options().write(true).open("/dev/full").unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{\"id\": 1, \"calls\": []}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_snapshot!(String::from_utf8_lossy(&output.stderr), @r"
    error: cannot write standard output: no space left on device
    hint: free some space, or write somewhere else
    ");
}
