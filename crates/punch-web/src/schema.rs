//! The JSON Schemas of bodies and answers, for the OpenAPI document. They are made from the same tables as those of the
//! command line where both show the same thing.

mod runs;

use punch_core::ShownStatus;
use punch_core::schema::{
    self as core, about, any, any_of, count, list, named, object, only, or_null, shown, signed, text, time, word,
    yes_no,
};
use punch_core::view::board_row::MARKS;
use punch_engine::call::Dialect;
use punch_engine::schema as engine;
use serde_json::{Value, json};

use crate::access::TokenRole;
use runs::{fleet_in_short, run_state, sessions};

pub(crate) use punch_core::schema::{any as any_object, count as count_of, text as any_text, yes_no as flag};
pub(crate) use runs::{assign, assigned, control, control_session, controlled, fleet, run, runs, session_controlled};

type SchemaField<'a> = (&'a str, Value);

/// Every answer begins with the version.
fn whole(always: &[SchemaField<'_>], maybe: &[SchemaField<'_>]) -> Value {
    object(&[&[("schema", only(1))], always].concat(), maybe)
}

/// An answer about a plan at a revision.
fn of_plan(always: &[SchemaField<'_>], maybe: &[SchemaField<'_>]) -> Value {
    whole(&[&[("revision", count())], always].concat(), maybe)
}

pub(crate) fn form() -> Value {
    word(["rows", "uids"])
}

pub(crate) fn policy() -> Value {
    word(["list", "level", "makespan"])
}

pub(crate) fn question_state() -> Value {
    word(["open", "all"])
}

pub(crate) fn done() -> Value {
    whole(&[], &[])
}

fn can() -> Value {
    object(&[("write", yes_no()), ("answer", about(yes_no(), "may answer questions of agents"))], &[])
}

fn rights() -> Vec<SchemaField<'static>> {
    vec![
        ("role", word(TokenRole::ALL.map(TokenRole::name))),
        ("name", about(or_null(text()), "how changes are signed; null for the user who started the server")),
        ("can", can()),
        ("cookie", about(yes_no(), "the session lives in a cookie")),
        ("expiresAt", or_null(time())),
    ]
}

pub(crate) fn server() -> Value {
    let fields = [
        ("server", text()),
        ("project", text()),
        ("plan", about(or_null(text()), "the plan to open first")),
        ("agents", about(list(text()), "agents that you may start")),
    ];
    whole(&[fields.to_vec(), rights()].concat(), &[])
}

pub(crate) fn login() -> Value {
    object(&[("token", about(text(), "from the fragment of the printed address, or of `punch token new`"))], &[])
}

pub(crate) fn session() -> Value {
    whole(&rights(), &[("token", about(text(), "send it as `Authorization: Bearer TOKEN`; absent beyond loopback"))])
}

fn figures() -> Vec<SchemaField<'static>> {
    let counts = ["pending", "inProgress", "completed", "cancelled", "failed", "parked"].map(|name| (name, count()));
    let progress = object(&[("completed", count()), ("total", count()), ("percent", count())], &[]);
    vec![("counts", object(&counts, &[])), ("progress", progress)]
}

pub(crate) fn plans() -> Value {
    let fields = [
        ("name", text()),
        ("revision", count()),
        ("createdAt", time()),
        ("archived", or_null(time())),
        ("default", yes_no()),
    ];
    whole(&[("plans", list(object(&[fields.to_vec(), figures()].concat(), &[])))], &[])
}

fn row() -> Value {
    let statuses: Vec<&str> = ShownStatus::all().map(ShownStatus::name).collect();
    let row = object(
        &[
            ("uid", count()),
            ("id", text()),
            ("status", word(statuses)),
            ("text", text()),
            ("position", about(signed(), "rows are sorted by this, then by uid")),
            ("updated", time()),
        ],
        &[
            ("phase", about(count(), "the uid of its phase")),
            ("priority", about(count(), "1 to 5; absent is 3")),
            ("labels", list(text())),
            ("owner", text()),
            ("since", time()),
            ("until", about(time(), "when the claim of its owner ends")),
            ("badges", list(word(MARKS.map(|(name, _)| name)))),
            ("notes", count()),
            ("why", about(list(text()), "why it is not worked on")),
            ("needs", about(list(text()), "ids")),
            ("dependents", about(count(), "open todos that need it directly")),
            ("tokens", count()),
            ("finished", time()),
        ],
    );
    named("row", about(row, "a todo as a row; what is empty is absent"))
}

fn phases() -> Value {
    list(object(&[("uid", count()), ("name", text())], &[]))
}

fn inbox_item() -> Value {
    let mut item = core::inbox_item();
    item["properties"]["question"] = about(count(), "the number of the question");
    named("inboxItem", item)
}

fn question() -> Value {
    let option = object(&[("id", text()), ("label", text()), ("allows", yes_no())], &[]);
    let answer = object(
        &[("answer", text()), ("by", text()), ("via", text()), ("at", time()), ("reason", or_null(text()))],
        &[],
    );
    let question = object(
        &[
            ("id", count()),
            ("state", word(["open", "answered", "closed"])),
            ("askedAt", time()),
            ("todo", or_null(text())),
            ("uid", or_null(count())),
            ("agent", text()),
            ("run", or_null(count())),
            ("seat", or_null(count())),
            ("text", text()),
            ("cut", yes_no()),
            ("options", list(option)),
            ("answerable", about(yes_no(), "false if only the agent's own terminal can answer, or it is settled")),
            ("answer", or_null(answer)),
        ],
        &[],
    );
    named("question", question)
}

fn entry() -> Value {
    let entry = object(
        &[
            ("revision", count()),
            ("at", time()),
            ("by", text()),
            ("changes", text()),
            ("undoes", or_null(count())),
            ("undoneBy", or_null(count())),
        ],
        &[("detail", list(text()))],
    );
    named("historyEntry", entry)
}

pub(crate) fn board() -> Value {
    let fields = vec![
        ("plan", text()),
        ("now", time()),
        ("rows", list(row())),
        ("phases", phases()),
        ("inbox", list(inbox_item())),
        ("questions", list(question())),
        ("run", or_null(run_state())),
        ("sessions", sessions()),
        ("fleet", fleet_in_short()),
        ("seen", about(count(), "the revision up to which you have looked")),
        ("unseen", about(list(entry()), "newest first, at most 50")),
        ("quietAfter", about(count(), "milliseconds without a sign of life after which an agent is quiet")),
        ("failedWrite", or_null(text())),
        ("can", can()),
    ];
    of_plan(&[fields, figures()].concat(), &[])
}

pub(crate) fn inbox() -> Value {
    of_plan(&[("items", list(inbox_item()))], &[])
}

pub(crate) fn todos() -> Value {
    of_plan(&[], &[("rows", list(row())), ("next", or_null(count())), ("uids", list(count()))])
}

pub(crate) fn todo() -> Value {
    let blocks = || about(list(any()), "a tree of blocks; see docs/api.md");
    let markdown = object(&[("description", blocks()), ("criteria", blocks()), ("notes", list(blocks()))], &[]);
    let check = object(&[("command", text()), ("approved", yes_no()), ("approve", text())], &[]);
    let attempt = object(
        &[
            ("attempt", count()),
            ("agent", text()),
            ("run", or_null(count())),
            ("tokens", count()),
            ("estimated", count()),
            ("cost", or_null(count())),
            ("ms", count()),
            ("at", time()),
        ],
        &[],
    );
    let informed = object(&[("session", text()), ("agent", text()), ("at", or_null(time()))], &[]);
    of_plan(
        &[
            ("row", row()),
            ("todo", shown()),
            ("markdown", markdown),
            ("check", or_null(check)),
            ("attempts", list(attempt)),
            ("lane", or_null(object(&[("path", text()), ("size", text())], &[]))),
            ("hasLog", about(yes_no(), "an agent has left output")),
            ("informed", list(informed)),
        ],
        &[],
    )
}

pub(crate) fn why() -> Value {
    let reason = object(
        &[
            ("id", text()),
            ("status", or_null(text())),
            ("cause", text()),
            ("reason", or_null(text())),
            ("owner", or_null(text())),
            ("until", or_null(time())),
            ("neededBy", text()),
        ],
        &[],
    );
    of_plan(
        &[
            ("todo", text()),
            ("text", text()),
            ("standing", text()),
            ("shown", text()),
            ("leftOut", or_null(named("reason", reason.clone()))),
            ("waitsFor", list(named("reason", reason.clone()))),
            ("roots", list(named("reason", reason))),
            ("unblocks", list(text())),
            ("conflicts", list(any())),
            ("totals", any()),
        ],
        &[],
    )
}

pub(crate) fn history() -> Value {
    of_plan(&[("entries", list(entry()))], &[("next", about(or_null(count()), "`before` of the next page"))])
}

pub(crate) fn diff() -> Value {
    whole(&[("todo", text()), ("diff", text()), ("cut", yes_no())], &[])
}

pub(crate) fn log() -> Value {
    whole(&[("todo", text()), ("log", text()), ("cut", yes_no())], &[])
}

pub(crate) fn graph() -> Value {
    let node = object(
        &[
            ("uid", count()),
            ("id", text()),
            ("status", text()),
            ("text", text()),
            ("layer", count()),
            ("order", count()),
            ("group", count()),
        ],
        &[("critical", about(only(true), "on the longest chain of open work"))],
    );
    let edge = object(
        &[("to", about(count(), "who needs it")), ("kind", word(["active", "circle", "missing"]))],
        &[("from", about(count(), "what is needed")), ("needs", about(text(), "an id that no todo has"))],
    );
    let layer = object(&[("layer", count()), ("count", count())], &[]);
    of_plan(
        &[("nodes", list(node)), ("edges", list(edge)), ("layers", list(layer)), ("total", count()), ("cut", yes_no())],
        &[],
    )
}

pub(crate) fn schedule() -> Value {
    of_plan(&core::schedule(), &[])
}

pub(crate) fn at() -> Value {
    let fields = vec![("plan", text()), ("at", or_null(time())), ("rows", list(row())), ("phases", phases())];
    of_plan(&[fields, figures()].concat(), &[])
}

pub(crate) fn checkpoints() -> Value {
    of_plan(&[("checkpoints", list(engine::checkpoint()))], &[])
}

pub(crate) fn batch() -> Value {
    // The tool of the native dialect takes the same ops.
    let offer = punch_engine::ToolOffers::new(Dialect::Native, &[punch_engine::ToolGroup::Fields]);
    let tool =
        offer.tools.into_iter().find(|tool| tool.input_schema.get("properties").is_some_and(|p| p["ops"].is_object()));
    let ops = tool.map_or_else(|| list(any()), |tool| tool.input_schema["properties"]["ops"].clone());
    let key = json!({"type": "string", "minLength": 1, "maxLength": 200});
    object(
        &[("ops", ops)],
        &[
            ("ifRevision", about(or_null(count()), "fail unless the plan is at this revision")),
            ("key", about(key, "under one key a batch takes effect once within 24 hours")),
        ],
    )
}

pub(crate) fn changed() -> Value {
    of_plan(
        &[
            ("rows", about(list(row()), "every todo that changed")),
            ("gone", about(list(count()), "uids of todos that were archived")),
            ("added", list(text())),
            ("unblocked", list(text())),
            ("warnings", list(text())),
            ("undid", or_null(count())),
        ],
        &[],
    )
}

pub(crate) fn undo() -> Value {
    object(
        &[],
        &[
            ("revision", about(count(), "absent: your latest change that still stands")),
            ("any", about(yes_no(), "the latest change of anyone")),
            ("key", json!({"type": "string", "minLength": 1, "maxLength": 200})),
        ],
    )
}

pub(crate) fn seen() -> Value {
    object(&[("revision", count())], &[])
}

pub(crate) fn seen_answer() -> Value {
    whole(&[("seen", count())], &[])
}

pub(crate) fn questions() -> Value {
    of_plan(&[("questions", list(question()))], &[])
}

pub(crate) fn answer() -> Value {
    object(
        &[("answer", word(["allow", "refuse", "option"]))],
        &[("option", about(text(), "the id of the chosen option")), ("reason", text())],
    )
}

pub(crate) fn answered() -> Value {
    whole(&[("question", question())], &[])
}

/// The data of the events of a stream.
pub(crate) fn stream() -> Value {
    let hello = whole(&[("server", text()), ("plan", text()), ("revision", count()), ("now", time())], &[]);
    let change = vec![
        ("from", count()),
        ("revision", count()),
        ("now", time()),
        ("history", list(entry())),
        ("rows", list(row())),
        ("gone", list(count())),
        ("inbox", list(inbox_item())),
    ];
    let change = object(&[change, figures()].concat(), &[("phases", phases())]);
    let activity = object(
        &[
            ("now", time()),
            ("run", or_null(run_state())),
            ("sessions", sessions()),
            ("fleet", fleet_in_short()),
            ("inbox", list(inbox_item())),
            ("questions", list(question())),
            ("seen", count()),
            ("failedWrite", or_null(text())),
            ("records", list(any())),
        ],
        &[],
    );
    let asked = object(&[("now", time()), ("question", question())], &[]);
    let reset = object(&[("revision", count())], &[]);
    any_of(vec![
        named("helloEvent", hello),
        named("changeEvent", change),
        named("activityEvent", activity),
        named("questionEvent", asked),
        named("resetEvent", reset),
    ])
}

/// What every failed request answers.
pub(crate) fn problem() -> Value {
    let refusal = object(&[("code", text()), ("message", text()), ("hint", text())], &[]);
    let problem = object(
        &[
            ("type", text()),
            ("title", text()),
            ("status", count()),
            ("code", about(text(), "never renamed; docs/errors.md explains it")),
            ("message", text()),
            ("hint", text()),
        ],
        &[("retryAfter", about(count(), "seconds")), ("refusals", list(refusal)), ("question", or_null(question()))],
    );
    named("problem", problem)
}
