//! The web board on plans in PostgreSQL: what other machines change reaches its stream, also after the database was away.
#![cfg(all(target_os = "linux", feature = "postgres"))]

use std::io::{BufRead, BufReader, Lines, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use punch_testkit::postgres::{self, Cluster, Disk};
use serde_json::Value;

use crate::postgres::Team;
use crate::serve::Served;
use crate::world::World;

/// A client of the board, as a browser is one: a stream that ends is opened again where it ended.
struct Board {
    address: String,
    token: String,
    last: Option<String>,
    lines: Option<Lines<BufReader<TcpStream>>>,
}

/// What a stream says.
enum Frame {
    /// Something has changed.
    Change(String),
    /// Too much has happened since: the client loads the board anew.
    Reset,
    Other,
}

impl Board {
    /// Sends a request and returns the lines of the answer; `None` unless it is a good one.
    fn get(&self, path: &str) -> Option<Lines<BufReader<TcpStream>>> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let last = self.last.as_ref().map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        let Self { address, token, .. } = self;
        let head = format!("Host: {address}\r\nAuthorization: Bearer {token}\r\n{last}");
        write!(stream, "GET /api/v1/plans/main/{path} HTTP/1.0\r\n{head}\r\n").unwrap();
        let mut lines = BufReader::new(stream).lines();
        lines.next()?.ok()?.contains(" 200 ").then_some(lines)
    }

    /// The next frame. Where the stream ends, it is opened again.
    fn frame(&mut self) -> Frame {
        let mut event = String::new();
        for _ in 0..1_000 {
            let Some(line) = self.lines.as_mut().and_then(|lines| lines.next()?.ok()) else {
                self.lines = self.get("events");
                continue;
            };
            if let Some(id) = line.strip_prefix("id: ") {
                self.last = Some(id.to_owned());
            } else if let Some(name) = line.strip_prefix("event: ") {
                event = name.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return match event.as_str() {
                    "change" => Frame::Change(data.to_owned()),
                    "reset" => Frame::Reset,
                    _ => Frame::Other,
                };
            }
        }
        panic!("the stream cannot be opened");
    }

    /// Reads until a todo is shown.
    fn shows(&mut self, content: &str) -> Frame {
        for _ in 0..1_000 {
            match self.frame() {
                Frame::Change(data) if data.contains(content) => return Frame::Change(data),
                Frame::Reset => {
                    let board = self.get("board").into_iter().flatten().map_while(Result::ok).collect::<String>();
                    if board.contains(content) {
                        return Frame::Reset;
                    }
                }
                Frame::Change(_) | Frame::Other => {}
            }
        }
        panic!("the board does not show `{content}`");
    }
}

#[test]
fn the_board_shows_changes_of_other_machines_also_after_the_server_was_restarted() {
    if postgres::shared().is_none() {
        return;
    }
    let cluster = Cluster::start(Disk::Durable).unwrap();
    let team = Team { world: World::with_git(), address: cluster.address("postgres") };
    team.world.ok(&["init", "--store", &team.address, "--project", "shop", "--no-agents"]);
    let other = World::with_git();
    let add = |content: &str| {
        let run = team.elsewhere(&other, &["add", content]);
        assert_eq!(run.exit, Some(0), "{}", run.render());
    };
    let mut command = team.world.command(&["serve", "--port", "0", "--json"]);
    let mut served = Served(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(served.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let first: Value = serde_json::from_str(&line).unwrap();
    let text = |name: &str| first[name].as_str().unwrap().to_owned();
    let address = text("api").split('/').nth(2).unwrap().to_owned();
    let mut board = Board { address, token: text("token"), last: None, lines: None };
    board.frame();
    add("while it looks");
    assert!(matches!(board.shows("while it looks"), Frame::Change(_)));
    for mode in ["fast", "immediate"] {
        cluster.stop(mode).unwrap();
        cluster.resume().unwrap();
        add(mode);
        board.shows(mode);
    }
}
