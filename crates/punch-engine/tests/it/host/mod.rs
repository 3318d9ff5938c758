//! What hosts report, and what comes of it.

mod activity;
mod actuals;
mod memory;
mod observing;
mod others;
mod reminders;
mod reported_usage;
mod stops;
mod user_changes;
mod where_work_begins;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use punch_core::dialect::mirror::{HostListUpdate, HostRow, HostStatus};
use punch_core::drive::{Decision, Finish, HostEffect, HostEvent, ToolKind, ToolUse};
use punch_core::{Actor, Add, Edit, Keep, Op, Ref};
use punch_engine::call::{Dialect, Family, TodoUse, Tool, ToolAnswer, ToolCaller};
use punch_engine::config::{Config, ConfigInputs, Settings};
use punch_engine::{Engine, HostReport, PlanChoice, WriteRequest};
use punch_store::{MemoryStore, PlanId, SessionKey, Store};
use serde_json::{Value, json};

pub struct World {
    pub engine: Engine,
    pub plan: PlanId,
    pub settings: Settings,
    time: Arc<AtomicI64>,
}

pub fn settings(flags: &[(&str, &str)]) -> Settings {
    let flags = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Config::load(&ConfigInputs { flags, ..ConfigInputs::default() }).unwrap().settings
}

pub fn world_on(store: Box<dyn Store>) -> World {
    let time = Arc::new(AtomicI64::new(1_000_000));
    let clock = Arc::clone(&time);
    let engine = Engine::new(store, Box::new(move || clock.load(Ordering::Relaxed)));
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    World { engine, plan, settings: settings(&[]), time }
}

pub fn world() -> World {
    world_on(Box::new(MemoryStore::new()))
}

pub fn stop() -> HostEvent {
    HostEvent::Stopping { finish: Finish::EndTurn, background: 0, kept_going: false }
}

pub fn person() -> HostEvent {
    HostEvent::Prompted { by_person: true }
}

pub fn ended(name: &str, kind: ToolKind) -> HostEvent {
    HostEvent::ToolEnded { tool: ToolUse::new(name, kind) }
}

pub fn todos(items: &[(&str, &str)]) -> Value {
    let item = |(content, status): &(&str, &str)| json!({"content": content, "status": status, "activeForm": content});
    json!({"todos": items.iter().map(item).collect::<Vec<_>>()})
}

impl World {
    pub fn pass(&self, ms: i64) {
        self.time.fetch_add(ms, Ordering::Relaxed);
    }

    pub fn write(&self, session: &str, dialect: Dialect, arguments: Value) -> ToolAnswer {
        self.call(SessionKey::new(session, None), dialect, Tool::Write, arguments)
    }

    pub fn call(&self, key: SessionKey, dialect: Dialect, tool: Tool, arguments: Value) -> ToolAnswer {
        self.pass(1);
        self.engine.call(self.plan, &self.caller(key), dialect, tool, &arguments, None).unwrap()
    }

    /// Copies the list that the agent's own tool wrote.
    pub fn copy(&self, session: &str, rows: &[(&str, HostStatus)]) {
        let row = |(content, status): &(&str, HostStatus)| HostRow {
            content: (*content).into(),
            status: *status,
            ..HostRow::default()
        };
        let told = HostListUpdate::List(rows.iter().map(row).collect());
        let caller = self.caller(SessionKey::new(session, None));
        let family = Family { name: "TodoWrite", shared: false };
        self.pass(1);
        self.engine.mirror(self.plan, &TodoUse { caller: &caller, family, told: &told, key: None }).unwrap();
    }

    fn caller(&self, key: SessionKey) -> ToolCaller<'static> {
        ToolCaller {
            actor: Actor::agent("claude-code", punch_engine::owner_of(&key, &self.settings)),
            session: key,
            role: None,
            mode: Default::default(),
            limits: Default::default(),
            open_limit: 100_000,
            settings: None,
            structured: true,
            work: Default::default(),
            server: None,
            embedding: Default::default(),
        }
    }

    /// A change by the user on the command line.
    pub fn by_hand(&self, ops: &[Op]) {
        self.pass(1);
        self.engine.submit(self.plan, &WriteRequest::by("user", None), ops).unwrap();
    }

    pub fn moment(&self, key: SessionKey, event: HostEvent) -> HostReport {
        let choice = PlanChoice::default();
        HostReport {
            agent: "claude".into(),
            key,
            choice,
            event,
            context: None,
            host_cap: None,
            turn: None,
            tree: None,
            earlier: Default::default(),
            by_runner: false,
            upcoming: None,
            checks: Default::default(),
            agent_process: || None,
        }
    }

    pub fn report(&self, session: &str, event: HostEvent) -> HostEffect {
        self.pass(1);
        self.engine.observe(&self.moment(SessionKey::new(session, None), event), &self.settings).unwrap()
    }

    /// `continue`, or the code of the reason, of the last decision.
    pub fn decided(&self, session: &str) -> String {
        let told = self.engine.decisions(Some(&SessionKey::new(session, None)), 1).unwrap();
        match &told[0].decided {
            Some((_, Decision::Continue { .. })) => "continue".into(),
            Some((_, Decision::Allow { reason })) => reason.code().into(),
            None => told[0].line["noted"].as_str().unwrap_or_default().into(),
        }
    }

    pub fn stopped(&self, session: &str) -> String {
        self.report(session, stop());
        self.decided(session)
    }

    /// Stores what is known about a session.
    pub fn keep(&self, session: &str, state: &punch_engine::SessionState) {
        let (key, body) = (SessionKey::new(session, None), serde_json::to_string(state).unwrap());
        let session = punch_store::SessionRow { key, plan: Some(self.plan), seen_at: 1, body };
        let store = self.engine.store();
        store.write(self.plan, punch_store::Durability::Full, &mut |tx| tx.put_session(&session)).unwrap();
    }

    pub fn sessions(&self) -> Vec<punch_store::SessionRow> {
        self.engine.browse(|catalogue| catalogue.sessions(None, i64::MIN, usize::MAX)).unwrap()
    }
}

pub fn add(content: &str) -> Op {
    let edit = Edit { content: Keep::Set(content.into()), ..Edit::default() };
    Op::Add(Add { edit, ..Add::default() })
}

pub fn id(id: &str) -> Ref {
    Ref::Id(id.into())
}
