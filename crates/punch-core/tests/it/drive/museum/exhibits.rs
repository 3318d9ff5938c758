//! The exhibits: what happened in each published case, and where it ends here.

use punch_core::drive::{ContextUse, DecisionScene, HostEvent, SessionStart, Switch, ToolKind, ToolUse};

use super::{Exhibit, Turn};

fn as_is(scene: DecisionScene) -> DecisionScene {
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
    HostEvent::ToolEnded { tool: ToolUse::new("Edit", ToolKind::Edit) }
}

/// The agent changes a todo, but no status.
pub fn ours() -> HostEvent {
    HostEvent::ToolEnded { tool: ToolUse::new("mcp__punch__todo_write", ToolKind::Ours) }
}

fn failed_tool() -> HostEvent {
    let tool = ToolUse::new("update_goal", ToolKind::Other);
    HostEvent::ToolFailed { tool, error: "blocked".into(), interrupted: false }
}

/// A turn with these events in which nothing is completed.
fn with(n: i64, events: Vec<HostEvent>) -> Turn {
    Turn { events, minute: n, ..Turn::default() }
}

pub const EXHIBITS: &[Exhibit] = &[
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
        turn: |n| with(n, vec![HostEvent::Asked { text: String::new() }]),
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
        scene: |scene| DecisionScene { switch: Switch::Off, ..scene },
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
        scene: |scene| DecisionScene { named: false, ..scene },
        turn: idle,
        end: (1, "no_session"),
    },
    Exhibit {
        source: "anthropics/claude-plugins-official#370",
        happened: "the loop of one session captured another",
        todos: 3,
        scene: |scene| DecisionScene { bound: false, ..scene },
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
            events: vec![HostEvent::Compacting, HostEvent::SessionStarted { how: SessionStart::Compact }, edit()],
            ..one_todo(n)
        },
        end: (5, "finished"),
    },
    Exhibit {
        source: "Yeachan-Heo/oh-my-claudecode#2085",
        happened: "after a compaction only a new conversation ended the loop; cancelling found no state",
        todos: 3,
        scene: |scene| DecisionScene { switch: Switch::Off, ..scene },
        turn: |n| with(n, vec![HostEvent::SessionStarted { how: SessionStart::Compact }]),
        end: (1, "switched_off"),
    },
    Exhibit {
        source: "Yeachan-Heo/oh-my-claudecode#2220",
        happened: "the hook created its state again each time it was deleted, so that even a forced cancel did nothing",
        todos: 3,
        scene: |scene| DecisionScene { switch: Switch::Off, ..scene },
        turn: idle,
        end: (1, "switched_off"),
    },
    Exhibit {
        source: "Yeachan-Heo/oh-my-claudecode#2832",
        happened: "continued a cancelled loop after the session was resumed",
        todos: 3,
        scene: |scene| DecisionScene { switch: Switch::Off, ..scene },
        turn: |n| with(n, vec![HostEvent::SessionStarted { how: SessionStart::Resume }]),
        end: (1, "switched_off"),
    },
    Exhibit {
        source: "Yeachan-Heo/oh-my-claudecode#2380",
        happened: "cancelling lost against the state of the loop",
        todos: 3,
        scene: |scene| DecisionScene { switch: Switch::Off, ..scene },
        turn: one_todo,
        end: (1, "switched_off"),
    },
    Exhibit {
        source: "Yeachan-Heo/oh-my-claudecode#2419",
        happened: "kept the session from stopping although the work was finished",
        todos: 3,
        scene: as_is,
        turn: |n| Turn { done: 3, ..one_todo(n) },
        end: (1, "finished"),
    },
    Exhibit {
        source: "Yeachan-Heo/oh-my-claudecode#311",
        happened: "executed the original request again after every interruption",
        todos: 3,
        scene: as_is,
        turn: |n| with(n, vec![edit(), HostEvent::Interrupted]),
        end: (1, "interrupted"),
    },
    Exhibit {
        source: "code-yeongyu/oh-my-openagent#4013",
        happened: "edits of a todo's text and priority counted as progress",
        todos: 3,
        scene: as_is,
        turn: |n| with(n, vec![ours()]),
        end: (4, "no_progress"),
    },
    Exhibit {
        source: "alvinunreal/oh-my-opencode-slim#147",
        happened: "continued over every question, so that nobody could review between stages",
        todos: 3,
        scene: as_is,
        turn: |n| with(n, vec![edit(), HostEvent::Asked { text: String::new() }]),
        end: (1, "asked"),
    },
    Exhibit {
        source: "bytedance/deer-flow#5424",
        happened: "continued after the budget of tokens was used up, and paid for calls that could do nothing",
        todos: 3,
        scene: |scene| DecisionScene { context: Some(ContextUse { used: 190_000, limit: 200_000 }), ..scene },
        turn: idle,
        end: (1, "context_full"),
    },
    Exhibit {
        source: "anthropics/claude-plugins-official#64",
        happened: "a loop in one panel took over a chat in another panel",
        todos: 3,
        scene: |scene| DecisionScene { bound: false, ..scene },
        turn: one_todo,
        end: (1, "unbound"),
    },
    Exhibit {
        source: "anthropics/claude-plugins-official#1775",
        happened: "the state file had no session id, so that every session in the project was captured",
        todos: 3,
        scene: |scene| DecisionScene { named: false, ..scene },
        turn: one_todo,
        end: (1, "no_session"),
    },
    Exhibit {
        source: "anthropics/claude-plugins-official#1542",
        happened: "a second loop in the project overwrote the first one, which then worked on the wrong task",
        todos: 3,
        scene: |scene| DecisionScene { foreign: true, ..scene },
        turn: idle,
        end: (1, "foreign"),
    },
    Exhibit {
        source: "anthropics/claude-plugins-official#746",
        happened: "a loop captured other sessions of the same project",
        todos: 3,
        scene: |scene| DecisionScene { bound: false, ..scene },
        turn: idle,
        end: (1, "unbound"),
    },
    Exhibit {
        source: "anthropics/claude-code#15853",
        happened: "the state file lay in the folder, so that a second session in it continued the loop of the first",
        todos: 3,
        scene: |scene| DecisionScene { bound: false, ..scene },
        turn: idle,
        end: (1, "unbound"),
    },
    Exhibit {
        source: "gastownhall/gastown (mountain-eater.md)",
        happened: "stalled at 40 % of the work, with no indication of why",
        todos: 10,
        scene: as_is,
        turn: |n| Turn { done: n.unsigned_abs().min(4), waits: n > 4, ..one_todo(n) },
        end: (5, "nothing_actionable"),
    },
    Exhibit {
        source: "frankbria/ralph-claude-code#88",
        happened: "ended because words in an answer sounded like completion, although the agent had said that it was not done",
        todos: 7,
        scene: as_is,
        turn: one_todo,
        end: (7, "finished"),
    },
    Exhibit {
        source: "frankbria/ralph-claude-code#91",
        happened: "reported that the project was complete, and it was not",
        todos: 12,
        scene: as_is,
        turn: one_todo,
        end: (12, "finished"),
    },
    Exhibit {
        source: "frankbria/ralph-claude-code#194",
        happened: "exit signals that a killed run had left behind ended the next run before its first call",
        todos: 5,
        scene: as_is,
        turn: |n| Turn {
            events: vec![HostEvent::SessionStarted { how: SessionStart::Startup }, edit()],
            ..one_todo(n)
        },
        end: (5, "finished"),
    },
    Exhibit {
        source: "mikeyobrien/ralph-orchestrator#139",
        happened: "took the first event for the promise of completion and ended after one iteration",
        todos: 4,
        scene: as_is,
        turn: one_todo,
        end: (4, "finished"),
    },
    Exhibit {
        source: "Yeachan-Heo/oh-my-claudecode#635",
        happened: "stopped in the middle of a loop without a reason, with todos open",
        todos: 10,
        scene: as_is,
        turn: one_todo,
        end: (10, "finished"),
    },
    Exhibit {
        source: "bastani-inc/atomic#132",
        happened: "ended before all features were complete",
        todos: 9,
        scene: as_is,
        turn: one_todo,
        end: (9, "finished"),
    },
    Exhibit {
        source: "kirodotdev/Kiro#5967",
        happened: "was told to run all tasks and stopped after one, ready to continue when the user is",
        todos: 18,
        scene: as_is,
        turn: one_todo,
        end: (18, "finished"),
    },
    Exhibit {
        source: "kirodotdev/Kiro#2414",
        happened: "marked tasks as completed before they were implemented, and took the next one",
        todos: 6,
        scene: as_is,
        turn: |n| Turn { done: n.unsigned_abs() / 2, ..one_todo(n) },
        end: (12, "finished"),
    },
];
