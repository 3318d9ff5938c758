//! The one table of routes: the router and the OpenAPI document are made from it.

use serde_json::Value;

use crate::context::{ApiResult, PlanContext, RequestContext, RowsAnswer};
use crate::{ApiProblem, assign, plans, read, runs, schema, write};

/// Where the API begins.
pub(crate) const BASE: &str = "/api/v1";

/// What a caller must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Anyone who knows a link or token.
    Nothing,
    /// May read.
    Reader,
    /// May write.
    Owner,
}

/// Makes the JSON Schema of a body, an answer or a parameter.
type MakeSchema = fn() -> Value;

/// What answers a request.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// About no plan.
    Free(fn(&RequestContext<'_>) -> ApiResult),
    /// About a plan.
    Plan(fn(&PlanContext<'_>) -> ApiResult),
    /// About a plan, with all its rows.
    Rows(fn(&PlanContext<'_>) -> Result<RowsAnswer, ApiProblem>),
    /// About a plan that the first write creates.
    FirstPlan(fn(&PlanContext<'_>) -> ApiResult),
    /// The stream of a plan.
    Events,
    /// Opens a session.
    Login,
    /// Ends a session.
    Logout,
}

/// A parameter behind `?`.
#[derive(Clone, Copy)]
pub(crate) struct Param {
    pub name: &'static str,
    pub about: &'static str,
    pub schema: MakeSchema,
}

/// What an answer that has not changed is recognized by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntityTag {
    /// The revision alone decides what is answered.
    Revision,
    /// Time, runs and questions count, too: a number is added to the revision.
    Picture,
    /// More than the store decides, such as files in a worktree.
    Nothing,
}

/// One route.
#[derive(Clone, Copy)]
pub(crate) struct Route {
    pub method: &'static str,
    /// Below [`BASE`].
    pub path: &'static str,
    /// The name of the operation.
    pub name: &'static str,
    pub about: &'static str,
    pub needs: Needs,
    pub query: &'static [Param],
    pub body: Option<MakeSchema>,
    pub answer: MakeSchema,
    pub handler: Handler,
    pub tag: EntityTag,
}

const fn param(name: &'static str, about: &'static str, schema: MakeSchema) -> Param {
    Param { name, about, schema }
}

const fn get(
    path: &'static str,
    name: &'static str,
    about: &'static str,
    answer: MakeSchema,
    handler: Handler,
) -> Route {
    Route {
        method: "GET",
        path,
        name,
        about,
        needs: Needs::Reader,
        query: &[],
        body: None,
        answer,
        handler,
        tag: EntityTag::Picture,
    }
}

const fn post(
    path: &'static str,
    name: &'static str,
    about: &'static str,
    (body, answer): (MakeSchema, MakeSchema),
    handler: Handler,
) -> Route {
    Route {
        method: "POST",
        path,
        name,
        about,
        needs: Needs::Owner,
        query: &[],
        body: Some(body),
        answer,
        handler,
        tag: EntityTag::Nothing,
    }
}

impl Route {
    const fn with(self, query: &'static [Param]) -> Self {
        Self { query, ..self }
    }

    const fn needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    const fn tag(self, tag: EntityTag) -> Self {
        Self { tag, ..self }
    }
}

const LIMIT: Param = param("limit", "at most this many", schema::count_of);

/// Every route.
pub(crate) const ROUTES: &[Route] = &[
    get("", "server", "the server, and what you may do", schema::server, Handler::Free(plans::server)),
    get(
        "/openapi.json",
        "openapi",
        "this document",
        schema::any_object,
        Handler::Free(|_| Ok(crate::openapi::document())),
    ),
    post(
        "/session",
        "login",
        "exchange a link or token for a session",
        (schema::login, schema::session),
        Handler::Login,
    )
    .needs(Needs::Nothing),
    Route {
        method: "DELETE",
        path: "/session",
        name: "logout",
        about: "end the session",
        needs: Needs::Reader,
        query: &[],
        body: None,
        answer: schema::done,
        handler: Handler::Logout,
        tag: EntityTag::Nothing,
    },
    get("/plans", "plans", "every plan with its figures", schema::plans, Handler::Free(plans::plans)),
    get("/fleet", "fleet", "the workers on all machines, and what they do", schema::fleet, Handler::Free(plans::fleet)),
    get("/plans/{plan}/board", "board", "everything that a board shows", schema::board, Handler::Rows(read::board)),
    get("/plans/{plan}/inbox", "inbox", "what needs the user, in order", schema::inbox, Handler::Plan(read::inbox)),
    get("/plans/{plan}/todos", "todos", "todos as rows, filtered", schema::todos, Handler::Plan(read::todos)).with(&[
        param("f", "a filter such as `is:ready p:1 -docs`", schema::any_text),
        LIMIT,
        param("after", "the uid of the last row of the page before", schema::count_of),
        param("all", "include closed todos", schema::flag),
        param("form", "rows, or only their uids", schema::form),
    ]),
    get("/plans/{plan}/todos/{id}", "todo", "everything about one todo", schema::todo, Handler::Plan(read::todo))
        .tag(EntityTag::Nothing),
    get("/plans/{plan}/todos/{id}/why", "why", "why it is not worked on", schema::why, Handler::Plan(read::why)),
    get(
        "/plans/{plan}/todos/{id}/history",
        "todoHistory",
        "what happened to it",
        schema::history,
        Handler::Plan(read::todo_history),
    )
    .with(&[LIMIT])
    .tag(EntityTag::Revision),
    get("/plans/{plan}/todos/{id}/diff", "diff", "what its worktree changes", schema::diff, Handler::Plan(read::diff))
        .tag(EntityTag::Nothing),
    get("/plans/{plan}/todos/{id}/log", "log", "the end of its agent's output", schema::log, Handler::Plan(read::log))
        .with(&[param("tail", "bytes, at most 1048576", schema::count_of)])
        .tag(EntityTag::Nothing),
    get(
        "/plans/{plan}/graph",
        "graph",
        "the dependency graph with its layout",
        schema::graph,
        Handler::Plan(read::graph),
    )
    .with(&[
        param("around", "the id of the todo in the middle", schema::any_text),
        param("depth", "steps around it", schema::count_of),
        param("all", "include closed todos", schema::flag),
        LIMIT,
    ]),
    get(
        "/plans/{plan}/schedule",
        "schedule",
        "who would work on what, in which order",
        schema::schedule,
        Handler::Plan(read::schedule_of),
    )
    .with(&[
        param("agents", "how many work at once", schema::count_of),
        param("policy", "list, level or makespan", schema::policy),
        param("context", "tokens that the context of an agent holds", schema::count_of),
    ]),
    get(
        "/plans/{plan}/history",
        "history",
        "what happened, newest first",
        schema::history,
        Handler::Plan(read::history),
    )
    .with(&[param("before", "only revisions before this one", schema::count_of), LIMIT])
    .tag(EntityTag::Revision),
    get("/plans/{plan}/at/{revision}", "at", "the plan as it was", schema::at, Handler::Rows(read::at_revision))
        .tag(EntityTag::Revision),
    get(
        "/plans/{plan}/checkpoints",
        "checkpoints",
        "the newest first",
        schema::checkpoints,
        Handler::Plan(read::checkpoints),
    ),
    post(
        "/plans/{plan}/ops",
        "ops",
        "change the plan, all or nothing",
        (schema::batch, schema::changed),
        Handler::FirstPlan(write::ops),
    ),
    post(
        "/plans/{plan}/rehearse",
        "rehearse",
        "what a batch would do",
        (schema::batch, schema::changed),
        Handler::Plan(write::rehearse),
    ),
    post(
        "/plans/{plan}/undo",
        "undo",
        "undo a revision, or your latest change",
        (schema::undo, schema::changed),
        Handler::Plan(write::undo),
    ),
    post(
        "/plans/{plan}/seen",
        "seen",
        "record how far you have looked",
        (schema::seen, schema::seen_answer),
        Handler::Plan(write::seen),
    ),
    get(
        "/plans/{plan}/questions",
        "questions",
        "questions of agents, newest first",
        schema::questions,
        Handler::Plan(runs::questions),
    )
    .with(&[param("state", "open or all", schema::question_state)]),
    post(
        "/plans/{plan}/questions/{id}/answer",
        "answer",
        "answer a question, once",
        (schema::answer, schema::answered),
        Handler::Plan(runs::answer),
    ),
    get("/plans/{plan}/runs", "runs", "runs, newest first", schema::runs, Handler::Plan(runs::runs)).with(&[LIMIT]),
    get("/plans/{plan}/runs/{n}", "run", "everything about one run", schema::run, Handler::Plan(runs::run)),
    post(
        "/plans/{plan}/runs/{n}/control",
        "control",
        "pause, resume or stop a run or a seat",
        (schema::control, schema::controlled),
        Handler::Plan(runs::control),
    ),
    post(
        "/plans/{plan}/sessions/{id}/control",
        "controlSession",
        "decide whether a session is sent back to work when it stops early",
        (schema::control_session, schema::session_controlled),
        Handler::Plan(runs::control_session),
    ),
    post(
        "/plans/{plan}/assign",
        "assign",
        "start an agent on some todos",
        (schema::assign, schema::assigned),
        Handler::Plan(assign::assign),
    ),
    get("/plans/{plan}/events", "events", "the stream of changes", schema::stream, Handler::Events).with(&[param(
        "after",
        "the revision that you have",
        schema::count_of,
    )]),
];
