//! The museum of loops: published runaways and false stops of other tools, replayed against our decision. Each exhibit
//! models what its source describes; the turn at which Punchlist ends or finishes it is in `docs/loops.md`.
//!
//! After a change: `UPDATE_DOCS=1 cargo test -p punch-core --test it museum`.

mod exhibits;

use std::env;
use std::fs;
use std::path::Path;

use punch_core::drive::{
    Block, Counters, Decision, DecisionInput, DecisionScene, Finish, HostEvent, KeepGoing, NamedTodo, PlanFacts, Roots,
    decide,
};
use punch_core::reason::Cause;

use exhibits::{EXHIBITS, ours};

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
    scene: fn(DecisionScene) -> DecisionScene,
    turn: fn(i64) -> Turn,
    /// The stop at which the agent is allowed to stop, and why.
    end: (u32, &'static str),
}

/// Plays an exhibit to its end: the stop that is allowed, and why.
fn play(exhibit: &Exhibit) -> (u32, String) {
    let mut counters = Counters::default();
    counters.observe(&HostEvent::Prompted { by_person: true }, 0);
    counters.observe(&ours(), 0);
    let scene = (exhibit.scene)(DecisionScene { named: true, bound: true, ..DecisionScene::default() });
    let mut before = 0;
    for n in 1..=LONGEST {
        let turn = (exhibit.turn)(i64::from(n));
        let now = turn.minute * 60_000;
        turn.events.iter().for_each(|event| counters.observe(event, now));
        let event = HostEvent::Stopping { finish: Finish::EndTurn, background: turn.background, kept_going: false };
        counters.observe(&event, now);
        let outside = Block { id: "T-9".into(), cause: Cause::Hold, about: "the other team".into() };
        let facts = PlanFacts {
            revision: turn.done,
            open: exhibit.todos.saturating_sub(turn.done),
            total: exhibit.todos,
            next: (!turn.waits).then(NamedTodo::default),
            progress: turn.done > before,
            roots: if turn.waits {
                Roots { named: vec![outside], total: 1, ..Roots::default() }
            } else {
                Roots::default()
            },
            ..PlanFacts::default()
        };
        before = turn.done;
        let policy = KeepGoing::default();
        let input = DecisionInput { facts, counters: counters.clone(), event, policy, scene: scene.clone(), now };
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
            (0, why) => format!("allowed to stop at once (`{why}`)"),
            (times, "finished") => format!("continued {times} times, until all {} todos are done", exhibit.todos),
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
