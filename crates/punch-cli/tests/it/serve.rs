//! `punch serve` as a process: how it hands its address to a browser, and what another user of the machine gets from it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::world::World;

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
    let mut served = start(&world, &["--json"], &[]);
    let mut line = String::new();
    BufReader::new(served.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let first: Value = serde_json::from_str(&line).unwrap();
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
