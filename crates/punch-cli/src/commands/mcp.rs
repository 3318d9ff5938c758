//! `punch mcp`: the plan for agents, on standard input and output or over loopback HTTP.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use punch_engine::call::Dialect;
use punch_engine::{Engine, Role, SessionFile};
use punch_serve::{
    CallerIdentity, ConversationTag, Http, PlanToolService, ProjectStore, ServeLog, ServeProblem, ServedProject,
    Server, ServerSettings, Token, ToolGroup, ToolOffers, loopback, stdio,
};

use punch_store::SessionKey;

use super::notify_inbox::Notifier;
use crate::arguments::Global;
use crate::detached_checks::DetachedChecks;
use crate::environment;
use crate::failure::{Exit, Failure};
use crate::output;
use crate::project::Project;

/// Help at length.
pub const LONG_ABOUT: &str = "\
Serve the plan to agents that speak MCP.

Without --http one client is served on standard input and output; standard output carries only protocol messages. Every client \
starts its own server; all of them work on the same plan.

With --http every request must carry your token: `Authorization: Bearer TOKEN`. The token is in `punch/token` in \
your state folder (`~/.local/state`), created on first use; if you delete the file, the next start creates a new one. \
`punch install --dry-run AGENT` shows the settings of each agent.";

const EXAMPLES: &str = "\
Examples:
  punch mcp
  punch mcp --dialect todowrite
  punch mcp --tools claim --owner worker-1
  punch mcp --http 4815";

/// How often a server looks whether the copy of the store is due.
const COPY_LOOK: Duration = Duration::from_secs(60);

/// The arguments of `punch mcp`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct McpArgs {
    /// The form of the tools
    #[arg(long, value_name = "NAME", default_value = "native", value_parser = dialects())]
    dialect: Dialect,
    /// Offer more: the tools `claim` and `checkpoint`, or the rare `fields` of todo_write and todo_read
    #[arg(long, value_name = "GROUP", value_delimiter = ',', value_parser = groups())]
    tools: Vec<ToolGroup>,
    /// Send structured content too; some clients then hide the text from the model
    #[arg(long)]
    structured: bool,
    /// A file whose first line is the session id, for agents that do not send a session id
    #[arg(long, value_name = "FILE")]
    session_file: Option<PathBuf>,
    /// Session file written by `punch run`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["session_file", "http"])]
    session: Option<PathBuf>,
    /// What callers may do, instead of what their session says
    #[arg(long, value_name = "ROLE")]
    role: Option<RoleName>,
    /// Serve HTTP to your programs on this machine: a port, or a loopback address with a port
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "")]
    http: Option<String>,
    /// Write log messages to FILE instead of stderr
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

/// A role on the command line.
#[derive(Clone, Copy, ValueEnum)]
enum RoleName {
    /// Everything
    Owner,
    /// Report on assigned todos
    Worker,
    /// Nothing: no tools are offered
    None,
}

/// Clap lists the names in help and in the error.
pub fn dialects() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::ALL.iter().map(|dialect| dialect.name()))
        .try_map(|name| Dialect::parse(&name).ok_or("no such dialect"))
}

fn groups() -> impl TypedValueParser<Value = ToolGroup> {
    PossibleValuesParser::new(ToolGroup::ALL.iter().map(|group| group.name()))
        .try_map(|name| ToolGroup::parse(&name).ok_or("no such group"))
}

impl McpArgs {
    /// Serves until the client leaves or the process is asked to end.
    pub fn run(self, mut global: Global) -> Result<Exit, Failure> {
        let log = self.log()?;
        let driven = self.session.as_deref().map(|path| global.act_as(path)).transpose()?;
        let http =
            self.http.as_deref().map(loopback).transpose().map_err(|e| Failure::usage(&e.message(), &e.hint()))?;
        let project = Project::find(global.clone())?;
        let flag = self.role.map(|role| match role {
            RoleName::Owner => Role::Owner,
            RoleName::Worker => Role::Worker,
            RoleName::None => Role::None,
        });
        let settings = project.config.settings.clone();
        let safety = project.safety().map(Arc::new);
        if let Some(safety) = safety.clone() {
            // Agents write for hours through one server. The thread ends with the process.
            std::thread::spawn(move || {
                loop {
                    std::thread::sleep(COPY_LOOK);
                    safety.keep_changed();
                }
            });
        }
        // Over HTTP the variables are those of the user who started the server, not of the caller.
        let assigned = environment::assigned().filter(|_| driven.is_none() && http.is_none());
        let role = role(flag, driven.as_ref(), assigned.is_some());
        let offer = match settings.tools_enabled.value && role != Some(Role::None) {
            true => ToolOffers::new(self.dialect, &self.tools),
            false => ToolOffers::none(self.dialect),
        };
        let is_driven = driven.is_some();
        let fixed = driven.map(|file| file.session);
        let host = environment::agent_session().filter(|_| http.is_none());
        let assigned = assigned.or_else(|| fixed.clone());
        let session = host.clone().or_else(|| assigned.clone());
        let key = |name: String| SessionKey::new(name, None);
        let limit = settings.limits_request_bytes.value;
        let presented = ServerSettings {
            offer,
            structured: self.structured,
            identity: CallerIdentity { fixed, session, file: self.session_file },
            tag: ConversationTag::new(&environment::process_tag()),
        };
        let (worktree, tree) = (Some(project.worktree()), Some(project.tree()));
        let opened = ServedProject {
            project: Box::new(StoreFinder { global, warning: Arc::default() }),
            settings,
            worktree,
            tree,
            role,
            assigned: assigned.map(key),
            is_driven,
            started_for: host.map(key),
            checks: Some(Arc::new(DetachedChecks::of(&project))),
            after_write: notifying(&project),
        };
        let service = PlanToolService::new(opened);
        let server = Server::start(presented, Arc::new(service), log.clone()).map_err(Failure::Output)?;
        match http {
            None => stdio(server, limit, &log).map_err(Failure::writing)?,
            Some(address) => {
                let token = token()?;
                let path = token.path().display().to_string();
                let ready = |address| {
                    output::remark(&format!("listening on http://{address}/mcp"));
                    output::remark(&format!("clients send `Authorization: Bearer TOKEN`; the token is in `{path}`"));
                };
                let served = Http { address, limit, token }.serve(move || server.connection(), &log, ready);
                served.map_err(|e| Failure::usage(&e.message(), &e.hint()))?;
            }
        }
        safety.iter().for_each(|safety| safety.keep_changed());
        Ok(Exit::Ok)
    }

    fn log(&self) -> Result<ServeLog, Failure> {
        let Some(path) = &self.log else { return Ok(ServeLog::new(Box::new(std::io::stderr()))) };
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.map(|file| ServeLog::new(Box::new(file))).map_err(|cause| Failure::File(path.display().to_string(), cause))
    }
}

/// The server for agents beside the web board, with what every client of it must send. It offers what `punch mcp --http`
/// offers.
pub fn beside_board(global: &Global, project: &Project) -> Result<(Server, Token), Failure> {
    let settings = project.config.settings.clone();
    let offer = match settings.tools_enabled.value {
        true => ToolOffers::new(Dialect::Native, &[]),
        false => ToolOffers::none(Dialect::Native),
    };
    let presented = ServerSettings {
        offer,
        structured: false,
        identity: CallerIdentity { fixed: None, session: None, file: None },
        tag: ConversationTag::new(&environment::process_tag()),
    };
    let opened = ServedProject {
        project: Box::new(StoreFinder { global: global.clone(), warning: Arc::default() }),
        settings,
        worktree: Some(project.worktree()),
        tree: Some(project.tree()),
        role: None,
        assigned: None,
        is_driven: false,
        started_for: None,
        checks: Some(Arc::new(DetachedChecks::of(project))),
        after_write: notifying(project),
    };
    let log = ServeLog::new(Box::new(std::io::sink()));
    let server = Server::start(presented, Arc::new(PlanToolService::new(opened)), log).map_err(Failure::Output)?;
    Ok((server, token()?))
}

/// What follows a write of an agent: the user is notified of what has entered the inbox.
fn notifying(project: &Project) -> Option<Box<dyn Fn() + Send + Sync>> {
    let notifier = Notifier::of(project)?;
    Some(Box::new(move || notifier.start()))
}

/// The token of this user, created on first use.
fn token() -> Result<Token, Failure> {
    let home = environment::state_home();
    let none = || Failure::usage("there is no home folder for the token", "set HOME or XDG_STATE_HOME");
    let path = Token::path_in(&home.ok_or_else(none)?);
    Token::read_or_create(&path).map_err(|e| Failure::refused("token", e.message(), &e.hint()))
}

/// What callers may do whatever they say: the file of a run and an assignment make workers, and a flag can only narrow
/// that.
fn role(flag: Option<Role>, driven: Option<&SessionFile>, is_assigned: bool) -> Option<Role> {
    let given = driven.map(|file| file.role).or_else(|| is_assigned.then_some(Role::Worker));
    match (flag, given) {
        (Some(Role::None), _) | (_, Some(Role::None)) => Some(Role::None),
        (Some(Role::Worker), _) | (_, Some(Role::Worker)) => Some(Role::Worker),
        (flag, given) => flag.or(given),
    }
}

/// Looks for the store again whenever it is not open, because it may appear while the server runs.
struct StoreFinder {
    global: Global,
    /// The loss that was found when the store was opened, until a call has reported it.
    warning: Arc<Mutex<Option<String>>>,
}

impl ProjectStore for StoreFinder {
    fn open(&self, create: bool) -> Result<Option<Engine>, ServeProblem> {
        let open = || -> Result<Option<Engine>, Failure> {
            let mut project = Project::find(self.global.clone())?;
            let warning = Arc::clone(&self.warning);
            project.on_loss = Some(Box::new(move |lost| {
                output::remark(&format!("warning: {lost}"));
                *warning.lock().unwrap_or_else(PoisonError::into_inner) = Some(lost.to_owned());
            }));
            if create { project.engine_or_new().map(Some) } else { project.engine() }
        };
        open().map_err(|failure| {
            let (message, hint) = failure.text().unwrap_or_default();
            ServeProblem::new(failure.code(), message, hint)
        })
    }

    fn warning(&self) -> Option<String> {
        self.warning.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
