//! The schemas of runs, workers and sessions in the API.

use punch_core::schema::{self as core, about, count, list, named, object, or_null, text, time, word, yes_no};
use punch_engine::TurnEnd;
use serde_json::Value;

use super::{of_plan, whole};

fn sum() -> Value {
    let fields = ["tokens", "estimated", "cost", "uncosted", "ms", "turns"].map(|name| (name, count()));
    named("sum", about(object(&fields, &[]), "cost in millionths of a dollar"))
}

fn wanted() -> Value {
    word(["go", "pause", "stop"])
}

pub(super) fn run_state() -> Value {
    let seat = object(
        &[
            ("seat", count()),
            ("agent", text()),
            ("stage", text()),
            ("wanted", wanted()),
            ("todo", or_null(text())),
            ("since", time()),
            ("lastSign", or_null(time())),
            ("tokens", count()),
            ("cost", count()),
            ("line", text()),
        ],
        &[],
    );
    let limits = ["tokens", "cost", "time"].map(|name| (name, or_null(count())));
    let run = object(
        &[
            ("number", count()),
            ("startedAt", time()),
            ("endedAt", or_null(time())),
            ("running", yes_no()),
            ("outcome", text()),
            ("wanted", wanted()),
            ("spent", sum()),
            ("limits", object(&limits, &[])),
            ("seats", list(seat)),
        ],
        &[],
    );
    named("runState", run)
}

fn switch() -> Value {
    word(["on", "paused", "off"])
}

pub(super) fn sessions() -> Value {
    let session = object(
        &[
            ("session", text()),
            ("agent", text()),
            ("continuation", count()),
            ("of", count()),
            ("switch", about(switch(), "whether it is sent back to work when it stops early")),
            ("decision", about(text(), "the last decision and its reason; empty before the first")),
            ("decidedAt", or_null(time())),
        ],
        &[],
    );
    list(named("session", session))
}

pub(super) fn fleet_in_short() -> Value {
    let counts = ["working", "draining", "lost", "seats", "busy", "stuck"].map(|name| (name, count()));
    let warnings = [("warnings", about(list(text()), "lost workers and stuck claims"))];
    let fleet = object(&[&counts[..], &warnings].concat(), &[]);
    or_null(named("fleetInShort", about(fleet, "null if there are no workers")))
}

pub(crate) fn fleet() -> Value {
    whole(&[vec![("now", time())], core::fleet()].concat(), &[])
}

pub(crate) fn runs() -> Value {
    let run = object(
        &[
            ("number", count()),
            ("startedAt", time()),
            ("endedAt", or_null(time())),
            ("outcome", text()),
            ("spent", sum()),
            ("running", yes_no()),
        ],
        &[],
    );
    of_plan(&[("runs", list(run))], &[])
}

pub(crate) fn run() -> Value {
    let step = object(&[("at", time()), ("text", text())], &[]);
    let cost = object(&[("id", text()), ("spent", sum()), ("attempts", count()), ("estimated", or_null(count()))], &[]);
    let spent = object(
        &[
            ("todo", or_null(text())),
            ("attempt", count()),
            ("agent", text()),
            ("tokens", count()),
            ("cost", or_null(count())),
            ("ms", count()),
            ("turns", count()),
            ("estimated", yes_no()),
            ("at", time()),
        ],
        &[],
    );
    let bar = object(
        &[
            ("seat", count()),
            ("todo", text()),
            ("attempt", count()),
            ("start", time()),
            ("end", or_null(time())),
            ("outcome", or_null(word(TurnEnd::ALL.map(TurnEnd::name)))),
        ],
        &[],
    );
    of_plan(
        &[
            ("run", run_state()),
            ("resumed", count()),
            ("agents", list(text())),
            ("because", list(text())),
            ("earlier", count()),
            ("steps", list(step)),
            ("todos", list(cost)),
            ("ledger", list(spent)),
            ("bars", list(bar)),
        ],
        &[],
    )
}

pub(crate) fn control() -> Value {
    object(&[("wanted", word(["pause", "resume", "stop"]))], &[("seat", or_null(count()))])
}

pub(crate) fn controlled() -> Value {
    whole(&[("run", count()), ("seat", or_null(count())), ("wanted", text())], &[])
}

pub(crate) fn control_session() -> Value {
    object(&[("wanted", word(["pause", "resume", "off"]))], &[])
}

pub(crate) fn session_controlled() -> Value {
    whole(&[("session", text()), ("switch", about(switch(), "a choice for all sessions may stop more"))], &[])
}

pub(crate) fn assign() -> Value {
    let todos = about(list(text()), "ids, in the order in which they are worked on");
    object(&[("todos", todos), ("agent", about(text(), "one of `agents` of the server"))], &[])
}

pub(crate) fn assigned() -> Value {
    whole(&[("session", text()), ("todos", list(text())), ("agent", text())], &[])
}
