//! `punch serve` as a process: how it hands its address to a browser, and what another user of the machine gets from it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use punch_web::{NewToken, TokenFile, TokenRole};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::run::terminal::Watched;
use crate::world::{PUNCH, World, answer, finished, ids};

/// Records how it was started, then lets the test read it.
const BROWSER: &str = r#"#!/bin/sh
{ echo "$#"; echo "$1"; stat -c %a "$1"; cat "$1"; } > "$OPENED"
"#;

/// A server that ends with the test.
pub struct Served(pub Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(world: &World, arguments: &[&str], variables: &[(&str, &Path)]) -> Served {
    let mut command = world.command(&[&["serve", "--port", "0"], arguments].concat());
    command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::null());
    Served(command.spawn().unwrap())
}

/// A server as programs start it, with the first line that it prints.
fn start_json(world: &World, arguments: &[&str]) -> (Served, Value) {
    let mut served = start(world, &[&["--json"], arguments].concat(), &[]);
    let first = first_line(served.0.stdout.take().unwrap());
    (served, serde_json::from_str(&first).unwrap())
}

fn first_line(from: impl Read) -> String {
    let mut line = String::new();
    BufReader::new(from).read_line(&mut line).unwrap();
    line
}

/// Where a server listens, by an address that it printed.
fn address(url: &str) -> &str {
    url.split('/').nth(2).unwrap()
}

/// Status and body of the answer to one POST.
fn post(address: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> (u16, String) {
    let body = body.to_string();
    let mut text = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    text.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
    headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

/// The session that a printed link opens.
fn login(link: &str) -> Value {
    let (page, secret) = link.trim().split_once("#t=").unwrap();
    let (status, body) = post(address(page), "/api/v1/session", &[], &json!({"token": secret}));
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

/// The status of an attempt to change the plan through the API.
fn write(address: &str, token: &Value) -> u16 {
    let bearer = format!("Bearer {}", token.as_str().unwrap());
    let body = json!({"ops": [{"op": "add", "content": "over the API"}]});
    post(address, "/api/v1/plans/main/ops", &[("Authorization", &bearer)], &body).0
}

/// Calls a tool at `/mcp`.
fn call(address: &str, token: &str, tool: &str, arguments: Value) -> (u16, String) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    });
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let bearer = format!("Bearer {token}");
    let headers = [
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
        ("Authorization", bearer.as_str()),
    ];
    post(address, "/mcp", &headers, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
}

fn add(address: &str, token: &str) -> (u16, String) {
    call(address, token, "todo_write", json!({"ops": [{"op": "add", "content": "by an agent"}]}))
}

fn state(world: &World) -> PathBuf {
    world.root.join("home/.local/state")
}

/// A token, made without the verb: a test may be run by an agent, for which the verb makes only readers.
fn made(world: &World, name: &str, role: TokenRole) -> String {
    TokenFile::in_folder(&state(world)).add(&NewToken { name: name.into(), role, expires_at: None }, 0).unwrap()
}

/// What the API of a server of its own answers to a request.
pub fn read(world: &World, path: &str) -> Value {
    let (_served, first) = start_json(world, &[]);
    let (api, token) = (first["api"].as_str().unwrap(), first["token"].as_str().unwrap());
    let (address, base) = api.strip_prefix("http://").and_then(|rest| rest.split_once('/')).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let bearer = format!("Host: {address}\r\nAuthorization: Bearer {token}");
    write!(stream, "GET /{}{path} HTTP/1.0\r\n{bearer}\r\n\r\n", base.trim_end_matches('/')).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{answer}");
    serde_json::from_str(body).unwrap()
}

/// What `--open` gave to the browser.
struct Opened {
    served: Served,
    file: PathBuf,
    mode: String,
    page: String,
}

fn open(world: &World) -> Opened {
    let (browser, pipe) = (world.root.join("browser"), world.root.join("opened"));
    fs::write(&browser, BROWSER).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let served = start(world, &["--open"], &[("BROWSER", &browser), ("OPENED", &pipe)]);
    let mut text = String::new();
    fs::File::open(&pipe).unwrap().read_to_string(&mut text).unwrap();
    let mut lines = text.splitn(4, '\n').map(str::to_owned);
    let mut next = || lines.next().unwrap();
    assert_eq!(next(), "1", "one argument");
    Opened { served, file: next().into(), mode: next(), page: next() }
}

#[test]
fn a_browser_gets_the_address_in_a_private_file_and_not_as_an_argument() {
    let world = World::new();
    let opened = open(&world);
    assert_eq!(opened.mode, "600");
    assert!(!opened.file.to_string_lossy().contains("#t="), "{}", opened.file.display());
    let link = opened.page.split("url=").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(link.starts_with("http://127.0.0.1:") && link.contains("/#t="), "{link}");
    assert!(!opened.page.contains("<script"), "{}", opened.page);
    let secret = link.split_once("#t=").unwrap().1;
    for name in ["cmdline", "environ"] {
        let shown = fs::read(format!("/proc/{}/{name}", opened.served.0.id())).unwrap();
        assert!(!String::from_utf8_lossy(&shown).contains(secret), "{name}");
    }
}

/// Only the superuser can act as someone else, so this runs in containers and CI.
#[test]
fn another_user_of_the_machine_gets_nothing() {
    let other = |program: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).args(program);
        command.env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::null()).output()
    };
    if !other(&["true"]).is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: this user cannot act as another one");
        return;
    }
    let world = World::new();
    world.punch(&["token", "new", "phone", "--role", "owner"]);
    let opened = open(&world);
    let folder = opened.file.parent().unwrap();
    // The way there is open to everyone: what is refused is refused by the files themselves.
    for above in folder.ancestors().skip(1).take_while(|above| above.starts_with(&world.root)) {
        fs::set_permissions(above, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut secrets = vec![opened.file.clone()];
    secrets.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()));
    assert!(secrets.len() > 1, "{secrets:?}");
    for path in &secrets {
        let name = path.to_str().unwrap();
        assert!(other(&["test", "-x", folder.parent().unwrap().to_str().unwrap()]).unwrap().status.success());
        assert!(!other(&["cat", name]).unwrap().status.success(), "{name}");
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o077, 0, "{name}");
    }
    let port = opened.page.split("127.0.0.1:").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let ask = |path: &str, header: &str| {
        let line = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'GET {path} HTTP/1.0\\r\\nHost: 127.0.0.1:{port}\\r\\n{header}\\r\\n' >&3; cat <&3"
        );
        let answer = other(&["bash", "-c", &line]).unwrap();
        String::from_utf8_lossy(&answer.stdout).lines().next().unwrap_or_default().to_owned()
    };
    for path in ["/api/v1", "/api/v1/plans", "/api/v1/plans/main/board", "/api/v1/plans/main/events", "/mcp"] {
        for header in ["", "Authorization: Bearer guess\\r\\n", "Cookie: __Host-punch=guess\\r\\n"] {
            let status = ask(path, header);
            assert!(status.contains(" 401 ") || status.contains(" 403 "), "{path} {header}: {status}");
        }
    }
    assert!(ask("/", "").contains(" 200 "), "the page itself needs no token");
}

#[test]
fn with_json_the_first_line_is_for_programs_and_its_token_answers_no_question() {
    let world = World::new();
    let (_served, first) = start_json(&world, &[]);
    let names: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(names, ["schema", "url", "api", "token"], "{first}");
    assert!(first["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{first}");
    assert!(!first["url"].as_str().unwrap().contains(first["token"].as_str().unwrap()));
}

#[test]
fn a_json_log_goes_to_standard_error_and_probes_are_answered() {
    let world = World::new();
    let mut command = world.command(&["serve", "--port", "0", "--json", "--log", "json"]);
    let mut served = Served(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(served.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let first: Value = serde_json::from_str(&line).unwrap();
    let address = first["api"].as_str().unwrap().split('/').nth(2).unwrap().to_owned();
    let mut stream = std::net::TcpStream::connect(&address).unwrap();
    write!(stream, "GET /readyz HTTP/1.0\r\nHost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(" 200 ") && answer.ends_with("ready\n"), "{answer}");
    let mut logged = String::new();
    BufReader::new(served.0.stderr.take().unwrap()).read_line(&mut logged).unwrap();
    let record: Value = serde_json::from_str(&logged).unwrap();
    assert_eq!(
        (&record["event"], &record["route"], &record["status"]),
        (&"request".into(), &"readyz".into(), &200.into())
    );
}

#[test]
fn agents_write_over_mcp_with_an_agent_token_or_the_token_file_and_with_nothing_else() {
    let world = World::new();
    let ci = made(&world, "ci", TokenRole::Agent);
    let others = [made(&world, "phone", TokenRole::Owner), made(&world, "wall", TokenRole::Reader), "guess".to_owned()];
    let (_served, first) = start_json(&world, &[]);
    let at = address(first["api"].as_str().unwrap());
    let file = fs::read_to_string(state(&world).join("punch/token")).unwrap().trim().to_owned();
    for (token, by) in [(&ci, "ci"), (&file, "tester")] {
        let (status, body) = add(at, token);
        assert!(status == 200 && body.contains("by an agent"), "{body}");
        assert_eq!(world.json(&["log"])["revisions"][0]["by"], by);
    }
    for token in others.iter().chain([&first["token"].as_str().unwrap().to_owned()]) {
        let (status, body) = add(at, token);
        assert_eq!(status, 401, "{body}");
    }
    assert_eq!(world.ids().len(), 2);
}

#[test]
fn with_read_only_nobody_writes_and_agents_can_read() {
    let world = World::new();
    world.ok(&["add", "first"]);
    let (ci, phone) = (made(&world, "ci", TokenRole::Agent), made(&world, "phone", TokenRole::Owner));
    let (_served, first) = start_json(&world, &["--read-only"]);
    let at = address(first["api"].as_str().unwrap());
    let file = fs::read_to_string(state(&world).join("punch/token")).unwrap().trim().to_owned();
    for token in [&ci, &file] {
        let (_, refused) = add(at, token);
        assert!(refused.contains("no tool `todo_write`"), "{refused}");
        let (status, read) = call(at, token, "todo_read", json!({"view": "plan"}));
        assert!(status == 200 && read.contains("first"), "{read}");
    }
    assert_eq!((write(at, &first["token"]), write(at, &json!(phone))), (403, 403));
    assert_eq!(world.ids(), ["T-1"]);
}

/// A command as an agent starts it, with the mark of the agent or below a process that has removed it.
fn below_an_agent(world: &World, arguments: &[&str], hides: bool) -> Command {
    let mut command = world.program("sh");
    let script = if hides { "unset CLAUDECODE; \"$@\"; exit $?" } else { "exec \"$@\"" };
    command.args(["-c", script, "sh", PUNCH]).args(arguments).env("CLAUDECODE", "1");
    command
}

#[test]
fn an_agent_makes_only_tokens_that_read() {
    let world = World::new();
    for hides in [false, true] {
        let new = |arguments: &[&str]| {
            let all = [&["token", "new", "mine", "--json"], arguments].concat();
            finished(below_an_agent(&world, &all, hides).output().unwrap())
        };
        for role in [&[][..], &["--role", "owner"], &["--role", "agent"]] {
            assert_eq!(answer(&new(role))["error"]["code"], "user_only", "{role:?}");
        }
        assert!(TokenFile::in_folder(&state(&world)).list().unwrap().is_empty());
        assert_eq!(answer(&new(&["--role", "reader"]))["role"], "reader");
        TokenFile::in_folder(&state(&world)).revoke("mine").unwrap();
    }
    assert_eq!(Watched::start(world.command(&["token", "new", "phone"])).ends().0, Some(0), "the user makes others");
    assert_eq!(TokenFile::in_folder(&state(&world)).list().unwrap()[0].role, TokenRole::Owner);
}

#[test]
fn a_server_that_an_agent_starts_only_reads() {
    let world = World::new();
    world.ok(&["add", "first"]);
    let mut command = below_an_agent(&world, &["serve", "--port", "0", "--json"], false);
    let mut served = Served(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let first: Value = serde_json::from_str(&first_line(served.0.stdout.take().unwrap())).unwrap();
    let at = address(first["api"].as_str().unwrap());
    let session = login(first["url"].as_str().unwrap());
    assert_eq!((&session["role"], &session["can"]), (&json!("reader"), &json!({"write": false, "answer": false})));
    assert_eq!((write(at, &session["token"]), write(at, &first["token"])), (403, 403));
    assert_eq!(world.ids(), ["T-1"]);
}

/// The first line with a link that a server prints on its terminal.
fn link_on(terminal: &Watched) -> String {
    loop {
        let printed = terminal.printed();
        let line = printed.split_inclusive("\r\n").find(|line| line.contains("#t=") && line.ends_with("\r\n"));
        if let Some(line) = line {
            return line.to_owned();
        }
        std::thread::yield_now();
    }
}

/// What a link of the user may do that goes to a pipe, or to the terminal if there is none.
fn rights(arguments: &[&str], pipe: bool) -> Value {
    let world = World::new();
    let fifo = world.root.join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let serve = [&["serve", "--port", "0"], arguments].concat();
    let watched = if pipe {
        let mut command = world.program("sh");
        command.args(["-c", "exec \"$@\" > \"$FIFO\"", "sh", PUNCH]).args(serve).env("FIFO", &fifo);
        Watched::start(command)
    } else {
        Watched::start(world.command(&serve))
    };
    let line = if pipe { first_line(fs::File::open(&fifo).unwrap()) } else { link_on(&watched) };
    let link = serde_json::from_str(&line).map_or(line, |first: Value| first["url"].as_str().unwrap().to_owned());
    let session = login(&link);
    watched.signal(Signal::TERM);
    watched.ends();
    session["can"].clone()
}

#[test]
fn a_link_answers_questions_only_if_it_is_printed_on_a_terminal() {
    for arguments in [&[][..], &["--json"]] {
        assert_eq!(rights(arguments, false), json!({"write": true, "answer": true}), "{arguments:?}");
        assert_eq!(rights(arguments, true), json!({"write": true, "answer": false}), "{arguments:?}");
    }
}

/// The file with this name somewhere below a folder: with plans on a server, it is not beside a store.
fn below(root: &Path, name: &str) -> Option<PathBuf> {
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                _ if entry.file_name() == name => return Some(entry.path()),
                _ => {}
            }
        }
    }
    None
}

#[test]
fn the_user_gives_several_todos_to_an_agent_that_outlives_the_server() {
    let world = World::new();
    for text in ["one", "two", "three"] {
        world.ok(&["add", text]);
    }
    let bin = world.root.join("bin");
    let (started, go) = (world.root.join("started"), world.root.join("go"));
    fs::create_dir(&bin).unwrap();
    for pipe in [&started, &go] {
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let script =
        format!("#!/bin/sh\necho it speaks\necho \"$2\" > \"$STARTED\"\nread -r _ < \"$GO\"\n{PUNCH} done T-1 T-3\n");
    fs::write(bin.join("claude"), script).unwrap();
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = world.command(&["serve", "--port", "0"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env("STARTED", &started).env("GO", &go);
    let watched = Watched::start(command);
    let link = link_on(&watched);
    let session = login(&link);
    let bearer = format!("Bearer {}", session["token"].as_str().unwrap());
    let assign = |todos: &[&str], agent: &str| {
        let body = json!({"todos": todos, "agent": agent});
        let (status, body) = post(address(&link), "/api/v1/plans/main/assign", &[("Authorization", &bearer)], &body);
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    let refused = |(status, body): (u16, Value)| (status, body["code"].as_str().unwrap().to_owned());
    assert_eq!(refused(assign(&["T-1"], "qwen")), (422, "no_agent".into()), "it is not installed");
    assert_eq!(refused(assign(&["T-9"], "claude")), (404, "unknown_todo".into()));
    assert_eq!(refused(assign(&[], "claude")), (422, "invalid".into()));
    let (status, given) = assign(&["T-3", "T-1"], "claude");
    assert_eq!((status, &given["todos"]), (200, &json!(["T-3", "T-1"])), "{given}");
    let prompt = fs::read_to_string(&started).unwrap();
    assert!(prompt.contains("IDs: T-3, T-1"), "{prompt}");
    watched.signal(Signal::TERM);
    watched.ends();
    fs::write(&go, "go\n").unwrap();
    let log = below(&world.root, &format!("{}.log", given["session"].as_str().unwrap())).unwrap();
    while !fs::read_to_string(&log).unwrap().contains("claude has finished") {
        std::thread::yield_now();
    }
    assert!(fs::read_to_string(&log).unwrap().contains("it speaks"));
    assert_eq!(ids(&world.json(&["list", "is:open"])), ["T-2"]);
}

/// The boards write as the user, so an agent learns of it like of a command.
#[test]
fn what_you_change_in_the_browser_is_told_to_the_agent() {
    let world = World::with_git();
    let hook = |tool: &str, input: Value| {
        let report = json!({"session_id": "s", "tool_name": tool, "tool_input": input, "tool_response": {}});
        let run = world.feed(&["hook", "--agent", "claude", "PostToolUse"], &report.to_string());
        assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""));
        run.stdout
    };
    let todos = json!([{"content": "one", "status": "in_progress", "activeForm": "one"}]);
    hook("TodoWrite", json!({ "todos": todos }));
    let watched = Watched::start(world.command(&["serve", "--port", "0"]));
    let link = link_on(&watched);
    assert_eq!(write(address(&link), &login(&link)["token"]), 200);
    watched.signal(Signal::TERM);
    watched.ends();
    let said = hook("Bash", json!({"command": "true"}));
    assert!(said.contains("The user changed the plan") && said.contains("over the API"), "{said}");
}

#[test]
fn an_address_for_programs_is_not_opened_as_well() {
    let world = World::new();
    assert_eq!(world.refused(&["serve", "--port", "0", "--open"]), (2, "usage".to_owned()));
}
