//! The loop: keys, changes of the store, time and what came of requests go into the board; its requests and its picture come
//! out. Threads wait, this one does the rest, so that an idle board takes no time.

use std::io;
use std::panic;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use crossterm::event::{self, Event as Typed, KeyEventKind, MouseButton, MouseEventKind};
use punch_core::VerifyMode;

use crate::board::{Board, BoardInput, RequestProblem};
use crate::draw::draw;
use crate::feed::Feed;
use crate::request::{BoardRequest, RequestQueue};
use crate::setup::{BoardSetup, NewWindow};
use crate::terminal::{TerminalScreen, restore_on_panic};
use crate::worker::{BoardJob, work};

/// The shortest time between two pictures.
const FRAME: Duration = Duration::from_millis(30);
/// How often a store that cannot be read is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// Rows that the wheel scrolls.
const WHEEL: i32 = 3;

/// Something that a thread reports.
pub enum BoardEvent {
    /// The user typed, clicked or resized.
    Typed(Typed),
    /// The store may have changed.
    Stored,
    /// A request was carried out.
    Came(BoardInput),
    /// The process was asked to end.
    End,
    /// Another thread has panicked, and the terminal was given back.
    Panicked,
}

/// Shows the board until the user leaves it or the process is asked to end.
pub fn watch(setup: BoardSetup) -> io::Result<()> {
    let setup = Arc::new(setup);
    restore_on_panic();
    let (events, inbox) = mpsc::channel();
    let interrupts = InterruptGuard::default();
    signals(events.clone(), interrupts.clone())?;
    let mut board = Board::new(setup.look, setup.delay, crossterm::terminal::size().unwrap_or((80, 24)), now());
    (board.data_mut().verbs, board.data_mut().agents) = (setup.verbs.clone(), setup.agents.clone());
    board.data_mut().runs_checks = setup.settings.policy_verify.value == VerifyMode::Command;
    let mut feed = Feed::new(Arc::clone(&setup));
    feed.refresh_plan(board.data_mut(), now());
    board.apply(BoardInput::Changed);
    let screen = TerminalScreen::take(setup.look.mouse)?;
    let changes = worker("changes the plan", &setup, &events)?;
    let at_once = worker("reads and answers", &setup, &events)?;
    let commands = worker("runs commands", &setup, &events)?;
    let permits = keyboard(events.clone())?;
    let mut watching = PlanWatch {
        setup,
        board,
        feed,
        screen,
        events,
        inbox,
        changes,
        at_once,
        commands,
        permits,
        interrupts,
        waits_for_store: false,
    };
    watching.show()?;
    watching.refresh()?;
    watching.run()
}

struct PlanWatch {
    setup: Arc<BoardSetup>,
    board: Board,
    feed: Feed,
    screen: TerminalScreen,
    events: Sender<BoardEvent>,
    inbox: Receiver<BoardEvent>,
    /// A thread for each [`RequestQueue`].
    changes: Sender<BoardJob>,
    at_once: Sender<BoardJob>,
    commands: Sender<BoardJob>,
    /// Lets the keyboard be read again: not before a key was acted upon, because that may hand the keyboard to an editor.
    permits: SyncSender<()>,
    interrupts: InterruptGuard,
    /// A thread waits for changes of the store that is open.
    waits_for_store: bool,
}

/// While a command has the terminal, Ctrl-C is for the command. The terminal sends it to the board, too.
#[derive(Clone, Debug, Default)]
struct InterruptGuard(Arc<AtomicBool>);

impl InterruptGuard {
    /// Runs a command that has the terminal.
    fn during<T>(&self, command: impl FnOnce() -> T) -> T {
        self.0.store(true, Ordering::SeqCst);
        let done = command();
        self.0.store(false, Ordering::SeqCst);
        done
    }

    /// Returns true if a command has the terminal.
    fn is_active(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl PlanWatch {
    fn run(&mut self) -> io::Result<()> {
        loop {
            let drawn = Instant::now();
            let wait = match self.feed.opened() {
                None => AGAIN,
                Some(_) => until(self.feed.next_look().unwrap_or(i64::MAX).min(self.board.next_change())),
            };
            let first = match self.inbox.recv_timeout(wait) {
                Ok(event) => Some(event),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            let (mut stored, mut next) = (first.is_none(), first);
            loop {
                match next {
                    Some(BoardEvent::Stored) => stored = true,
                    Some(BoardEvent::End) => return Ok(()),
                    Some(BoardEvent::Panicked) => panic::resume_unwind(Box::new("another thread has panicked")),
                    Some(event) => {
                        if self.take(event)? {
                            return Ok(());
                        }
                    }
                    None => break,
                }
                next = self.inbox.try_recv().ok();
            }
            // Keys that arrive around the full minute must not delay what only time changes.
            if stored || self.feed.is_due(now()) {
                // Many writes in a row make one picture.
                thread::sleep(FRAME.saturating_sub(drawn.elapsed()));
                self.board.apply(BoardInput::Time(now()));
                self.refresh()?;
            } else {
                self.show()?;
            }
        }
    }

    /// Acts on an event; true if the board is to end.
    fn take(&mut self, event: BoardEvent) -> io::Result<bool> {
        self.board.apply(BoardInput::Time(now()));
        let is_typed = matches!(event, BoardEvent::Typed(_));
        let input = match event {
            BoardEvent::Typed(typed) => input_of(typed),
            BoardEvent::Came(input) => Some(input),
            BoardEvent::Stored | BoardEvent::End | BoardEvent::Panicked => None,
        };
        let requests = input.map(|input| self.board.apply(input)).unwrap_or_default();
        let mut ends = false;
        for request in requests {
            ends |= self.carry_out(request)?;
        }
        if is_typed && !ends {
            let _ = self.permits.send(());
        }
        Ok(ends)
    }

    fn carry_out(&mut self, request: BoardRequest) -> io::Result<bool> {
        match request {
            BoardRequest::Quit => return Ok(true),
            BoardRequest::Copy(text) => self.screen.copy(&text)?,
            BoardRequest::Notify(text) => self.screen.notify(&text)?,
            BoardRequest::Suspend => self.screen.lend(suspend)?,
            BoardRequest::Foreground(words) => {
                let setup = Arc::clone(&self.setup);
                let interrupts = self.interrupts.clone();
                let ended = self.screen.lend(|| interrupts.during(|| foreground(&setup, &words)))?;
                self.board.apply(BoardInput::Done(ended));
            }
            BoardRequest::NewAgent(words) => {
                let setup = Arc::clone(&self.setup);
                let done = match &setup.new_window {
                    Some(open) => in_window(&setup, open, &words),
                    None => {
                        let interrupts = self.interrupts.clone();
                        self.screen.lend(|| interrupts.during(|| foreground(&setup, &words)))?
                    }
                };
                self.board.apply(BoardInput::Done(done));
            }
            request => {
                let worker = match request.queue() {
                    RequestQueue::Changes => &self.changes,
                    RequestQueue::AtOnce => &self.at_once,
                    RequestQueue::Commands => &self.commands,
                };
                let _ = worker.send(BoardJob { opened: self.feed.opened().cloned(), request });
            }
        }
        Ok(false)
    }

    /// Reads what has changed, and draws it.
    fn refresh(&mut self) -> io::Result<()> {
        self.feed.refresh_plan(self.board.data_mut(), now());
        self.feed.refresh_around(self.board.data_mut(), now());
        self.wait_for_store()?;
        let requests = self.board.apply(BoardInput::Changed);
        for request in requests {
            self.carry_out(request)?;
        }
        self.show()
    }

    fn show(&mut self) -> io::Result<()> {
        let board = &self.board;
        self.screen.draw(|frame| draw(board, frame))?;
        self.board.apply(BoardInput::Drawn(now()));
        Ok(())
    }

    /// Starts a thread that waits for changes of the store, unless one does.
    fn wait_for_store(&mut self) -> io::Result<()> {
        const LONG: Duration = Duration::from_secs(3_600);
        let Some(opened) = self.feed.opened() else {
            self.waits_for_store = false;
            return Ok(());
        };
        if std::mem::replace(&mut self.waits_for_store, true) {
            return Ok(());
        }
        let (mut changes, events) = (opened.engine.store().changes(), self.events.clone());
        thread::Builder::new().name("changes".into()).spawn(move || {
            // A store that is gone is noticed by the next look at it.
            while changes.wait(LONG).is_ok() {
                if events.send(BoardEvent::Stored).is_err() {
                    return;
                }
            }
            let _ = events.send(BoardEvent::Stored);
        })?;
        Ok(())
    }
}

/// Starts a thread that carries out requests.
fn worker(name: &str, setup: &Arc<BoardSetup>, events: &Sender<BoardEvent>) -> io::Result<Sender<BoardJob>> {
    let (jobs, for_worker) = mpsc::channel();
    let (setup, events) = (Arc::clone(setup), events.clone());
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        let working = panic::AssertUnwindSafe(|| work(&setup, &for_worker, &events));
        if panic::catch_unwind(working).is_err() {
            let _ = events.send(BoardEvent::Panicked);
        }
    })?;
    Ok(jobs)
}

fn now() -> i64 {
    UNIX_EPOCH.elapsed().map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn until(at: i64) -> Duration {
    Duration::from_millis(u64::try_from(at - now()).unwrap_or(0).max(10))
}

/// Reads the keyboard, one event for each permit after the first.
fn keyboard(events: Sender<BoardEvent>) -> io::Result<SyncSender<()>> {
    let (permits, may_read) = mpsc::sync_channel(1);
    thread::Builder::new().name("keyboard".into()).spawn(move || {
        while let Ok(typed) = event::read() {
            if events.send(BoardEvent::Typed(typed)).is_err() || may_read.recv().is_err() {
                return;
            }
        }
        let _ = events.send(BoardEvent::End);
    })?;
    Ok(permits)
}

fn input_of(typed: Typed) -> Option<BoardInput> {
    Some(match typed {
        Typed::Key(key) if key.kind != KeyEventKind::Release => BoardInput::Key(key),
        Typed::Paste(text) => BoardInput::Paste(text),
        Typed::Resize(columns, rows) => BoardInput::Resize(columns, rows),
        Typed::Mouse(mouse) => match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => BoardInput::Click(mouse.column, mouse.row),
            MouseEventKind::Drag(MouseButton::Left) => BoardInput::Drag(mouse.column, mouse.row),
            MouseEventKind::Up(MouseButton::Left) => BoardInput::Release(mouse.column, mouse.row),
            MouseEventKind::ScrollDown => BoardInput::Wheel(mouse.column, mouse.row, WHEEL),
            MouseEventKind::ScrollUp => BoardInput::Wheel(mouse.column, mouse.row, -WHEEL),
            _ => return None,
        },
        _ => return None,
    })
}

/// Runs a command of punch on the terminal.
fn foreground(setup: &BoardSetup, words: &[String]) -> Result<String, RequestProblem> {
    let status = Command::new(&setup.program).args(words).args(&setup.arguments).status();
    let line = format!("punch {}", words.join(" "));
    let failed = |message: String| Err(RequestProblem { message, hint: String::new() });
    match status {
        Ok(status) if status.success() => Ok(format!("`{line}` is done.")),
        Ok(status) if was_interrupted(status) => Ok(format!("`{line}` was interrupted.")),
        Ok(status) => failed(format!("`{line}` failed ({status})")),
        Err(error) => failed(format!("cannot run `{line}`: {error}")),
    }
}

/// Returns true if the user ended a command with Ctrl-C.
fn was_interrupted(status: ExitStatus) -> bool {
    #[cfg(unix)]
    let has_signal = std::os::unix::process::ExitStatusExt::signal(&status) == Some(signal_hook::consts::SIGINT);
    #[cfg(not(unix))]
    let has_signal = false;
    has_signal || status.code() == Some(130)
}

/// Runs a command of punch in a window of its own, beside the board.
fn in_window(setup: &BoardSetup, open: &NewWindow, words: &[String]) -> Result<String, RequestProblem> {
    let mut command = vec![setup.program.display().to_string()];
    command.extend(words.iter().chain(&setup.arguments).cloned());
    let line = format!("punch {}", words.join(" "));
    open(&command).map(|()| format!("`{line}` runs in a new window.")).map_err(|why| RequestProblem {
        message: format!("cannot open a window for `{line}`: {why}"),
        hint: "run the command in another terminal".to_owned(),
    })
}

#[cfg(unix)]
fn signals(events: Sender<BoardEvent>, interrupts: InterruptGuard) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            if matches!(signal, SIGINT | SIGQUIT) && interrupts.is_active() {
                continue;
            }
            if events.send(BoardEvent::End).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

#[cfg(not(unix))]
fn signals(_: Sender<BoardEvent>, _: InterruptGuard) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn suspend() {
    let _ = signal_hook::low_level::raise(signal_hook::consts::SIGSTOP);
}

#[cfg(not(unix))]
fn suspend() {}
