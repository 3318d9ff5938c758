//! `punch store info`: where the store is, its size, and where its copies are.

use std::path::PathBuf;

use clap::Args;
use punch_core::text;
use punch_engine::copies;
use punch_engine::locate::Location;
use punch_store::OpenMode;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::open_store;
use crate::reply::VerbReply;
use crate::safety::{Safety, ago, bytes, count};

/// The arguments of `punch store info`.
#[derive(Args)]
pub struct InfoArgs {}

impl InfoArgs {
    /// Runs the verb.
    pub fn run(self, location: &Location) -> Result<VerbReply, Failure> {
        let path = location.shown();
        let copy = Safety::of(location).map(|safety| safety.copy().to_owned());
        let mut json = json!({"store": path, "kind": location.kind.name(), "exists": location.exists});
        let mut lines = vec![format!("store: {path} ({})", location.kind.name())];
        if location.exists {
            let info = open_store::open(location, OpenMode::Existing, None)?.info()?;
            json["id"] = json!(info.store);
            json["createdAt"] = json!(info.created_at);
            json["schemaVersion"] = json!(info.schema.to_string());
            json["engine"] = json!(info.engine);
            let sizes = [("bytes", info.bytes), ("walBytes", info.wal_bytes), ("freeBytes", info.free_bytes)];
            let counts =
                [("plans", info.plans), ("todos", info.todos), ("events", info.events), ("sessions", info.sessions)];
            for (key, value) in sizes.into_iter().chain(counts) {
                json[key] = json!(value);
            }
            lines.push(format!("id: {}, schema {}, {}", info.store, info.schema, info.engine));
            lines.push(format!("size: {}", bytes(info.bytes)));
            let parts: Vec<String> =
                counts.iter().map(|(key, value)| count(*value, key.trim_end_matches('s'))).collect();
            lines.push(format!("holds: {}", parts.join(", ")));
        } else {
            lines.push("holds: nothing yet; the first change creates it".to_owned());
        }
        let found = copies_of(location, copy.as_ref());
        for (path, age) in &found {
            lines.push(format!("copy: {} ({age})", path.display()));
        }
        json["copies"] =
            found.iter().map(|(path, age)| json!({"file": path.display().to_string(), "age": age})).collect();
        json["copy"] = copy.filter(|copy| copy.exists()).map_or(Value::Null, |copy| json!(copy.display().to_string()));
        let lines: Vec<String> = lines.iter().map(|line| text::neutral(line).into_owned()).collect();
        Ok(VerbReply::new(lines.join("\n"), json))
    }
}

/// Every copy that `restore` could bring back, the newest last in each place.
fn copies_of(location: &Location, copy: Option<&PathBuf>) -> Vec<(PathBuf, String)> {
    let beside = std::fs::read_dir(location.dir.join("backups")).into_iter().flatten().flatten();
    let mut beside: Vec<PathBuf> = beside.map(|entry| entry.path()).collect();
    beside.retain(|path| path.extension().is_some_and(|ending| ending == "db"));
    beside.sort();
    let elsewhere = copy.into_iter().flat_map(|copy| copies::earlier(copy).into_iter().chain([copy.clone()]));
    let aged = |path: PathBuf| copies::age(&path).map(|age| (path, ago(age)));
    beside.into_iter().chain(elsewhere).filter_map(aged).collect()
}
