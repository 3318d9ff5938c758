//! Recorded conversations, one a dialect: `scripts/NAME.jsonl` holds the calls, the snapshot everything that was said.

use serde_json::{Value, json};

use super::client::{Client, project};

fn converse(arguments: &[&str], script: &str) -> String {
    let folder = project();
    let mut client = Client::ready(folder.path(), arguments);
    let mut out = String::new();
    for line in script.lines().filter(|line| !line.is_empty()) {
        let call: Value = serde_json::from_str(line).unwrap();
        let answer = client.request("tools/call", call.clone());
        out.push_str(&format!("> {call}\n"));
        let result = &answer["result"];
        match result["content"][0]["text"].as_str() {
            None => out.push_str(&format!("{answer}\n")),
            Some(text) => {
                let failed = if result["isError"] == true { "! " } else { "" };
                text.lines().for_each(|line| out.push_str(&format!("{failed}{line}\n")));
                if let Some(structured) = result.get("structuredContent") {
                    out.push_str(&format!("= {structured}\n"));
                }
            }
        }
        out.push('\n');
    }
    assert_eq!(client.end(), (Vec::new(), Some(0)));
    steady(&out)
}

/// What differs from run to run: times, and the names of processes.
fn steady(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let length = from.bytes().take_while(u8::is_ascii_digit).count();
        out.push_str(before);
        out.push_str(if length == 13 { "MS" } else { &from[..length] });
        rest = &from[length..];
    }
    out.push_str(rest);
    let mut words: Vec<String> = Vec::new();
    for piece in out.split("mcp-") {
        let cut = if words.is_empty() {
            0
        } else {
            piece.bytes().take_while(|b| b.is_ascii_hexdigit() || *b == b'-').count()
        };
        words.push(piece[cut..].to_owned());
    }
    words.join("mcp-ID")
}

#[test]
fn native() {
    insta::assert_snapshot!(converse(&["--tools", "claim"], include_str!("scripts/native.jsonl")));
}

#[test]
fn cursor() {
    insta::assert_snapshot!(converse(&["--dialect", "cursor"], include_str!("scripts/cursor.jsonl")));
}

#[test]
fn phases() {
    insta::assert_snapshot!(converse(&["--dialect", "phases"], include_str!("scripts/phases.jsonl")));
}

#[test]
fn todowrite() {
    insta::assert_snapshot!(converse(&["--dialect", "todowrite"], include_str!("scripts/todowrite.jsonl")));
}

#[test]
fn extended() {
    insta::assert_snapshot!(converse(&["--dialect", "extended"], include_str!("scripts/extended.jsonl")));
}

#[test]
fn structured_on_request() {
    insta::assert_snapshot!(converse(
        &["--dialect", "phases", "--structured"],
        include_str!("scripts/structured.jsonl")
    ));
}

#[test]
fn no_tools_where_they_are_switched_off_or_the_role_has_none() {
    let folder = project();
    for arguments in [["--role", "none"].as_slice(), &[]] {
        let mut command = super::client::punch(folder.path(), &[&["mcp"], arguments].concat());
        if arguments.is_empty() {
            command.env("PUNCH_TOOLS_ENABLED", "false");
        }
        let mut client = Client::spawn(command);
        assert_eq!(client.begin()["result"].get("instructions"), None);
        assert_eq!(client.request("tools/list", json!({}))["result"]["tools"], json!([]));
        let refused = client.request("tools/call", json!({"name": "todo_read"}));
        assert_eq!(refused["error"]["message"], "no tool `todo_read`: tools are switched off here");
    }
}

#[test]
fn a_server_that_only_reads_leaves_no_trace() {
    let folder = project();
    let mut client = Client::ready(folder.path(), &[]);
    assert_eq!(client.call("todo_read", json!({})), "There are no todos yet.\nrev 0");
    client.request("resources/read", json!({"uri": "punch://plan"}));
    assert!(!folder.path().join(".git/punch").exists());
}
