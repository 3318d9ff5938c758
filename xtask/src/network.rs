//! Which source files may use the network: what ships connects to nothing but a PostgreSQL server, and listens in two servers
//! and for the ports of a run's agents. Programs that it starts, such as git, are not covered by this.

use crate::TaskResult;
use crate::shipped::{self, SourceFile};

/// Names by which Rust programs reach the network, or by which they would bring a client.
const NAMES: [&str; 12] = [
    "TcpStream",
    "TcpSocket",
    "TcpListener",
    "UdpSocket",
    "UnixStream",
    "UnixDatagram",
    "ToSocketAddrs",
    "lookup_host",
    "reqwest",
    "ureq",
    "hyper_util::client",
    "hyper::client",
];

/// Files with what they may do.
const ALLOWED: [(&str, &str); 6] = [
    ("crates/punch-store-pg/src/socket.rs", "connects to the PostgreSQL server that the user named"),
    ("crates/punch-store-pg/src/tls.rs", "encrypts that connection"),
    ("crates/punch-serve/src/http.rs", "listens for `punch mcp --http`"),
    ("crates/punch-serve/src/connections.rs", "accepts connections for both servers"),
    ("crates/punch-web/src/server.rs", "listens for `punch serve`"),
    ("crates/punch-run/src/runner/prepare.rs", "finds free ports of loopback for agents"),
];

/// Fails with every other file that names one of them, and with files that need not be on the list.
pub fn check() -> TaskResult {
    let wrong = problems(&shipped::sources()?);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn problems(sources: &[SourceFile]) -> Vec<String> {
    let found = |source: &SourceFile| NAMES.iter().find(|name| source.code.iter().any(|line| names(line, name)));
    let using: Vec<(&str, &str)> =
        sources.iter().filter_map(|source| Some((source.name.as_str(), *found(source)?))).collect();
    let allowed = |file: &str| ALLOWED.iter().any(|(known, _)| *known == file);
    let mut out: Vec<String> = using
        .iter()
        .filter(|(file, _)| !allowed(file))
        .map(|(file, name)| format!("{file}: `{name}` uses the network, which README.md says only some files do"))
        .collect();
    let idle = ALLOWED.iter().filter(|(file, _)| !using.iter().any(|(used, _)| used == file));
    out.extend(idle.map(|(file, what)| format!("{file}: does not use the network any more ({what})")));
    out
}

/// Returns true if a line has the whole name.
fn names(line: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_listed_files_reach_the_network() {
        let file = |name: &str, line: &str| SourceFile {
            package: "punch-x".into(),
            name: name.into(),
            code: vec![line.into()],
        };
        let listed: Vec<SourceFile> =
            ALLOWED.iter().map(|(name, _)| file(name, "use tokio::net::TcpStream;")).collect();
        assert_eq!(problems(&listed), [""; 0]);
        let mut more = listed;
        more.push(file("crates/punch-x/src/lib.rs", "    let answer = reqwest::get(url);"));
        more.push(file("crates/punch-x/src/words.rs", "let curequest = 1; // TcpStreams"));
        let wrong = problems(&more);
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].starts_with("crates/punch-x/src/lib.rs: `reqwest` uses the network"), "{wrong:?}");
        assert!(problems(&[])[0].contains("does not use the network any more"));
        check().unwrap_or_else(|cause| panic!("{cause}"));
    }
}
