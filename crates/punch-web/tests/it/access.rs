//! Who gets in: each line of the rules is a test.

use serde_json::json;

use crate::client::{Options, Server};

#[test]
fn only_the_own_host_is_answered() {
    let server = Server::start();
    let port = server.address.port();
    let bearer = format!("Bearer {}", server.token);
    let asked =
        |path: &str, host: &str| server.raw("GET", path, &[("Host", host), ("Authorization", &bearer)], "").status;
    for good in
        [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}"), format!("LOCALHOST:{port}")]
    {
        assert_eq!(asked("/api/v1", &good), 200, "{good}");
        assert_eq!(asked("/", &good), 200, "{good}");
    }
    for wrong in [
        "evil.com".to_owned(),
        format!("evil.com:{port}"),
        "127.0.0.1".into(),
        "localhost:1".into(),
        format!("127.0.0.1:{port}.evil.com"),
    ] {
        for path in ["/", "/api/v1", "/app.js", "/mcp"] {
            assert_eq!(asked(path, &wrong), 403, "{wrong} {path}");
        }
    }
    assert_eq!(server.raw("GET", "/api/v1", &[("Authorization", &bearer)], "").status, 403, "no host");
    let twice = [("Host", server.host()), ("Host", server.host())];
    let twice: Vec<(&str, &str)> = twice.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert!(matches!(server.raw("GET", "/api/v1", &twice, "").status, 400 | 403));
}

#[test]
fn other_pages_are_refused_and_nothing_is_shared_with_them() {
    let server = Server::start();
    let (host, bearer) = (server.host(), format!("Bearer {}", server.token));
    let own = format!("http://{host}");
    let write = |more: &[(&str, &str)]| {
        let base = [("Host", host.as_str()), ("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        let body = json!({"ops": [{"op": "add", "content": "x"}]}).to_string();
        server.raw("POST", "/api/v1/plans/main/ops", &[&base, more].concat(), &body)
    };
    assert_eq!(write(&[("Origin", &own), ("Sec-Fetch-Site", "same-origin")]).status, 200);
    assert_eq!(write(&[]).status, 200, "programs send neither");
    let other_port = format!("http://127.0.0.1:{}", server.address.port().wrapping_add(1));
    for origin in ["http://evil.com", "null", "https://127.0.0.1", &other_port, &format!("https://{host}")] {
        let answer = write(&[("Origin", origin)]);
        assert_eq!(answer.problem(), (403, "forbidden".into()), "{origin}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(write(&[("Sec-Fetch-Site", site)]).status, 403, "{site}");
    }
    let preflight =
        server.raw("OPTIONS", "/api/v1/plans/main/ops", &[("Host", &host), ("Origin", "http://evil.com")], "");
    assert_eq!(preflight.status, 405);
    assert!(!preflight.head.to_lowercase().contains("access-control"));
}

#[test]
fn a_link_opens_one_session_and_never_again() {
    let server = Server::start();
    let login = |secret: &str| server.post_as("none", "/session", &json!({"token": secret}));
    let link = server.link();
    let first = login(&link);
    assert_eq!(first.status, 200, "{}", first.body);
    let session = first.json();
    assert_eq!(
        (session["role"].as_str(), session["can"]["write"].as_bool(), session["can"]["answer"].as_bool()),
        (Some("owner"), Some(true), Some(false))
    );
    assert_eq!(first.header("set-cookie"), None, "cookies ignore ports");
    assert_eq!(login(&link).problem(), (401, "link_used".into()));
    assert_eq!(login("guess").problem(), (401, "link_used".into()));
    let token = session["token"].as_str().unwrap();
    assert_ne!(token, link);
    assert_eq!(server.post_as(token, "/plans/main/ops", &json!({"ops": [{"op": "add", "content": "x"}]})).status, 200);
    // The secret of a link is not a token, and a cookie counts for nothing here.
    let other = server.link();
    assert_eq!(server.post_as(&other, "/plans/main/seen", &json!({"revision": 1})).status, 401);
    let cookie = format!("__Host-punch={token}");
    assert_eq!(server.raw("GET", "/api/v1", &[("Host", &server.host()), ("Cookie", &cookie)], "").status, 401);
    let bearer = format!("Bearer {token}");
    let left = server.raw("DELETE", "/api/v1/session", &[("Host", &server.host()), ("Authorization", &bearer)], "");
    assert_eq!(left.status, 200);
    assert_eq!(server.post_as(token, "/plans/main/seen", &json!({"revision": 1})).status, 401, "it has ended");
}

#[test]
fn nobody_gets_in_without_a_token() {
    let server = Server::start();
    let host = server.host();
    for path in ["", "/openapi.json", "/plans", "/plans/main/board", "/plans/main/events"] {
        let answer = server.raw("GET", &format!("/api/v1{path}"), &[("Host", &host)], "");
        assert_eq!(answer.problem(), (401, "unauthorized".into()), "{path}");
        assert!(answer.header("www-authenticate").is_some());
        for wrong in ["Bearer x", "Basic x", "Bearer", "x"] {
            let headers = [("Host", host.as_str()), ("Authorization", wrong)];
            assert_eq!(server.raw("GET", &format!("/api/v1{path}"), &headers, "").status, 401, "{wrong}");
        }
    }
}

#[test]
fn who_started_the_server_decides_what_its_links_are_good_for() {
    let answer = json!({"answer": "allow"});
    let program = Server::start();
    program.ops(json!([{"op": "add", "content": "x"}]));
    assert_eq!(program.post("/plans/main/questions/1/answer", &answer).problem(), (403, "not_the_user".into()));
    for server in [
        Server::with(Options { agent: true, ..Options::default() }),
        Server::with(Options { read_only: true, ..Options::default() }),
    ] {
        let session = server.post_as("none", "/session", &json!({"token": server.link()})).json();
        assert_eq!((session["role"].as_str(), session["can"]["write"].as_bool()), (Some("reader"), Some(false)));
        let token = session["token"].as_str().unwrap().to_owned();
        for token in [&token, &server.token] {
            let refused = server.post_as(token, "/plans/main/ops", &json!({"ops": [{"op": "add", "content": "x"}]}));
            assert_eq!(refused.problem(), (403, "forbidden".into()));
            assert_eq!(server.post_as(token, "/plans/main/questions/1/answer", &answer).status, 403);
        }
        assert_eq!(server.get("").status, 200);
    }
}

#[test]
fn tokens_have_a_role_a_name_and_an_end() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "x"}]));
    let file = punch_web::TokenFile::in_folder(server.folder.path());
    let now = crate::client::clock();
    let add = |name: &str, role, expires_at| {
        file.add(&punch_web::NewToken { name: name.into(), role, expires_at }, now).unwrap()
    };
    let owner = add("phone", punch_web::TokenRole::Owner, None);
    let reader = add("wall", punch_web::TokenRole::Reader, None);
    let agent = add("ci", punch_web::TokenRole::Agent, None);
    let old = add("old", punch_web::TokenRole::Owner, Some(now - 1));
    let write = |token: &str| {
        server.post_as(token, "/plans/main/ops", &json!({"ops": [{"op": "note", "id": "T-1", "text": "hi"}]}))
    };
    assert_eq!(write(&owner).status, 200);
    let history = server.get("/plans/main/history").json();
    assert_eq!(history["entries"][0]["by"], "phone", "changes carry the name of the token");
    assert_eq!(write(&reader).status, 403);
    assert_eq!(write(&agent).problem(), (403, "forbidden".into()));
    assert_eq!(write(&old).status, 401);
    let session = server.post_as("none", "/session", &json!({"token": owner})).json();
    let session = session["token"].as_str().unwrap();
    assert_eq!(write(session).status, 200);
    file.revoke("phone").unwrap();
    assert_eq!((write(&owner).status, write(session).status), (401, 401), "revoked, with its sessions");
    let stored = std::fs::read_to_string(server.folder.path().join("punch").join("web-tokens.json")).unwrap();
    for secret in [&owner, &reader, &agent] {
        assert!(!stored.contains(secret.as_str()), "only hashes are stored");
    }
    assert!(file.revoke("phone").is_err());
    for wrong in ["", "a b", "ü", "wall"] {
        let new = punch_web::NewToken { name: wrong.into(), role: punch_web::TokenRole::Reader, expires_at: None };
        assert!(file.add(&new, now).is_err(), "{wrong}");
    }
}

#[test]
fn a_session_ends_with_the_token_that_opened_it_even_if_another_token_gets_its_name() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "x"}]));
    let file = punch_web::TokenFile::in_folder(server.folder.path());
    let now = crate::client::clock();
    let add =
        |role, expires_at, now| file.add(&punch_web::NewToken { name: "phone".into(), role, expires_at }, now).unwrap();
    let login = |token: &str| {
        let session = server.post_as("none", "/session", &json!({"token": token})).json();
        session["token"].as_str().unwrap().to_owned()
    };
    let write = |token: &str| {
        let body = json!({"ops": [{"op": "note", "id": "T-1", "text": "hi"}]});
        server.post_as(token, "/plans/main/ops", &body).status
    };
    let revoked = login(&add(punch_web::TokenRole::Owner, None, now));
    assert_eq!(write(&revoked), 200);
    file.revoke("phone").unwrap();
    let expires = now + 3_600_000;
    let token = add(punch_web::TokenRole::Owner, Some(expires), now);
    assert_eq!(write(&revoked), 401, "its token was revoked");
    let expired = login(&token);
    assert_eq!(write(&expired), 200);
    // A token that has expired gives its name to the next one.
    let reader = add(punch_web::TokenRole::Reader, None, expires);
    assert_eq!(write(&expired), 401, "its token has expired");
    assert_eq!((write(&reader), write(&login(&reader))), (403, 403));
}

#[cfg(unix)]
#[test]
fn the_token_file_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = punch_web::TokenFile::in_folder(folder.path());
    let new = punch_web::NewToken { name: "a".into(), role: punch_web::TokenRole::Reader, expires_at: None };
    file.add(&new, 0).unwrap();
    let mode = std::fs::metadata(folder.path().join("punch").join("web-tokens.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn beyond_loopback_sessions_live_in_a_strict_cookie() {
    let server = Server::with(Options { proxy: Some("board.example.com".into()), ..Options::default() });
    let (host, own) = ("board.example.com", "https://board.example.com");
    let base =
        [("Host", host), ("Content-Type", "application/json"), ("Origin", own), ("Sec-Fetch-Site", "same-origin")];
    let body = json!({"token": server.link()}).to_string();
    let answer = server.raw("POST", "/api/v1/session", &base, &body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json().get("token"), None);
    let cookie = answer.header("set-cookie").unwrap();
    for part in ["__Host-punch=", "Path=/", "Secure", "HttpOnly", "SameSite=Strict"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let pair = cookie.split(';').next().unwrap();
    let write = json!({"ops": [{"op": "add", "content": "x"}]}).to_string();
    let send = |headers: &[(&str, &str)]| server.raw("POST", "/api/v1/plans/main/ops", headers, &write).status;
    let with_cookie = [&base[..], &[("Cookie", pair)]].concat();
    assert_eq!(send(&with_cookie), 200);
    assert_eq!(send(&[("Host", host), ("Content-Type", "application/json"), ("Cookie", pair)]), 403, "no origin");
    let from = |origin, site: &[&'static str]| {
        let mut headers =
            vec![("Host", host), ("Content-Type", "application/json"), ("Cookie", pair), ("Origin", origin)];
        headers.extend(site.iter().map(|site| ("Sec-Fetch-Site", *site)));
        send(&headers)
    };
    assert_eq!(from(own, &["same-origin"]), 200);
    for site in [&[][..], &["none"], &["same-site"], &["cross-site"], &["same-origin", "same-origin"]] {
        assert_eq!(from(own, site), 403, "{site:?}");
    }
    assert_eq!(from("https://evil.com", &["same-origin"]), 403);
    let no_origin = [&base[..2], &[("Cookie", pair), ("Sec-Fetch-Site", "same-origin")]].concat();
    assert_eq!(send(&no_origin), 403);
    // No forwarded header is believed, and only the given name counts.
    for wrong in ["127.0.0.1", "localhost", "evil.com"] {
        let headers = [("Host", wrong), ("X-Forwarded-Host", host), ("Cookie", pair)];
        assert_eq!(server.raw("GET", "/api/v1", &headers, "").status, 403, "{wrong}");
    }
    let bearer = format!("Bearer {}", pair.split_once('=').unwrap().1);
    let as_token = server.raw("GET", "/api/v1", &[("Host", host), ("Authorization", &bearer)], "");
    assert_eq!(as_token.status, 401, "the secret of a cookie is not a token");
    let guess = |n: usize| {
        let guess = format!("Bearer {n}");
        server.raw("GET", "/api/v1", &[("Host", host), ("Authorization", &guess)], "").status
    };
    let guessed: Vec<u16> = (0..20).map(guess).collect();
    assert_eq!((&guessed[..9], &guessed[9..]), (&[401; 9][..], &[429; 11][..]), "guessing is slowed down");
    // Behind a proxy everyone has the same address.
    assert_eq!(send(&with_cookie), 200, "sessions still count");
    let token = format!("Bearer {}", server.token);
    assert_eq!(server.raw("GET", "/api/v1", &[("Host", host), ("Authorization", &token)], "").status, 200);
    let body = json!({"token": server.link()}).to_string();
    assert_eq!(server.raw("POST", "/api/v1/session", &base, &body).status, 200, "links still open sessions");
    let body = json!({"token": "guess"}).to_string();
    assert_eq!(server.raw("POST", "/api/v1/session", &base, &body).status, 429, "links are not guessed either");
    assert_eq!(server.raw("GET", "/api/v1", &[("Host", host)], "").status, 401, "no token is not a wrong one");
}

#[test]
fn other_machines_need_an_encrypted_connection_and_a_name() {
    use punch_web::ListenAddress;
    let code = |listen: ListenAddress| listen.judge().err().map(|error| error.code());
    let at = |address: &str| ListenAddress { address: Some(address.into()), ..ListenAddress::default() };
    assert_eq!(code(ListenAddress::default()), None);
    assert_eq!(code(at("127.0.0.1:0")), None);
    for address in ["0.0.0.0:80", "192.168.1.2:80", "[::]:80", "192.168.1.2"] {
        assert_eq!(code(at(address)), Some("serve_needs_tls"), "{address}");
    }
    assert_eq!(code(at("nonsense")), Some("serve"));
    let proxy = ListenAddress { behind_proxy: true, ..at("0.0.0.0:80") };
    assert_eq!(code(proxy.clone()), Some("serve_needs_host"));
    assert_eq!(code(ListenAddress { hosts: vec!["a.example".into()], ..proxy }), None);
    let missing = ListenAddress { tls: Some(("missing.pem".into(), "missing.key".into())), ..at("0.0.0.0:80") };
    assert_eq!(code(missing), Some("serve_certificate"));
}

#[test]
fn bodies_are_json_and_not_endless() {
    let server = Server::start();
    let (host, bearer) = (server.host(), format!("Bearer {}", server.token));
    let base = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
    let send = |kind: &str, body: &str| {
        server.raw("POST", "/api/v1/plans/main/ops", &[&base[..], &[("Content-Type", kind)]].concat(), body).problem()
    };
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
        assert_eq!(send(kind, "{}"), (415, "not_json".into()), "{kind}");
    }
    assert_eq!(send("application/json", "{"), (400, "bad_request".into()));
    assert_eq!(send("application/json; charset=utf-8", "[]"), (400, "bad_request".into()));
    let large = format!("\"{}\"", "x".repeat(1024 * 1024));
    assert_eq!(send("application/json", &large), (413, "too_large".into()));
    let deep = "[".repeat(100_000);
    assert_eq!(send("application/json", &deep), (400, "bad_request".into()));
}

#[test]
fn only_the_user_starts_agents() {
    let server = Server::start();
    server.ops(json!([{"op": "add", "content": "A"}]));
    let server_info = server.get("").json();
    assert_eq!(server_info["agents"], json!([]), "the token of a program may start none");
    let body = json!({"todos": ["T-1"], "agent": "claude"});
    assert_eq!(server.post("/plans/main/assign", &body).problem(), (403, "not_the_user".into()));
}
