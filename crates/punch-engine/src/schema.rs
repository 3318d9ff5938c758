//! JSON Schemas of what the engine writes: checkpoints, decisions, and the arguments of its tools.

use punch_core::Status;
use punch_core::schema::{about, any_of, count, decided, list, named, object, or_null, text, time, word, yes_no};
use serde_json::Value;

use crate::call::Dialect;
use crate::{OfferedTool, ToolGroup, ToolOffers};

/// The arguments of every tool of a dialect, by the name of the tool, and any of them.
pub fn tools(dialect: Dialect) -> Value {
    let one = |tool: OfferedTool| named(&tool.name, about(Value::Object(tool.input_schema), &tool.description));
    any_of(ToolOffers::new(dialect, &ToolGroup::ALL).tools.into_iter().map(one).collect())
}

/// The record of a decision, as `punch why-stop --line` prints it and `punch replay --dialect drive` reads it.
pub fn decision() -> Value {
    let always = [("agent", text()), ("plan", text()), ("revision", count())];
    object(&[always.to_vec(), decided()].concat(), &[])
}

/// A checkpoint as it is shown, with the size of its patch or the patch itself.
pub fn checkpoint() -> Value {
    let ids = || list(text());
    let todos = object(
        &[
            ("completed", ids()),
            ("remaining", ids()),
            ("blocked", about(ids(), "those of `remaining` that wait")),
            ("inProgress", about(or_null(text()), "null if there is none, or several")),
            ("inProgressAll", ids()),
            ("cancelled", ids()),
            ("failed", ids()),
        ],
        &[],
    );
    let verification = object(&[("verified", ids()), ("unverified", ids()), ("stale", ids())], &[]);
    let checkpoint = object(
        &[
            ("id", text()),
            ("at", time()),
            ("time", about(text(), "the same in words, UTC")),
            ("why", word(["asked", "safety", "context", "batch"])),
            ("by", text()),
            ("plan", text()),
            ("revision", count()),
            ("todos", todos),
            ("git", about(or_null(git()), "null without git")),
            ("verification", verification),
            ("notes", or_null(text())),
        ],
        &[],
    );
    named("checkpoint", checkpoint)
}

fn git() -> Value {
    let some = |what: &str| about(list(text()), what);
    object(
        &[
            ("branch", about(or_null(text()), "null with a detached head")),
            ("commit", about(or_null(text()), "null before the first one")),
            ("dirty", about(yes_no(), "tracked files differ from the commit")),
            ("modified", some("at most 200")),
            ("modifiedTotal", count()),
            ("untracked", some("at most 200")),
            ("untrackedTotal", count()),
        ],
        &[
            ("patch", about(text(), "for `git apply`; only where it was asked for")),
            ("patchBytes", about(count(), "its size, elsewhere")),
            ("patchLeftOut", about(text(), "why there is none")),
        ],
    )
}

/// The schema of what happened to a todo that was completed at a checkpoint.
pub fn judged() -> Value {
    let verdict = word(["valid", "stale", "unknown"]);
    object(&[("id", text()), ("verdict", verdict), ("commit", or_null(text()))], &[])
}

/// The schema of a todo whose status differs from the one at a checkpoint.
pub fn differs() -> Value {
    let status = || or_null(word(Status::ALL.map(Status::name)));
    object(&[("id", text()), ("then", about(status(), "null if it came later")), ("now", status())], &[])
}
