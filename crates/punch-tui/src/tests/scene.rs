//! A plan in memory with a board on it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use punch_core::drive::Switch;
use punch_core::view::{ClearDelay, Glyphs};
use punch_core::{Actor, Add, Edit, Evidence, Hold, HoldKind, Keep, Op, Ref, Uid, Verify};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{Engine, QuestionOption, RecordedLimits, SeatStage, SeatStatus, Sum, WorkTree, WriteRequest};
use punch_store::MemoryStore;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::board::{Board, BoardInput};
use crate::data::{DisplayedQuestion, RunState, SessionSummary};
use crate::draw::draw;
use crate::feed::Feed;
use crate::look::BoardLook;
use crate::request::BoardRequest;
use crate::setup::{BoardSetup, BoardStore};
use crate::worker::{BoardJob, carry_out};

pub const START: i64 = 1_700_000_000_000;
pub const MINUTE: i64 = 60_000;

/// A store in memory, a board on it, and what connects them.
pub struct BoardScene {
    pub board: Board,
    pub feed: Feed,
    pub setup: Arc<BoardSetup>,
    time: Arc<AtomicI64>,
}

impl BoardScene {
    /// An empty plan.
    pub fn new(look: BoardLook, size: (u16, u16)) -> Self {
        let time = Arc::new(AtomicI64::new(START));
        let store = MemoryStore::new();
        let plan = punch_store::Store::create_plan(&store, "main", START).unwrap();
        let clock = Arc::clone(&time);
        let engine = Engine::new(Box::new(store), Box::new(move || clock.load(Ordering::Relaxed)));
        let opened = Mutex::new(Some(BoardStore { engine, plan, name: "main".to_owned() }));
        let open: crate::setup::OpenBoardStore = Box::new(move || Ok(opened.lock().unwrap().take()));
        let setup = Arc::new(BoardSetup { open, ..setup(look) });
        let board = Board::new(look, ClearDelay::default(), size, START);
        let mut scene = Self { board, feed: Feed::new(Arc::clone(&setup)), setup, time };
        scene.refresh();
        scene
    }

    pub fn now(&self) -> i64 {
        self.time.load(Ordering::Relaxed)
    }

    /// Lets time pass and shows the board, as the loop does.
    pub fn pass(&mut self, ms: i64) {
        let now = self.time.fetch_add(ms, Ordering::Relaxed) + ms;
        self.board.apply(BoardInput::Time(now));
        self.show();
    }

    /// The board was drawn.
    pub fn show(&mut self) {
        let now = self.now();
        self.board.apply(BoardInput::Drawn(now));
    }

    /// Changes the plan as someone.
    pub fn submit(&mut self, actor: Actor, ops: &[Op]) {
        let opened = Arc::clone(self.feed.opened().unwrap());
        opened.engine.submit(opened.plan, &WriteRequest::of(actor), ops).unwrap();
        self.refresh();
    }

    /// Reads the store again.
    pub fn refresh(&mut self) {
        let now = self.now();
        let data = self.board.data_mut();
        let (questions, run, sessions) =
            (std::mem::take(&mut data.questions), data.run.take(), std::mem::take(&mut data.sessions));
        self.feed.refresh_plan(data, now);
        self.feed.refresh_around(data, now);
        // What runs and agents do is made up in these tests.
        (data.questions, data.run, data.sessions) = (questions, run, sessions);
        data.no_answers = None;
        self.board.apply(BoardInput::Changed);
    }

    /// Presses a key and returns what the board asks for.
    pub fn press(&mut self, name: &str) -> Vec<BoardRequest> {
        let now = self.now();
        self.board.apply(BoardInput::Time(now));
        let requests = self.board.apply(BoardInput::Key(key(name)));
        self.show();
        requests
    }

    /// Presses a key, carries out what the board asks for, and reads the store again.
    pub fn act(&mut self, name: &str) {
        let requests = self.press(name);
        for request in requests {
            self.carry_out(request);
        }
        self.refresh();
        self.show();
    }

    pub fn carry_out(&mut self, request: BoardRequest) {
        let input = carry_out(&self.setup, &BoardJob { opened: self.feed.opened().cloned(), request });
        self.board.apply(input);
    }

    pub fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            self.board.apply(BoardInput::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)));
        }
    }

    /// What is on the screen.
    pub fn picture(&self) -> String {
        crate::frame::text(&self.buffer(), false)
    }

    pub fn buffer(&self) -> ratatui::buffer::Buffer {
        let (width, height) = self.board.size();
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(&self.board, frame)).unwrap();
        terminal.backend().buffer().clone()
    }
}

/// What a board needs, without a store.
pub fn setup(look: BoardLook) -> BoardSetup {
    BoardSetup {
        open: Box::new(|| Ok(None)),
        create: Box::new(|| Err("the plan is there".to_owned())),
        lane: Box::new(|_, _| None),
        agent_log: Box::new(|_, _| None),
        log_lines: |log| log.lines().map(str::to_owned).collect(),
        new_window: None,
        verbs: Vec::new(),
        agents: Vec::new(),
        settings: Config::load(&ConfigInputs::default()).unwrap().settings,
        plan_flag: None,
        tree: WorkTree { root: "/nowhere".into(), git: None, consents: None },
        actor: Actor::user(),
        marks: Vec::new(),
        own_mark: None,
        program: "punch".into(),
        arguments: Vec::new(),
        look,
        delay: ClearDelay::default(),
    }
}

/// The key that the table calls so.
pub fn key(name: &str) -> KeyEvent {
    let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
    match name {
        "Space" => plain(KeyCode::Char(' ')),
        "Enter" => plain(KeyCode::Enter),
        "Esc" => plain(KeyCode::Esc),
        "Tab" => plain(KeyCode::Tab),
        "Shift-Tab" => plain(KeyCode::BackTab),
        "Up" => plain(KeyCode::Up),
        "Down" => plain(KeyCode::Down),
        "Left" => plain(KeyCode::Left),
        "Right" => plain(KeyCode::Right),
        "Home" => plain(KeyCode::Home),
        "End" => plain(KeyCode::End),
        "PageUp" => plain(KeyCode::PageUp),
        "PageDown" => plain(KeyCode::PageDown),
        "Backspace" => plain(KeyCode::Backspace),
        other => match other.strip_prefix("Ctrl-") {
            Some(letter) => KeyEvent::new(KeyCode::Char(letter.chars().next().unwrap()), KeyModifiers::CONTROL),
            None => plain(KeyCode::Char(other.chars().next().unwrap())),
        },
    }
}

pub fn look() -> BoardLook {
    BoardLook { glyphs: Glyphs::Unicode, colors: true, ..BoardLook::default() }
}

pub fn add(id: &str, content: &str, needs: &[&str]) -> Op {
    let edit = Edit {
        content: Keep::Set(content.to_owned()),
        depends_on: Keep::Set(needs.iter().map(|id| Ref::Id((*id).to_owned())).collect()),
        ..Edit::default()
    };
    Op::Add(Add { id: Some(id.to_owned()), edit, ..Add::default() })
}

pub fn id(name: &str) -> Ref {
    Ref::Id(name.to_owned())
}

fn prioritised(id: &str, content: &str, needs: &[&str], priority: u8) -> Op {
    let Op::Add(add) = add(id, content, needs) else { unreachable!() };
    Op::Add(Add { edit: Edit { priority: Keep::Set(priority), ..add.edit }, ..add })
}

fn hold(kind: HoldKind, reason: &str, until: Option<i64>) -> Hold {
    Hold { kind, reason: reason.to_owned(), until, by: String::new(), at: 0 }
}

/// A plan in the middle of a run: three agents work, one of them asks, one todo waits for a decision, one has failed.
pub fn typical(look: BoardLook, size: (u16, u16)) -> BoardScene {
    let mut scene = BoardScene::new(look, size);
    // The runner gives todos to its workers.
    let worker = |n: u32| {
        let name = format!("run:3/1.{n}");
        Actor::runner(3, Some(&name)).signing(&name)
    };
    scene.submit(
        Actor::user(),
        &[
            add("T-8", "Choose the schema", &[]),
            add("T-12", "Choose licence", &[]),
            prioritised("T-31", "Migrate schema", &["T-8"], 1),
            add("T-33", "Parser errors", &[]),
            add("T-36", "Docs for hooks", &[]),
            prioritised("T-34", "Backfill rows", &["T-31"], 1),
            prioritised("T-35", "Drop old column", &["T-31", "T-34"], 2),
            prioritised("T-38", "Index for ready", &[], 1),
            prioritised("T-39", "Fuzz the reader", &[], 2),
            add("T-40", "Port the CLI", &[]),
            add("T-42", "Ask the API again", &[]),
            add("T-43", "Windows build", &["T-40"]),
            add("T-50", "Release notes", &["T-12", "T-34"]),
        ],
    );
    scene.pass(20 * MINUTE);
    let done = Evidence {
        command: Some(Verify::Shell("make test".into())),
        exit_code: Some(0),
        commit: Some("9c1f2aa01b".into()),
        ..Evidence::default()
    };
    scene.submit(Actor::user(), &[Op::Done { target: id("T-8"), evidence: Some(done), fence: None }]);
    scene.submit(Actor::user(), &[Op::Hold(id("T-12"), hold(HoldKind::Human, "MIT or Apache?", None))]);
    let at = scene.now();
    scene.submit(Actor::user(), &[Op::Hold(id("T-42"), hold(HoldKind::Timer, "rate limit", Some(at + 90 * MINUTE)))]);
    scene.submit(worker(3), &[Op::Start(id("T-40"))]);
    scene.submit(worker(3), &[Op::Fail(id("T-40"), "check exit 101: 3 tests failed".into())]);
    scene.submit(worker(3), &[Op::Start(id("T-40"))]);
    scene.submit(worker(3), &[Op::Fail(id("T-40"), "check exit 101: 3 tests failed".into())]);
    scene.pass(10 * MINUTE);
    for (n, todo) in [(1, "T-31"), (2, "T-33"), (3, "T-36")] {
        let until = scene.now() + 15 * MINUTE;
        scene.submit(worker(n), &[Op::Claim(id(todo), until)]);
    }
    scene.submit(worker(1), &[Op::Note(id("T-31"), "the column is nullable in production".into())]);
    scene.pass(4 * MINUTE);
    let now = scene.now();
    let data = scene.board.data_mut();
    data.quiet_after = 3 * MINUTE;
    let uid = |name: &str| data.plan.as_ref().unwrap().by_id(name).unwrap().uid;
    let migrate = uid("T-31");
    data.questions = vec![question(7, migrate, now - 4 * MINUTE)];
    let seat = |seat, todo: &str, agent: &str, stage, quiet: i64, tokens, cost| SeatStatus {
        seat,
        stage,
        todo: Some(todo.to_owned()),
        agent: agent.to_owned(),
        since: now - 12 * MINUTE,
        until: None,
        last_sign: Some(now - quiet),
        line: "Running the tests".to_owned(),
        tokens,
        cost,
        process: None,
    };
    data.run = Some(RunState {
        number: 3,
        started_at: now - 72 * MINUTE,
        is_running: true,
        seats: vec![
            seat(1, "T-31", "claude", SeatStage::Asking, 0, 310_000, 1_020_000),
            seat(2, "T-33", "codex", SeatStage::Working, 0, 96_000, 310_000),
            seat(3, "T-36", "claude", SeatStage::Working, 4 * MINUTE, 201_000, 770_000),
        ],
        spent: Sum { tokens: 1_900_000, cost: 4_100_000, ..Sum::default() },
        limits: RecordedLimits { cost: Some(20_000_000), ..RecordedLimits::default() },
        ..RunState::default()
    });
    data.sessions = vec![SessionSummary {
        id: "1a2b3c4d5e6f".into(),
        agent: punch_core::view::Plain::text("codex"),
        continuation: 2,
        of: 10,
        switch: Switch::On,
        decision: punch_core::view::Plain::text("sent back to work (2 of 10): something is open"),
        decided_at: Some(now - 3 * MINUTE),
    }];
    data.inbox.insert(0, asked_item(now - 4 * MINUTE));
    data.verbs = ["add", "hold", "hook", "list", "show"].map(str::to_owned).to_vec();
    data.agents = ["claude", "codex", "print"].map(str::to_owned).to_vec();
    scene.board.apply(BoardInput::Changed);
    scene.press("Home");
    scene
}

impl BoardScene {
    /// Selects a todo in the panel with the cursor.
    pub fn select(&mut self, id: &str) {
        self.press("Home");
        for _ in 0..1_000 {
            if self.board.target().and_then(|uid| self.board.todo(uid)).is_some_and(|todo| todo.id == id) {
                return;
            }
            self.press("j");
        }
        panic!("{id} is not here:\n{}", self.picture());
    }

    /// The place of a text on the screen: column and row.
    pub fn place_of(&self, text: &str) -> (u16, u16) {
        let picture = self.picture();
        for (row, line) in picture.lines().enumerate() {
            if let Some(at) = line.find(text) {
                return (punch_core::view::width::columns(&line[..at]) as u16, row as u16);
            }
        }
        panic!("no {text}:\n{picture}");
    }
}

fn asked_item(since: i64) -> punch_core::inbox::InboxItem {
    punch_core::inbox::InboxItem {
        kind: punch_core::inbox::InboxKind::Question,
        todo: Some("T-31".into()),
        text: "Migrate schema: claude asks: Bash: sqlx migrate run --database-url sqlite:dev.db".into(),
        since,
        blocks: 3,
        action: "punch watch".into(),
        question: Some(7),
    }
}

pub fn question(id: u64, todo: Uid, asked_at: i64) -> DisplayedQuestion {
    let option = |id: &str, label: &str, allows| QuestionOption { id: id.into(), label: label.into(), allows };
    DisplayedQuestion {
        id,
        todo: Some(todo),
        agent: "claude".into(),
        seat: Some((3, 1)),
        lines: vec!["Bash".into(), "sqlx migrate run".into(), "  --database-url sqlite:dev.db".into()],
        is_cut: false,
        options: vec![option("once", "Allow once", true), option("no", "Deny", false)],
        asked_at,
    }
}

/// A plan with this many todos, in phases from 50 todos on, each fifth one depending on the one before it.
pub fn large(look: BoardLook, size: (u16, u16), todos: usize) -> BoardScene {
    let mut scene = BoardScene::new(look, size);
    let one = |n: usize| {
        let needs = if n > 0 && n.is_multiple_of(5) { vec![id(&format!("T-{n}"))] } else { Vec::new() };
        let phase = punch_core::PhaseRef::Name(format!("Phase {}", n * 4 / todos.max(1) + 1));
        let edit = Edit {
            content: Keep::Set(format!("Todo number {}", n + 1)),
            depends_on: Keep::Set(needs),
            phase: if todos >= 50 { Keep::Set(Some(phase)) } else { Keep::Keep },
            ..Edit::default()
        };
        Op::Add(Add { id: Some(format!("T-{}", n + 1)), edit, ..Add::default() })
    };
    let ops: Vec<Op> = (0..todos).map(one).collect();
    if !ops.is_empty() {
        scene.submit(Actor::user(), &ops);
    }
    scene.pass(5 * MINUTE);
    scene
}
