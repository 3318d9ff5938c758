use std::fs;

use punch_testkit::scripted::{AgentScript, ScriptedServer, ServerOptions};
use serde_json::{Value, json};

use super::client::{post, start, whole};

/// The words of the answer to these words.
fn ask(server: &ScriptedServer, words: &[&str]) -> String {
    let messages: Vec<Value> = words.iter().map(|words| json!({"role": "user", "content": words})).collect();
    let tools = json!([{"name": "Bash"}]);
    let answer = whole(server, "/v1/messages", &json!({"model": "m", "messages": messages, "tools": tools}));
    answer["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_request_sent_again_gets_the_same_step() {
    let server = start(json!({"steps": [{"text": "one"}, {"text": "two"}], "after": {"text": "later"}}));
    assert_eq!(ask(&server, &["a"]), "one");
    assert_eq!(ask(&server, &["a"]), "one");
    assert_eq!(ask(&server, &["a", "b"]), "two");
    assert_eq!(ask(&server, &["a", "b", "c"]), "later");
    assert_eq!(server.report().played, [("main".to_owned(), 3)].into());
    assert_eq!(server.report().requests, 4);
}

#[test]
fn broken_expectations_and_unplayed_steps_are_reported() {
    let server = start(json!({"steps": [
        {"expect": ["present", ["absent", "present"], "absent"], "reject": ["present"], "offered": ["todo"]},
        {"text": "never"},
    ]}));
    ask(&server, &["present"]);
    assert_eq!(
        server.report().failures,
        [
            "track main, step 0: nothing in the request says `absent`",
            "track main, step 0: something in the request says `present`",
            "track main, step 0: no tool was offered whose name has `todo`",
            "track main: ended after 1 of 2 steps",
        ]
    );
}

#[test]
fn an_error_is_followed_by_the_next_step() {
    let server = start(json!({"steps": [{"error": 529, "text": "full"}, {"text": "now"}]}));
    let body = json!({"messages": [{"role": "user", "content": "a"}], "tools": [{"name": "Bash"}]});
    let (status, answer) = post(&server, "/v1/messages", &body);
    assert_eq!(status, 529);
    assert!(answer.contains("full"));
    assert_eq!(ask(&server, &["a"]), "now");
}

#[test]
fn tracks_take_what_fits_and_the_rest_is_an_aside() {
    let server = start(json!({
        "tracks": [
            {"name": "sub", "has": ["SUBAGENT"], "lacks": ["MAIN"], "steps": [{"text": "sub"}]},
            {"name": "main", "steps": [{"text": "main"}]},
        ],
        "aside": "a title",
    }));
    assert_eq!(ask(&server, &["MAIN with SUBAGENT"]), "main");
    assert_eq!(ask(&server, &["only SUBAGENT"]), "sub");
    let title = whole(&server, "/v1/messages", &json!({"messages": [{"role": "user", "content": "MAIN"}]}));
    assert_eq!(title["content"][0]["text"], "a title");
    assert_eq!(server.report().verdict(), Ok(()));
}

#[test]
fn words_of_the_request_can_be_used_in_the_answer() {
    let server = start(json!({"steps": [{"text": "id ${after:task #} and ${after:none }, ${after:open"}]}));
    assert_eq!(ask(&server, &["task #1, task #27: x"]), "id 27 and ${after:none }, ${after:open");
}

#[test]
fn an_agent_in_a_loop_is_ended() {
    let server = start(json!({"most_requests": 2, "after": {"text": "again"}}));
    let body =
        |n: usize| json!({"messages": [{"role": "user", "content": n.to_string()}], "tools": [{"name": "Bash"}]});
    let statuses: Vec<u16> = (0..4).map(|n| post(&server, "/v1/messages", &body(n)).0).collect();
    assert_eq!(statuses, [200, 200, 400, 400]);
    assert_eq!(server.report().failures, ["more than 2 requests"]);
}

#[test]
fn tools_that_were_not_offered_are_called_and_remarked() {
    let server = start(json!({"steps": [{"tools": [{"name": "mcp:punch/todo_read"}]}]}));
    let body = json!({"messages": [{"role": "user", "content": "a"}], "tools": [{"name": "Bash"}]});
    assert_eq!(whole(&server, "/v1/messages", &body)["content"][0]["name"], "mcp__punch__todo_read");
    assert_eq!(server.report().warnings, ["track main, step 0: tool `mcp:punch/todo_read` was not offered"]);
}

#[test]
fn every_request_is_kept_as_a_line() {
    let log = std::env::temp_dir().join(format!("punch-scripted-{}.jsonl", std::process::id()));
    let options = ServerOptions { log: Some(log.clone()), ..ServerOptions::default() };
    let server =
        ScriptedServer::start(AgentScript::parse(r#"{"steps": [{"text": "one"}]}"#).unwrap(), &options).unwrap();
    ask(&server, &["a\nb"]);
    post(&server, "/elsewhere", &json!({}));
    let text = fs::read_to_string(&log).unwrap();
    fs::remove_file(&log).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["body"]["messages"][0]["content"], "a\nb");
    assert_eq!((&lines[0]["track"], &lines[0]["answer"]["text"]), (&json!("main"), &json!("one")));
    assert_eq!(lines[1]["path"], "POST /elsewhere");
    assert_eq!(lines.len(), 2);
}

#[test]
fn a_misspelt_script_is_refused() {
    for script in [
        r#"{"steps": [{"expects": ["x"]}]}"#,
        r#"{"step": []}"#,
        r#"{"steps": [{"text": "x"}], "tracks": [{"name": "y"}]}"#,
        r#"{"tracks": [{"name": "y"}, {"name": "y"}]}"#,
        "[",
    ] {
        assert!(AgentScript::parse(script).is_err(), "{script}");
    }
}
