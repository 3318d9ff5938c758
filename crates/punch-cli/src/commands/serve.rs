//! `punch serve`: the web board, its API and MCP, on one listener.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use punch_engine::process::withhold_passwords;
use punch_engine::{Engine, NotTheUser, browser_link};
use punch_store::{Replacement, create_own_folder};
use punch_web::{
    ApiProblem, ListenAddress, ListeningBoard, RequestLog, RunWorktree, ServedBoard, StartedBy, TokenFile, WebSetup,
};
use serde_json::json;

use super::{assign, mcp};
use crate::assigned_agents::AssignedAgents;
use crate::environment;
use crate::failure::{Exit, Failure};
use crate::log_format::LogFormat;
use crate::output::{self, JsonLines};
use crate::own_process::OwnProcess;
use crate::project::Project;
use crate::run_files::RunFiles;

/// Help at length.
pub const LONG_ABOUT: &str = "\
Serve the board to your browser, with an API for programs and MCP for agents at `/mcp`.

It prints an address that logs your browser in once, within ten minutes; press Enter for another one. Only this machine can \
reach it unless you give --listen, which needs TLS.";

const EXAMPLES: &str = "\
Examples:
  punch serve                  # prints the address to open
  punch serve --open           # opens it in your browser
  punch serve --json           # first line: url, api and token, for programs
  punch serve --log json       # a JSON line per request on standard error
  punch serve --listen 0.0.0.0:8443 --host board.lan --cert c.pem --key k.pem
  punch serve --behind-proxy --host board.example.com --port 4816";

const NO_RANDOM: &str = "error: the system gives no random numbers";

/// How long the file that hands the address to the browser stays.
const HANDOVER: Duration = Duration::from_secs(30);

/// The arguments of `punch serve`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// The port; 0 takes any free one [default: 4816]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Open the board in your browser
    #[arg(long)]
    open: bool,
    /// Let other machines reach it at this address; needs --cert and --key, or --behind-proxy
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// A name under which browsers reach it (repeatable)
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// A proxy in front of it speaks TLS; needs --host
    #[arg(long)]
    behind_proxy: bool,
    /// The certificate chain, as a PEM file
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// The key of the certificate, as a PEM file
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Serve the plan read-only
    #[arg(long)]
    read_only: bool,
    /// Write a line for every request to standard error
    #[arg(long, value_name = "FORMAT", value_enum)]
    log: Option<LogFormat>,
}

fn request_log(format: LogFormat) -> RequestLog {
    match format {
        LogFormat::Text => Box::new(|record| output::log_line(&record.to_line())),
        LogFormat::Json => Box::new(|record| output::log_line(&record.to_json().to_string())),
    }
}

impl ServeArgs {
    /// Serves until the process is asked to end.
    pub fn run(self, project: Project) -> Result<Exit, Failure> {
        let listen = ListenAddress {
            port: self.port,
            address: self.listen,
            hosts: self.hosts,
            behind_proxy: self.behind_proxy,
            tls: self.cert.zip(self.key),
        };
        let usage = |error: punch_web::WebError| Failure::usage(&error.message(), &error.hint());
        let bound = listen.judge().map_err(usage)?;
        let started_by = started_by(project.engine()?.as_ref())?;
        let (as_json, state) = (project.global.json, environment::state_home());
        if as_json && self.open {
            return Err(Failure::usage("`--open` cannot be used with `--json`", "open the `url` of the first line"));
        }
        let mcp = mcp::beside_board(&project.global, &project)?;
        let mcp_limit = project.config.settings.limits_request_bytes.value;
        let safety = project.safety();
        let board = ServedBoard {
            tokens: state.as_deref().map(TokenFile::in_folder),
            read_only: self.read_only,
            started_by: started_by.clone(),
            mcp: Some(mcp),
            mcp_limit,
            log: self.log.map(request_log),
            setup: setup(project),
        };
        let announced =
            |ready: Arc<ListeningBoard>| announce(&ready, &started_by, as_json, state.as_deref().filter(|_| self.open));
        board.serve(bound, announced).map_err(usage)?;
        safety.iter().for_each(|safety| safety.keep_changed());
        Ok(Exit::Ok)
    }
}

/// Who starts the server decides what its links are good for.
pub fn started_by(engine: Option<&Engine>) -> Result<StartedBy, Failure> {
    let own = environment::inside_agent().map(|mark| mark.variable);
    Ok(match browser_link(engine, &environment::agent_marks(), own)? {
        Ok(link) => StartedBy::User(link),
        Err(NotTheUser::NoTerminal) => StartedBy::Program,
        Err(NotTheUser::Marked { .. } | NotTheUser::Agent { .. } | NotTheUser::TooDeep) => StartedBy::Agent,
    })
}

/// The address to print. On a terminal it is for the user; programs read what is piped or redirected, and they must not answer
/// questions.
fn printed_link(ready: &ListeningBoard) -> std::io::Result<String> {
    if std::io::stdout().is_terminal() { ready.link() } else { ready.program_link() }
}

/// Prints the address, opens it if that is requested, and prints another one whenever the user presses Enter.
fn announce(ready: &Arc<ListeningBoard>, by: &StartedBy, as_json: bool, opens_from: Option<&Path>) {
    if as_json {
        let (Ok(link), Ok(token)) = (printed_link(ready), ready.token()) else { return output::remark(NO_RANDOM) };
        let first = json!({"schema": 1, "url": link, "api": ready.api(), "token": token});
        let _ = JsonLines::stdout().print_last(&first);
        return;
    }
    let opened = opens_from.map(|state| {
        let link = ready.link().map_err(|error| error.to_string())?;
        open(state, &link)
    });
    let is_open = matches!(opened, Some(Ok(())));
    match opened {
        Some(Ok(())) => output::remark(&format!("opened {} in your browser", ready.url())),
        Some(Err(why)) => output::remark(&format!("warning: no browser could be opened: {why}")),
        None => {}
    }
    if !is_open {
        let Ok(link) = printed_link(ready) else { return output::remark(NO_RANDOM) };
        let _ = output::document(&format!("{link}\n"));
    }
    if let StartedBy::User(_) = by {
        let ready = Arc::clone(ready);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(link) = line.and_then(|_| printed_link(&ready)) else { return };
                let _ = output::document(&format!("{link}\n"));
            }
        });
    }
    match by {
        StartedBy::User(_) if is_open || std::io::stdout().is_terminal() => {
            output::remark("the address works once, within ten minutes; press Enter for another one, Ctrl+C to stop");
        }
        StartedBy::User(_) | StartedBy::Program => {
            output::remark(
                "the address works once, within ten minutes; to answer agents' questions, run `punch serve` in a terminal and do not redirect its output",
            );
        }
        StartedBy::Agent => output::remark("an agent started this server, so the board can only be read"),
    }
}

/// Hands the address to the browser through a file that only this user can read: other users see the arguments of
/// processes.
fn open(state: &Path, link: &str) -> Result<(), String> {
    let folder = state.join("punch");
    let file = folder.join(format!("open-{}.html", std::process::id()));
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0;url={link}\"><title>Punchlist</title>\n"
    );
    create_own_folder(&folder).map_err(|error| error.to_string())?;
    Replacement::new(&file, page.as_bytes(), 0o600).and_then(Replacement::commit).map_err(|error| error.to_string())?;
    let program = environment::browser().ok_or_else(|| "none was found".to_owned())?;
    let mut command = Command::new(program);
    withhold_passwords(&mut command).arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = command.spawn();
    let remove = move || {
        std::thread::sleep(HANDOVER);
        let _ = std::fs::remove_file(file);
    };
    std::thread::spawn(remove);
    let mut child = started.map_err(|error| error.to_string())?;
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// Hands the board everything that comes from around it.
fn setup(project: Project) -> WebSetup {
    let files = RunFiles { location: project.location.clone(), state: environment::state_home() };
    let logs = files.clone();
    let agents = AssignedAgents { location: project.location.clone(), own: OwnProcess::of(&project) };
    let global = project.global.clone();
    let name = project.location.project_root.file_name().map(|name| name.to_string_lossy().into_owned());
    WebSetup {
        open: Box::new(move |create| {
            let open = || -> Result<Option<Engine>, Failure> {
                let project = Project::find(global.clone())?;
                if create { project.engine_or_new().map(Some) } else { project.engine() }
            };
            open().map_err(|failure| {
                let (message, hint) = failure.text().unwrap_or_default();
                ApiProblem::unavailable(failure.code(), message, hint)
            })
        }),
        choice: project.choice(),
        worktree: Box::new(move |engine, plan, todo| {
            let lane = Arc::new(files.lane(engine, (plan.id, &plan.name), todo)?);
            let sized = Arc::clone(&lane);
            Some(RunWorktree {
                path: lane.path.clone(),
                size: Box::new(move || sized.size().map_err(|error| error.to_string())),
                patch: Box::new(move || lane.patch().map_err(|error| error.to_string())),
            })
        }),
        agent_log: Box::new(move |engine, plan, todo| logs.log(engine, plan.id, todo)),
        agents: Box::new(assign::installed),
        start_agent: Box::new(move |plan, given, agent| agents.start(&plan.name, given, agent)),
        tree: project.tree(),
        project: name.unwrap_or_default(),
        version: env!("CARGO_PKG_VERSION"),
        settings: project.config.settings,
    }
}
