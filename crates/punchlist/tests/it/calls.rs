//! Tools and calls, in every dialect, whatever a model sends.

use punchlist::{Answer, Dialect, Op, Options, Role, Session, Shape, Status, ToolGroup, View, tools};
use serde_json::{Value, json};

fn session(dialect: Dialect) -> Session {
    Session::in_memory(Options::new("tester").dialect(dialect)).unwrap()
}

#[test]
fn every_dialect_has_its_tools_in_every_shape() {
    for dialect in &Dialect::ALL {
        let shapes: Vec<Vec<Value>> = Shape::ALL.iter().map(|shape| tools(*dialect, &ToolGroup::ALL, *shape)).collect();
        let [anthropic, chat, responses, mcp, gemini] = shapes.as_slice() else { panic!() };
        for (n, tool) in anthropic.iter().enumerate() {
            assert_eq!(chat[n]["function"]["name"], tool["name"]);
            assert_eq!(chat[n]["function"]["parameters"], tool["input_schema"]);
            assert_eq!(responses[n]["parameters"], tool["input_schema"]);
            assert_eq!(mcp[n]["inputSchema"], tool["input_schema"]);
            assert_eq!(gemini[n]["parametersJsonSchema"], tool["input_schema"]);
            assert_eq!(tool["input_schema"]["type"], "object");
            assert!(!tool["description"].as_str().unwrap().is_empty());
        }
        let names: Vec<&str> = mcp.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert!(names.contains(&"todo_claim") && names.contains(&"todo_checkpoint"), "{names:?}");
    }
}

#[test]
fn a_list_is_written_and_finished_in_every_dialect() {
    let calls = [
        (
            Dialect::Native,
            "todo_write",
            json!({"ops": [{"op": "add", "id": "a", "content": "A"}]}),
            json!({"ops": [{"op": "done", "id": "a"}]}),
        ),
        (
            Dialect::Cursor,
            "todo_write",
            json!({"merge": false, "todos": [{"id": "a", "content": "A"}]}),
            json!({"merge": true, "todos": [{"id": "a", "status": "completed"}]}),
        ),
        (
            Dialect::Phases,
            "todo_write",
            json!({"ops": [{"op": "init", "list": [{"phase": "P", "items": ["A"]}]}]}),
            json!({"ops": [{"op": "done", "task": "A"}]}),
        ),
        (
            Dialect::Todowrite,
            "TodoWrite",
            json!({"todos": [{"content": "A", "status": "pending", "activeForm": "Doing A"}]}),
            json!({"todos": [{"content": "A", "status": "completed", "activeForm": "Doing A"}]}),
        ),
        (
            Dialect::Extended,
            "todo_write",
            json!({"mode": "patch", "todos": [{"id": "a", "title": "A"}]}),
            json!({"mode": "patch", "todos": [{"id": "a", "status": "completed"}]}),
        ),
    ];
    for (dialect, tool, first, second) in calls {
        let session = session(dialect);
        for arguments in [first, second] {
            let answer = session.call(tool, &arguments).unwrap();
            assert!(!answer.is_error, "{}: {}", dialect.name(), answer.text);
            assert!(answer.structured.is_object());
        }
        let todos = session.todos().unwrap();
        assert_eq!((todos.len(), todos[0].content.as_str()), (1, "A"), "{}", dialect.name());
        assert_eq!(todos[0].status.stored(), Status::Completed, "{}", dialect.name());
        assert_eq!(session.progress().unwrap().percent(), 100);
    }
}

#[test]
fn what_makes_no_sense_is_answered_and_changes_nothing() {
    for dialect in &Dialect::ALL {
        let session = session(*dialect);
        let tool = if *dialect == Dialect::Todowrite { "TodoWrite" } else { "todo_write" };
        let deep = "[".repeat(100_000);
        let strange = [
            (tool, json!("{\"ops\": [")),
            (tool, json!(deep)),
            (tool, json!(null)),
            (tool, json!(42)),
            (tool, json!({"ops": 7, "todos": 7, "merge": "x"})),
            (tool, json!([])),
            ("todo_write\u{1b}[2J", json!({})),
            ("", json!({})),
        ];
        for (name, arguments) in &strange {
            let answer = session.call(name, arguments).unwrap();
            assert!(answer.is_error, "{}: {name} {}", dialect.name(), answer.text);
            assert!(answer.text.len() <= Answer::CAP && !answer.text.contains('\u{1b}'));
        }
        assert_eq!(session.revision().unwrap(), 0);
    }
}

#[test]
fn a_call_that_comes_again_gets_the_first_answer() {
    let session = session(Dialect::Native);
    let add = json!({"ops": [{"op": "add", "content": "Once"}]});
    let first = session.call_once("call_1", "todo_write", &add).unwrap();
    let again = session.call_once("call_1", "todo_write", &add).unwrap();
    assert_eq!((again.text, again.revision), (first.text, first.revision));
    assert_eq!(session.todos().unwrap().len(), 1);
    // Another content under the same number is another call.
    session.call_once("call_1", "todo_write", &json!({"ops": [{"op": "add", "content": "Twice"}]})).unwrap();
    assert_eq!(session.todos().unwrap().len(), 2);
}

#[test]
fn large_plans_are_answered_within_the_cap() {
    let session = session(Dialect::Native);
    let long = "zwölf Boxkämpfer ".repeat(25);
    let ops: Vec<Value> = (0..500).map(|_| json!({"op": "add", "content": long})).collect();
    assert!(session.call("todo_write", &json!({"ops": ops})).unwrap().text.len() <= Answer::CAP);
    for view in ["plan", "next", "ready", "why", "schedule", "history"] {
        let answer = session.call("todo_read", &json!({"view": view, "limit": 500, "all": true})).unwrap();
        assert!(!answer.is_error && answer.text.len() <= Answer::CAP, "{view}: {}", answer.text.len());
    }
}

#[test]
fn a_role_without_rights_has_no_tools() {
    let session = Session::in_memory(Options::new("t").role(Role::None)).unwrap();
    assert_eq!(session.tools(Shape::Mcp), Vec::<Value>::new());
    assert!(session.call("todo_write", &json!({"ops": []})).unwrap().is_error);
}

#[test]
fn every_view_shows_the_plan_and_json_comes_back_as_it_was() {
    let session = session(Dialect::Native);
    session.call("todo_write", &json!({"ops": [{"op": "add", "content": "Look at it", "phase": "One"}]})).unwrap();
    for view in
        [View::Checklist, View::Tree, View::Panel, View::Line, View::Markdown, View::Json, View::Dot, View::Mermaid]
    {
        assert!(session.view(view).unwrap().contains("Look at it"), "{view:?}");
    }
    let json: Value = serde_json::from_str(&session.view(View::Json).unwrap()).unwrap();
    assert_eq!(json["todos"][0]["content"], "Look at it");
    assert_eq!(session.ready(10).unwrap()[0].id.as_deref(), Some("T-1"));
}

#[test]
fn unknown_settings_and_names_are_errors_with_a_hint() {
    let error = Session::in_memory(Options::new("t").setting("keep_goin.enabled", "true")).err().unwrap();
    assert!(!error.hint.is_empty() && error.to_string().contains("keep_goin"), "{error}");
    let error = Session::in_memory(Options::new("t").shared(" a\nb ")).err().unwrap();
    assert_eq!(error.code, "invalid");
}

#[test]
fn a_list_of_todowrite_that_cannot_be_taken_as_sent_is_answered_with_the_difference() {
    for (change, word) in [(Op::cancel("T-1"), "cancelled"), (Op::remove("T-1"), "removed")] {
        let session = session(Dialect::Todowrite);
        let write = || {
            let todo = json!({"content": "Port it", "status": "in_progress", "activeForm": "Porting it"});
            session.call("TodoWrite", &json!({"todos": [todo]})).unwrap()
        };
        assert!(write().text.contains("[>] Port it"));
        // The model does not know of the change and sends the list it knows.
        session.apply_as_user(&[change]).unwrap();
        let answer = write();
        let read = [Some(answer.text), answer.reminder].into_iter().flatten().collect::<Vec<_>>().join("\n");
        assert!(read.contains(word) && !read.contains("[>] Port it"), "{word}: {read}");
    }
}
