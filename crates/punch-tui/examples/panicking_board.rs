//! A board that panics, to try that the terminal is given back: `main` in the thread that draws, `worker` in another one.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use punch_core::{Actor, Add, Edit, Keep, Op};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{Engine, WorkTree, WriteRequest};
use punch_store::{MemoryStore, Store};
use punch_tui::{BoardLook, BoardSetup, BoardStore, watch};

/// Looks at the store before the board panics: by then it has the terminal.
const LOOKS: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let in_worker = std::env::args().nth(1).as_deref() == Some("worker");
    let looks = Arc::new(AtomicUsize::new(0));
    let setup = BoardSetup {
        open: Box::new(move || match in_worker {
            true => opened().map(Some).map_err(|error| error.to_string()),
            false if looks.fetch_add(1, Ordering::Relaxed) < LOOKS => Ok(None),
            false => panic!("this board panics while it draws"),
        }),
        create: Box::new(|| Err("there is no store".to_owned())),
        lane: Box::new(|_, _| panic!("this board panics in a worker")),
        agent_log: Box::new(|_, _| None),
        log_lines: |_| Vec::new(),
        new_window: None,
        verbs: Vec::new(),
        agents: Vec::new(),
        settings: Config::load(&ConfigInputs::default())?.settings,
        plan_flag: None,
        tree: WorkTree { root: ".".into(), git: None, consents: None },
        actor: Actor::user(),
        marks: Vec::new(),
        own_mark: None,
        program: "punch".into(),
        arguments: Vec::new(),
        look: BoardLook::default(),
        delay: Default::default(),
    };
    Ok(watch(setup)?)
}

/// A plan with one todo, whose detail the board asks for.
fn opened() -> Result<BoardStore, Box<dyn Error>> {
    let store = MemoryStore::new();
    let plan = store.create_plan("main", 0)?;
    let engine = Engine::new(Box::new(store), Box::new(|| 0));
    let edit = Edit { content: Keep::Set("First".to_owned()), ..Edit::default() };
    engine.submit(plan, &WriteRequest::of(Actor::user()), &[Op::Add(Add { edit, ..Add::default() })])?;
    Ok(BoardStore { engine, plan, name: "main".to_owned() })
}
