//! The museum of loops: published runaways and false stops of other tools, replayed against our decision. Each exhibit
//! models what its source describes; the turn at which Punchlist ends or finishes it is in `docs/loops.md`.
//!
//! After a change: `UPDATE_DOCS=1 cargo test -p punch-core --test it museum`.

use std::env;
use std::fs;
use std::path::Path;

use punch_core::drive::{
    Block, Counters, Decision, Facts, Finish, HostEvent, Input, KeepGoing, Named, Roots, Scene, Start, Switch,
    ToolKind, ToolUse, decide,
};
use punch_core::reason::Cause;

/// No exhibit may take longer: the loop of its source did not end by itself.
const LONGEST: u32 = 200;

/// What happens in a turn, up to the moment at which the agent wants to stop.
#[derive(Default)]
struct Turn {
    events: Vec<HostEvent>,
    /// Todos completed since the beginning.
    done: u64,
    /// Minutes since the user's message.
    minute: i64,
    /// Jobs in the background.
    background: u32,
    /// What is left waits for something outside.
    waits: bool,
}

struct Exhibit {
    /// The repository and the number of the thread.
    source: &'static str,
    happened: &'static str,
    todos: u64,
    scene: fn(Scene) -> Scene,
    turn: fn(i64) -> Turn,
    /// The stop at which the agent is allowed to stop, and why.
    end: (u32, &'static str),
}

fn as_is(scene: Scene) -> Scene {
    scene
}

/// The agent answers and does nothing.
fn idle(n: i64) -> Turn {
    Turn { minute: n, ..Turn::default() }
}

/// The agent works, completes a todo, and wants to stop.
fn one_todo(n: i64) -> Turn {
    Turn { events: vec![edit()], done: n.unsigned_abs(), minute: n, ..Turn::default() }
}

fn edit() -> HostEvent {
    HostEvent::ToolEnded { tool: ToolUse { name: "Edit".into(), kind: ToolKind::Edit, ..ToolUse::default() } }
}

fn failed_tool() -> HostEvent {
    let tool = ToolUse { name: "update_goal".into(), kind: ToolKind::Other, ..ToolUse::default() };
    HostEvent::ToolFailed { tool, error: "blocked".into(), interrupted: false }
}

/// A turn with these events in which nothing is completed.
fn with(n: i64, events: Vec<HostEvent>) -> Turn {
    Turn { events, minute: n, ..Turn::default() }
}

const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        source: "openai/codex#36503",
        happened: "2,514 identical calls and 708.9 million tokens, because the tool that marks the goal as blocked was itself blocked",
        todos: 3,
        scene: as_is,
        turn: |n| with(n, vec![failed_tool()]),
        end: (11, "max_continuations"),
    },
    Exhibit {
        source: "openai/codex#23177",
        happened: "looped overnight while it waited for an approval",
        todos: 3,
        scene: as_is,
        turn: |n| with(n, vec![HostEvent::Asked]),
        end: (1, "asked"),
    },
    Exhibit {
        source: "openai/codex#37800",
        happened: "empty turns that only said that the work continues",
        todos: 3,
        scene: as_is,
        turn: idle,
        end: (4, "no_progress"),
    },
    Exhibit {
        source: "octos#1693",
        happened: "failing turns cost nothing, so the budget never ended",
        todos: 3,
        scene: as_is,
        turn: |n| with(n, vec![HostEvent::TurnFailed { error: "overloaded".into() }]),
        end: (1, "cooling_down"),
    },
    Exhibit {
        source: "oh-my-openagent#2216",
        happened: "endless, because the todo tool was not available; the counter counted API errors, not missing progress",
        todos: 3,
        scene: as_is,
        turn: idle,
        end: (4, "no_progress"),
    },
    Exhibit {
        source: "oh-my-openagent#1806",
        happened: "more than 70 identical messages filled the context",
        todos: 3,
        scene: as_is,
        turn: idle,
        end: (4, "no_progress"),
    },
    Exhibit {
        source: "oh-my-openagent#2025",
        happened: "continued although everything left was blocked from outside",
        todos: 3,
        scene: as_is,
        turn: |n| Turn { waits: true, ..idle(n) },
        end: (1, "nothing_actionable"),
    },
    Exhibit {
        source: "oh-my-openagent#6109",
        happened: "the user's stop was ignored",
        todos: 3,
        scene: as_is,
        turn: |n| with(n, vec![HostEvent::Interrupted]),
        end: (1, "interrupted"),
    },
    Exhibit {
        source: "Yeachan-Heo/oh-my-claudecode#2741",
        happened: "answered \"Holding.\" a hundred times",
        todos: 3,
        scene: as_is,
        turn: idle,
        end: (4, "no_progress"),
    },
    Exhibit {
        source: "Yeachan-Heo/oh-my-claudecode#719",
        happened: "cancelling did not end the loop",
        todos: 3,
        scene: |scene| Scene { switch: Switch::Off, ..scene },
        turn: idle,
        end: (1, "switched_off"),
    },
    Exhibit {
        source: "anthropics/claude-code#55754",
        happened: "a Stop hook looped for 50 minutes while an agent worked in the background",
        todos: 3,
        scene: as_is,
        turn: |n| Turn { background: 1, ..idle(n) },
        end: (1, "background"),
    },
    Exhibit {
        source: "anthropics/claude-code#54360",
        happened: "the host never said that the turn had been continued before",
        todos: 3,
        scene: as_is,
        turn: idle,
        end: (4, "no_progress"),
    },
    Exhibit {
        source: "anthropics/claude-code#95803",
        happened: "continued for hours while nobody was there",
        todos: 100,
        scene: as_is,
        turn: |n| Turn { minute: 15 * n, ..one_todo(n) },
        end: (8, "too_long"),
    },
    Exhibit {
        source: "anthropics/claude-plugins-official#1371",
        happened: "an empty session id matched every session and blocked them all",
        todos: 3,
        scene: |scene| Scene { named: false, ..scene },
        turn: idle,
        end: (1, "no_session"),
    },
    Exhibit {
        source: "anthropics/claude-plugins-official#370",
        happened: "the loop of one session captured another",
        todos: 3,
        scene: |scene| Scene { bound: false, ..scene },
        turn: idle,
        end: (1, "unbound"),
    },
    Exhibit {
        source: "frankbria/ralph-claude-code#128",
        happened: "ended after 5 loops with work left",
        todos: 20,
        scene: as_is,
        turn: one_todo,
        end: (20, "finished"),
    },
    Exhibit {
        source: "frankbria/ralph-claude-code#141",
        happened: "loops that only committed counted as no progress, and the breaker ended the run",
        todos: 9,
        scene: as_is,
        turn: |n| Turn { done: n.unsigned_abs() / 3, ..one_todo(n) },
        end: (27, "finished"),
    },
    Exhibit {
        source: "mikeyobrien/ralph-orchestrator#234",
        happened: "three completed tasks in a row counted as a stale loop",
        todos: 6,
        scene: as_is,
        turn: one_todo,
        end: (6, "finished"),
    },
    Exhibit {
        source: "mikeyobrien/ralph-orchestrator#123",
        happened: "stopped after 3 or 4 of 16 tasks",
        todos: 16,
        scene: as_is,
        turn: one_todo,
        end: (16, "finished"),
    },
    Exhibit {
        source: "anthropics/claude-code-action#599",
        happened: "stopped before all todos were done",
        todos: 8,
        scene: as_is,
        turn: one_todo,
        end: (8, "finished"),
    },
    Exhibit {
        source: "opencli#150",
        happened: "did 2 of 6 todos, wrote a summary and stopped",
        todos: 6,
        scene: as_is,
        turn: |n| Turn { done: n.unsigned_abs() + 1, ..one_todo(n) },
        end: (5, "finished"),
    },
    Exhibit {
        source: "oh-my-openagent#1481",
        happened: "the list survived a compaction only as prose, and the agent was not continued any more",
        todos: 5,
        scene: as_is,
        turn: |n| Turn {
            events: vec![HostEvent::Compacting, HostEvent::SessionStarted { how: Start::Compact }, edit()],
            ..one_todo(n)
        },
        end: (5, "finished"),
    },
];

/// Plays an exhibit to its end: the stop that is allowed, and why.
fn play(exhibit: &Exhibit) -> (u32, String) {
    let mut counters = Counters::default();
    let todo_tool = ToolUse { name: "mcp__punch__todo_write".into(), kind: ToolKind::Ours, ..ToolUse::default() };
    counters.observe(&HostEvent::Prompted { by_person: true }, 0);
    counters.observe(&HostEvent::ToolEnded { tool: todo_tool }, 0);
    let scene = (exhibit.scene)(Scene { named: true, bound: true, ..Scene::default() });
    let mut before = 0;
    for n in 1..=LONGEST {
        let turn = (exhibit.turn)(i64::from(n));
        let now = turn.minute * 60_000;
        turn.events.iter().for_each(|event| counters.observe(event, now));
        let event = HostEvent::Stopping { finish: Finish::EndTurn, background: turn.background, kept_going: false };
        counters.observe(&event, now);
        let outside = Block { id: "T-9".into(), cause: Cause::Hold, about: "the other team".into() };
        let facts = Facts {
            revision: turn.done,
            open: exhibit.todos.saturating_sub(turn.done),
            total: exhibit.todos,
            next: (!turn.waits).then(Named::default),
            progress: turn.done > before,
            roots: if turn.waits {
                Roots { named: vec![outside], total: 1, ..Roots::default() }
            } else {
                Roots::default()
            },
            ..Facts::default()
        };
        before = turn.done;
        let policy = KeepGoing::default();
        let input = Input { facts, counters: counters.clone(), event, policy, scene: scene.clone(), now };
        let decision = decide(&input);
        counters.decided(&decision, &input.facts);
        if let Decision::Allow { reason } = decision {
            return (n, reason.code().to_owned());
        }
    }
    (LONGEST, "endless".to_owned())
}

#[test]
fn every_exhibit_ends_where_it_should() {
    for exhibit in EXHIBITS {
        let (turn, why) = exhibit.end;
        assert_eq!(play(exhibit), (turn, why.to_owned()), "{}: {}", exhibit.source, exhibit.happened);
    }
}

/// The table of the page, a line for each exhibit.
fn table() -> String {
    let mut out = "| source | what happened there | here |\n|---|---|---|\n".to_owned();
    for exhibit in EXHIBITS {
        let (turn, why) = exhibit.end;
        let source = match exhibit.source.split_once('#') {
            Some((repository, number)) if repository.contains('/') => {
                format!("[{}](https://github.com/{repository}/issues/{number})", exhibit.source)
            }
            _ => exhibit.source.to_owned(),
        };
        let here = match (turn - 1, why) {
            (times, "finished") => format!("continued {times} times, until all {} todos are done", exhibit.todos),
            (0, why) => format!("allowed to stop at once (`{why}`)"),
            (times, why) => format!("continued {times} times, then allowed to stop (`{why}`)"),
        };
        out.push_str(&format!("| {source} | {} | {here} |\n", exhibit.happened));
    }
    out
}

#[test]
fn the_page_shows_every_exhibit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/loops.md");
    let page = fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once("| source |").unwrap();
    let tail = rest.split_once("\n\n").map_or("", |(_, tail)| tail);
    let wanted = format!("{head}{}\n{tail}", table());
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &wanted).unwrap();
    } else {
        assert_eq!(page, wanted, "run the test with UPDATE_DOCS=1");
    }
}
