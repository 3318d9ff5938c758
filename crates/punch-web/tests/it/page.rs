//! The files of the page, and what every answer carries.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use punch_core::ShownStatus;
use sha2::{Digest, Sha256};

use crate::client::Server;

#[test]
fn every_answer_forbids_what_is_foreign() {
    let server = Server::start();
    let host = server.host();
    for path in ["/", "/p/main/list", "/app.js", "/app.css", "/api/v1", "/api/nothing", "/mcp", "/favicon.ico"] {
        let answer = server.raw("GET", path, &[("Host", &host)], "");
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"), "{path}: {policy}");
        assert!(policy.contains("require-trusted-types-for 'script'") && policy.contains("frame-ancestors 'none'"));
        assert_eq!(answer.header("x-content-type-options").as_deref(), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy").as_deref(), Some("no-referrer"), "{path}");
        assert!(!answer.head.to_lowercase().contains("access-control"), "{path}");
    }
    for (name, kind) in [
        ("app", "js"),
        ("board", "js"),
        ("graph", "js"),
        ("run", "js"),
        ("todo", "js"),
        ("log", "js"),
        ("app", "css"),
        ("run", "css"),
    ] {
        let file = server.raw("GET", &format!("/{name}.{kind}"), &[("Host", &host)], "");
        let kind = if kind == "js" { "text/javascript" } else { "text/css" };
        assert_eq!(file.header("content-type"), Some(format!("{kind}; charset=utf-8")), "{name}");
        assert!(file.status == 200 && !file.body.contains("<!doctype"), "{name}");
    }
    let page = server.raw("GET", "/p/main/list?f=x", &[("Host", &host)], "");
    assert!(page.status == 200 && page.body.to_lowercase().contains("<!doctype html>"), "{}", page.body);
    let tag = page.header("etag").unwrap();
    assert_eq!(server.raw("GET", "/", &[("Host", &host), ("If-None-Match", &tag)], "").status, 304);
    assert_eq!(server.raw("POST", "/", &[("Host", &host)], "").status, 404);
}

/// The page is built from these files. Needs no node, so it fails for everyone who edits one and forgets to build.
#[test]
fn the_built_page_belongs_to_its_sources() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    let Ok(listed) = std::fs::read_to_string(page.join("dist").join("sources.sha256")) else {
        panic!("page/dist/sources.sha256 is missing: build the page");
    };
    let listed: BTreeMap<String, String> = listed
        .lines()
        .filter_map(|line| line.split_once("  "))
        .map(|(hash, path)| (path.to_owned(), hash.to_owned()))
        .collect();
    assert!(!listed.is_empty());
    for (path, hash) in &listed {
        let content = std::fs::read(page.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let found: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(*hash, found, "page/{path} has changed: build the page");
    }
    let sources: Vec<String> = files(&page)
        .iter()
        .map(|source| source.strip_prefix(&page).unwrap().to_string_lossy().replace('\\', "/"))
        .collect();
    for folder in ["src/", "style/"] {
        assert!(sources.iter().any(|path| path.starts_with(folder)), "page/{folder}");
    }
    for path in sources {
        assert!(listed.contains_key(&path), "page/{path} is new: build the page");
    }
}

/// Everything that the page is built from: what `build.mjs` lists.
fn files(page: &Path) -> Vec<PathBuf> {
    let others = ["dist", "node_modules", "test"].map(|name| page.join(name));
    let (mut out, mut open) = (Vec::new(), vec![page.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !others.contains(&path) {
                open.push(path);
            } else if path.is_file() {
                out.push(path);
            }
        }
    }
    out
}

/// The page has words of its own, because it needs them without a request.
#[test]
fn the_page_names_every_status_as_all_other_surfaces_do() {
    let icons = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/src/ui/icons.tsx");
    let icons = std::fs::read_to_string(icons).unwrap();
    let table = icons.split_once("const STATUS").unwrap().1.split_once("\n};").unwrap().0;
    let row = |line: &str| {
        let (name, rest) = line.trim().split_once(": { word: \"")?;
        Some((name.to_owned(), rest.split_once('"')?.0.to_owned()))
    };
    let page: Vec<(String, String)> = table.lines().filter_map(row).collect();
    let shown: Vec<(String, String)> =
        ShownStatus::all().map(|status| (status.name().to_owned(), status.word().to_owned())).collect();
    assert_eq!(page, shown);
}
