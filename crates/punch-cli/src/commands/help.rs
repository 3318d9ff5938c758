//! `punch help`: the commands in groups, one command, an error code, or a topic.

use clap::{Args, CommandFactory};
use punch_core::ShownStatus;
use punch_core::filter::FilterState;
use punch_core::text::nearest;
use punch_core::view::{SpanRole, ViewLine};

use crate::arguments::Global;
use crate::failure::{Exit, Failure};
use crate::reply::{Body, VerbReply};
use crate::{Arguments, error_help, output};

const EXAMPLES: &str = "\
Examples:
  punch help
  punch help add
  punch help plan link
  punch help symbols        # also: options, filters
  punch help not_ready      # what an error code means, and what to do
  punch help --all          # also commands for agents and scripts";

/// The commands that users type, in groups. The sentence beside each comes from the command itself.
pub const GROUPS: [(&str, &[&str]); 6] = [
    ("Every day", &["add", "list", "search", "show", "next", "start", "done", "edit", "undo", "redo"]),
    (
        "When something waits",
        &["inbox", "why", "hold", "unhold", "cancel", "fail", "reopen", "verify", "note", "move", "rm"],
    ),
    ("Agents", &["install", "uninstall", "keep-going", "run", "worker", "claim", "unclaim", "assign"]),
    ("Plans and files", &["plan", "checkpoint", "import", "export"]),
    ("Look closer", &["watch", "serve", "status", "graph", "schedule", "log", "stats"]),
    ("Setup", &["init", "config", "doctor", "token", "demo", "completions", "help", "version"]),
];

/// Every command that help lists by its present name.
pub fn verbs() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).chain(MACHINES)
}

/// Commands that agents and scripts call.
pub const MACHINES: [&str; 8] = ["mcp", "hook", "guide", "schema", "replay", "store", "todo", "renew"];

/// Older names, and what they are called now.
pub const OLDER: [(&str, &str); 11] = [
    ("drop", "cancel"),
    ("release", "unhold, unclaim"),
    ("tree", "list --tree"),
    ("ready", "list --ready"),
    ("why-stop", "keep-going why"),
    ("runs", "run list, run show"),
    ("usage", "stats record"),
    ("report", "stats"),
    ("cost", "stats cost"),
    ("plan-file", "plan link, plan sync, plan status, plan build, plan unlink"),
    ("finish, new", "done, add"),
];

const TOPICS: [&str; 3] = ["options", "symbols", "filters"];

/// The arguments of `punch help`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct HelpArgs {
    /// A command, an error code, or a topic: options, symbols, filters
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
    /// Include commands for agents and scripts, and older names
    #[arg(long, short)]
    all: bool,
}

impl HelpArgs {
    /// Runs the verb.
    pub fn run(self) -> Result<Exit, Failure> {
        let body = match self.topic.first().map(String::as_str) {
            None => overview(self.all),
            Some("options") => options(),
            Some("symbols") => symbols(),
            Some("filters") => filters(),
            Some(_) => return command(&self.topic),
        };
        output::reply(&VerbReply::new(body, serde_json::Value::Null), false)?;
        Ok(Exit::Ok)
    }
}

/// The help of a command, as its `--help` prints it.
fn command(path: &[String]) -> Result<Exit, Failure> {
    let mut known = Arguments::command();
    let mut at = &mut known;
    for (depth, name) in path.iter().enumerate() {
        at.build();
        let names: Vec<String> = at.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
        let Some(found) = at.find_subcommand_mut(name) else {
            // Some codes are also commands, such as `hook`: the command counts.
            if let Some(entry) = error_help::entry(name).filter(|_| depth == 0) {
                output::reply(&VerbReply::new(Body::from(entry), serde_json::Value::Null), false)?;
                return Ok(Exit::Ok);
            }
            let topics = TOPICS.into_iter().filter(|_| depth == 0);
            let near = nearest(name, names.iter().map(String::as_str).chain(topics), 1);
            let near = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let message = format!("no command or topic `{}`{near}", punch_core::text::neutral(name));
            return Err(Failure::usage(&message, "`punch help --all` lists the commands"));
        };
        at = found;
    }
    let given = std::iter::once("punch").chain(path.iter().map(String::as_str)).chain(["--help"]);
    match Arguments::command().try_get_matches_from(given) {
        Ok(_) => Ok(Exit::Ok),
        Err(help) => Ok(output::usage(help, false)),
    }
}

/// The commands in groups.
pub fn overview(all: bool) -> Body {
    let known = Arguments::command();
    let about = |name: &str| {
        let command = known.find_subcommand(name);
        command.and_then(clap::Command::get_about).map(ToString::to_string).unwrap_or_default()
    };
    let row = |name: &str| {
        ViewLine::default().with(SpanRole::Strong, format!("  {name:13}")).with(SpanRole::Text, about(name))
    };
    let mut lines = vec![
        ViewLine::default()
            .with(SpanRole::Heading, "punch")
            .with(SpanRole::Text, ": the todo list your coding agents can't lose"),
        ViewLine::default(),
        ViewLine::default()
            .with(SpanRole::Text, "Usage: punch [COMMAND] [OPTIONS]; without a command it shows the plan"),
    ];
    let mut group = |title: &str, names: &[&str]| {
        lines.extend([ViewLine::default(), ViewLine::default().with(SpanRole::Heading, title)]);
        lines.extend(names.iter().map(|name| row(name)));
    };
    GROUPS.iter().for_each(|(title, names)| group(title, names));
    if all {
        group("For agents and scripts", &MACHINES);
        lines.extend([ViewLine::default(), ViewLine::default().with(SpanRole::Heading, "Older names")]);
        let older = |(old, new): &(&str, &str)| {
            ViewLine::default().with(SpanRole::Strong, format!("  {old:13}")).with(SpanRole::Text, format!("now {new}"))
        };
        lines.extend(OLDER.iter().map(older));
    }
    lines.push(ViewLine::default());
    for (command, about) in [
        ("punch help COMMAND", "shows options and examples"),
        ("punch help --all", "lists every command"),
        ("punch help TOPIC", "explains options, symbols or filters"),
        ("punch help CODE", "explains the code of an error, such as not_ready"),
    ] {
        let line = ViewLine::default().with(SpanRole::Command, format!("{command:20}"));
        lines.push(line.with(SpanRole::Text, about));
    }
    for codes in [
        "Exit codes: 0 ok, 1 refused or not found, 2 usage, 3 try again,",
        "            4 a run reached a limit, 70 bug, 130 interrupted",
    ] {
        lines.push(ViewLine::default().with(SpanRole::Detail, codes));
    }
    Body(lines)
}

fn options() -> Body {
    let mut command = Global::augment_args(clap::Command::new("punch").disable_help_flag(true));
    command = command.mut_args(|argument| argument.hide(false)).help_template("{options}");
    let mut body = Body::from("Every command takes these options, before or after its name:");
    body.push(command.render_help().to_string());
    body
}

fn symbols() -> Body {
    let line = |status: ShownStatus| {
        let line = ViewLine::default().with(SpanRole::Text, "  ").with(SpanRole::Status(status), status.sign());
        let line = line.with(SpanRole::Text, format!("  {}  ", status.ascii_sign()));
        let line = line.with(SpanRole::Strong, format!("{:12}", status.word()));
        line.with(SpanRole::Text, meaning(status))
    };
    let mut body = Body::from("On a terminal, and in pipes or with `--ascii`:");
    body.push(ShownStatus::all().map(line).collect::<Vec<_>>());
    body.push("\nAfter a todo: priority (P3 is hidden), #label, @owner; \"yours\" means you own it,\n\"oversize\" that no context window can hold it.");
    body
}

const fn meaning(status: ShownStatus) -> &'static str {
    match status {
        ShownStatus::Ready => "can be started now",
        ShownStatus::Waiting => "waits for other todos, or for work on the same files",
        ShownStatus::Stuck => "needs a todo that was cancelled or failed",
        ShownStatus::Held => "on hold: for you, a job or a timer",
        ShownStatus::Parked => "set aside, not open work until you take it off hold",
        ShownStatus::Empty => "has no text",
        ShownStatus::InProgress => "someone works on it",
        ShownStatus::Stalled => "in progress although something it needs is not done",
        ShownStatus::Reported => "its worker says it is done; it has not been verified yet",
        ShownStatus::Completed => "done",
        ShownStatus::Cancelled => "cancelled",
        ShownStatus::Failed => "failed for good",
        ShownStatus::Archived => "removed from the plan",
    }
}

fn filters() -> Body {
    let states = FilterState::ALL.map(FilterState::name).join(", ");
    let mut body = Body::from("Filters of `punch list` and `punch search`; a todo must match all of them:");
    for (filter, about) in [
        ("parser", "contains the word, in id, text or description"),
        ("\"write the parser\"", "contains the words in this order"),
        ("is:ready", "is in this state (states below)"),
        ("p:1", "has this priority"),
        ("by:claude", "the name of its owner contains this; `by:me` is you"),
        ("phase:docs", "the name of its phase contains this"),
        ("#bug, label:bug", "has this label"),
        ("needs:T-3", "depends on T-3"),
        ("under:T-3", "T-3 depends on it, directly or not"),
        ("-docs, -is:done", "does not match"),
    ] {
        let line = ViewLine::default().with(SpanRole::Text, "  ").with(SpanRole::Command, format!("{filter:20}"));
        body.push(vec![line.with(SpanRole::Text, about)]);
    }
    body.push(format!("States: {states}"));
    body
}
