//! The formats that have a JSON Schema: their names, descriptions and generators.

use punch_core::schema::{
    self, about, any_of, count, document, list, object, only, or_null, plan_file, shown, text, time, titled,
};
use punch_engine::call::Dialect;
use punch_engine::schema::{checkpoint, decision, differs, judged, tools};
use serde_json::Value;

/// A format with a schema.
pub struct FormatSchema {
    /// Its name, here and in `docs/formats`.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    make: fn() -> Value,
}

impl FormatSchema {
    /// The one of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|schema| schema.name == name)
    }

    /// The whole schema.
    pub fn make(&self) -> Value {
        titled(self.name, self.about, (self.make)())
    }
}

/// Every schema.
pub const ALL: &[FormatSchema] = &[
    row("extended", "a plan in the extended format: `punch export`, `punch import`, `punch edit`", document),
    row("plan-file", "the YAML front matter of a plan file, as a mapping", plan_file),
    row("decision", "a decision about an agent that wanted to stop: `punch why-stop --line`", decision),
    row("tools-native", "arguments of the tools of the dialect native", || tools(Dialect::Native)),
    row("tools-cursor", "arguments of the tools of the dialect cursor", || tools(Dialect::Cursor)),
    row("tools-phases", "arguments of the tools of the dialect phases", || tools(Dialect::Phases)),
    row("tools-todowrite", "arguments of the tools of the dialect todowrite", || tools(Dialect::Todowrite)),
    row("tools-extended", "arguments of the tools of the dialect extended", || tools(Dialect::Extended)),
    row("answer-list", "the answer of `punch list --json`", todos),
    row("answer-ready", "the answer of `punch list --ready --json`", todos),
    row("answer-add", "the answer of `punch add --json`, and of every verb that changes todos", changed),
    row("answer-show", "the answer of `punch show --json`", todo),
    row("answer-claim", "the answer of `punch claim --json`", claim),
    row("answer-schedule", "the answer of `punch schedule --json`", || answer(&schema::schedule())),
    row("answer-checkpoint", "the answers of `punch checkpoint … --json`", checkpoints),
    row("answer-status", "the answer of `punch status --json`", status),
    row("answer-inbox", "the answer of `punch inbox --json`", || answer(&[("items", list(schema::inbox_item()))])),
    row("answer-error", "what every verb answers with `--json` when it fails", error),
];

const fn row(name: &'static str, about: &'static str, make: fn() -> Value) -> FormatSchema {
    FormatSchema { name, about, make }
}

/// Every answer begins with the version.
fn answer(always: &[(&str, Value)]) -> Value {
    object(&[&[("schema", only(1))], always].concat(), &[])
}

fn answer_with(always: &[(&str, Value)], maybe: &[(&str, Value)]) -> Value {
    object(&[&[("schema", only(1))], always].concat(), maybe)
}

fn todos() -> Value {
    answer(&[("todos", list(shown()))])
}

fn todo() -> Value {
    let at = about(or_null(time()), "when; null if it will be informed with its next tool call");
    let session = object(&[("session", text()), ("agent", text()), ("at", at)], &[]);
    let informed = about(list(session), "sessions that were informed of your changes to it");
    answer(&[("todo", shown()), ("informed", informed)])
}

fn change() -> Vec<(&'static str, Value)> {
    vec![
        ("todo", about(or_null(shown()), "the first of them")),
        ("unblocked", about(list(text()), "ids that became ready")),
        ("warnings", list(text())),
        ("revision", count()),
    ]
}

fn changed() -> Value {
    answer_with(&change(), &[("todos", about(list(shown()), "all of them, if there are several"))])
}

fn claim() -> Value {
    let fence = about(count(), "give it with `done`: a late answer is refused");
    let claimed = answer(&[change(), vec![("fence", fence), ("leaseUntil", time())]].concat());
    let nothing = || only(Value::Null);
    any_of(vec![claimed, answer(&[("todo", nothing()), ("fence", nothing()), ("leaseUntil", nothing())])])
}

fn checkpoints() -> Value {
    let ids = || list(text());
    let place = || object(&[("branch", or_null(text())), ("commit", or_null(text()))], &[]);
    let diff = answer(&[
        ("checkpoint", text()),
        ("todos", list(differs())),
        ("git", object(&[("then", place()), ("now", place())], &[])),
    ]);
    let restored = answer(&[
        ("checkpoint", text()),
        ("safety", about(or_null(text()), "the checkpoint of the state before; null if nothing changed")),
        ("completed", list(judged())),
        ("reopened", ids()),
        ("newer", ids()),
        ("gone", count()),
        ("next", or_null(text())),
        ("git", about(ids(), "commands that bring the files back")),
        ("revision", count()),
    ]);
    any_of(vec![
        about(answer(&[("checkpoint", checkpoint())]), "save, show"),
        about(answer(&[("checkpoints", list(checkpoint()))]), "list"),
        about(diff, "diff"),
        about(restored, "restore"),
        about(answer(&[("forgotten", ids())]), "prune"),
    ])
}

fn status() -> Value {
    let going = object(
        &[
            ("session", text()),
            ("subagent", or_null(text())),
            ("agent", text()),
            ("continuation", count()),
            ("of", count()),
        ],
        &[],
    );
    let ids = |what: &str| about(list(text()), what);
    answer(&[
        ("open", about(count(), "pending and in progress")),
        ("failedCount", count()),
        ("next", about(or_null(text()), "what to start next; null while something is in progress")),
        ("failed", ids("the first of them")),
        ("stuck", ids("the first that depend on something cancelled or failed")),
        ("held", ids("the first of them")),
        ("completed", count()),
        ("total", about(count(), "without cancelled ones")),
        ("percent", count()),
        ("inProgress", about(or_null(text()), "the first of them")),
        ("inProgressAll", list(text())),
        ("keepGoing", about(list(going), "sessions that are kept going")),
        (
            "inbox",
            about(or_null(count()), "how many things need the user; null if the plan is too large to count them"),
        ),
    ])
}

fn error() -> Value {
    let error = object(
        &[("code", about(text(), "never renamed")), ("message", text()), ("hint", about(text(), "what to do"))],
        &[],
    );
    answer(&[("error", error)])
}
