//! Whatever is sent over the wire in whatever mix of dialects does what the engine does, and says what it says.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use punch_core::Document;
use punch_engine::call::{Dialect, Tool, ToolCaller};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{Engine, PlanChoice};
use punch_serve::wire::LineTransport;
use punch_serve::{
    CallerIdentity, ConversationTag, PlanToolService, ProjectStore, ServeLog, ServeProblem, ServedProject, Server,
    ServerSettings, ToolOffers,
};
use punch_store::{MemoryStore, SessionKey, Store};
use punch_testkit::{calls, source::ByteSource};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

const DIALECTS: [Dialect; 5] =
    [Dialect::Native, Dialect::Cursor, Dialect::Phases, Dialect::Todowrite, Dialect::Extended];

/// Time advances by a second a call, the same for both sides.
fn engine(store: Box<dyn Store>) -> Engine {
    let time = Arc::new(AtomicI64::new(0));
    Engine::new(store, Box::new(move || time.fetch_add(1_000, Ordering::Relaxed)))
}

/// A project whose store every opening shares.
pub struct Shared(pub Arc<MemoryStore>, pub Arc<AtomicI64>);

impl ProjectStore for Shared {
    fn open(&self, _: bool) -> Result<Option<Engine>, ServeProblem> {
        let time = self.1.clone();
        let store: Box<dyn Store> = Box::new(self.0.clone());
        Ok(Some(Engine::new(store, Box::new(move || time.fetch_add(1_000, Ordering::Relaxed)))))
    }
}

/// One call a server, over a real wire.
async fn served(store: &Shared, dialect: Dialect, arguments: &Value) -> Value {
    let settings = ServerSettings {
        offer: ToolOffers::new(dialect, &[]),
        structured: false,
        identity: CallerIdentity { session: Some("s".into()), ..CallerIdentity::default() },
        tag: ConversationTag::new("1"),
    };
    let tool = settings.offer.tools[0].name.clone();
    let config = Config::load(&ConfigInputs::default()).unwrap();
    let project = Box::new(Shared(store.0.clone(), store.1.clone()));
    let opened = ServedProject {
        project,
        settings: config.settings,
        worktree: None,
        tree: None,
        role: None,
        assigned: None,
        is_driven: false,
        started_for: None,
        checks: None,
        after_write: None,
    };
    let server = Server::start(settings, Arc::new(PlanToolService::new(opened)), ServeLog::default()).unwrap();
    let (client, ours) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(ours);
    let wire = LineTransport::new(read, write, 1 << 20, ServeLog::default());
    let serving = tokio::spawn(async move { rmcp::serve_server(server, wire).await.unwrap().waiting().await });
    let (read, mut write) = tokio::io::split(client);
    let begin =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "s", "version": "0"}});
    for (id, method, params) in
        [(1, "initialize", begin), (2, "tools/call", json!({"name": tool, "arguments": arguments}))]
    {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n";
        write.write_all(line.as_bytes()).await.unwrap();
    }
    let mut lines = BufReader::new(read).lines();
    let answer = loop {
        let line: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        if line["id"] == 2 {
            break line;
        }
    };
    drop((write, lines));
    let _ = serving.await;
    answer["result"].clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_mix_of_calls(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let mut source = ByteSource::new(&bytes);
        let mut sent = Vec::new();
        for _ in 0..6 {
            let dialect = source.pick(&DIALECTS);
            let line = calls::line(dialect.name(), &mut source);
            let key = if dialect == Dialect::Phases { "batches" } else { "calls" };
            for call in line[key].as_array().into_iter().flatten() {
                let call = if dialect == Dialect::Phases { json!({"ops": call}) } else { call.clone() };
                if call.is_object() {
                    sent.push((dialect, call));
                }
            }
        }
        let direct = engine(Box::new(MemoryStore::new()));
        let plan = direct.choose_or_create(&PlanChoice::default()).unwrap();
        let shared = Shared(Arc::new(MemoryStore::new()), Arc::new(AtomicI64::new(0)));
        let config = Config::load(&ConfigInputs::default()).unwrap();
        let caller = ToolCaller {
            session: SessionKey::new("s", None),
            actor: punch_core::Actor::agent("s", "s"),
            role: None,
            mode: Default::default(),
            limits: Default::default(),
            open_limit: 10_000,
            settings: Some(&config.settings),
            structured: false,
            work: Default::default(),
            server: None,
            embedding: Default::default(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for (dialect, call) in &sent {
            let expected = direct.call(plan, &caller, *dialect, Tool::Write, call, None).unwrap();
            let got = runtime.block_on(served(&shared, *dialect, call));
            prop_assert_eq!(got["isError"].as_bool().unwrap_or(false), expected.is_error, "{} {}", dialect.name(), call);
            let text = got["content"][0]["text"].as_str().unwrap();
            // Ids that are made from the time differ by when each side asked for it.
            if !expected.text.contains("todo-") {
                prop_assert_eq!(text, format!("{}\nrev {}", expected.text.trim_end_matches('\n'), expected.revision));
            }
        }
        let other = engine(Box::new(shared.0.clone()));
        if let Some(found) = other.choose(&PlanChoice::default()).unwrap() {
            let rows = |engine: &Engine, plan| -> Vec<(String, String, Vec<String>)> {
                let whole = engine.whole(plan).unwrap();
                let todos = Document::of(&whole).records;
                todos.iter().map(|t| {
                    let map = t.to_map();
                    let text = |key: &str| map.get(key).map(Value::to_string).unwrap_or_default();
                    (text("content"), text("status"), vec![text("phase"), text("activeForm")])
                }).collect()
            };
            prop_assert_eq!(rows(&other, found.id), rows(&direct, plan));
        }
    }
}
