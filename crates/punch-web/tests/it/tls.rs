//! A server that speaks TLS itself: real connections, with a certificate that the client checks.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::client::{Answer, Options, Server};

const NAME: &str = "board.test";

fn server() -> Server {
    Server::with(Options { tls: Some(NAME.into()), ..Options::default() })
}

/// Sends a request over TLS; the connection must end in order.
fn ask(server: &Server, name: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Option<Answer> {
    let mut roots = RootCertStore::empty();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/certificate/cert.pem");
    roots.add(CertificateDer::from_pem_file(file).unwrap()).unwrap();
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, TcpStream::connect(server.address).unwrap());
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(text.as_bytes()).ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    Some(Answer::parse(&String::from_utf8_lossy(&bytes)))
}

#[test]
fn a_browser_logs_in_over_tls_and_keeps_its_session_in_a_cookie() {
    let server = server();
    let host = format!("{NAME}:{}", server.address.port());
    assert!(server.ready.url().starts_with(&format!("https://{NAME}")), "{}", server.ready.url());
    let page = ask(&server, NAME, "GET", "/", &[("Host", &host)], "").unwrap();
    assert_eq!(page.status, 200);
    let origin = format!("https://{host}");
    let base = [
        ("Host", host.as_str()),
        ("Content-Type", "application/json"),
        ("Origin", origin.as_str()),
        ("Sec-Fetch-Site", "same-origin"),
    ];
    let login = json!({"token": server.link()}).to_string();
    let answer = ask(&server, NAME, "POST", "/api/v1/session", &base, &login).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-punch=") && cookie.contains("Secure"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    let write = json!({"ops": [{"op": "add", "content": "over TLS"}]}).to_string();
    let headers = [&base[..], &[("Cookie", pair)]].concat();
    assert_eq!(ask(&server, NAME, "POST", "/api/v1/plans/main/ops", &headers, &write).unwrap().status, 200);
    let board = ask(&server, NAME, "GET", "/api/v1/plans/main/board", &headers, "").unwrap();
    assert_eq!(board.json()["rows"][0]["text"], "over TLS");
}

#[test]
fn nothing_is_answered_in_plain_text_or_under_another_name() {
    let server = server();
    let host = format!("{NAME}:{}", server.address.port());
    let bearer = format!("Bearer {}", server.token);
    let plain = server.raw("GET", "/api/v1", &[("Host", &host), ("Authorization", &bearer)], "");
    assert_eq!(plain.status, 0, "{}", plain.head);
    assert!(
        ask(&server, "other.test", "GET", "/", &[("Host", &host)], "").is_none(),
        "the certificate has another name"
    );
    let foreign = ask(&server, NAME, "GET", "/", &[("Host", "evil.test")], "").unwrap();
    assert_eq!(foreign.status, 403);
    let address = ask(&server, NAME, "GET", "/", &[("Host", &server.host())], "").unwrap();
    assert_eq!(address.status, 403, "only the given name counts");
}
