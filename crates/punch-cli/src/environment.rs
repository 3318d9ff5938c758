//! Everything that is read from the process: working folder, home, variables, clock, screen. No other module reads
//! them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use punch_agents::settings::SettingsRoots;
use punch_agents::{AGENTS, Adapter, EnvironmentMark, Naming};
use punch_engine::config::{Config, ConfigInputs, parse_duration, print_duration};
use punch_engine::locate::{Location, ServerPlace, Surroundings};
use punch_engine::{Clock, Consents, SessionFile};

use crate::arguments::Global;
use crate::failure::Failure;
use crate::live::Size;
use crate::style::OutputStream;

/// All that decides where the store lives.
pub fn surroundings(global: &Global) -> Result<Surroundings, Failure> {
    let path = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cwd = std::env::current_dir().map_err(Failure::Folder)?;
    let ceilings = std::env::var_os("GIT_CEILING_DIRECTORIES");
    Ok(Surroundings {
        cwd,
        home: home(),
        state_home: state_home(),
        store_env: path("PUNCH_STORE"),
        store_flag: global.store.clone(),
        servers: servers_file(),
        project_env: std::env::var("PUNCH_PROJECT").ok().filter(|name| !name.is_empty()),
        git_dir_env: path("GIT_DIR"),
        git_common_dir_env: path("GIT_COMMON_DIR"),
        git_work_tree_env: path("GIT_WORK_TREE"),
        git_ceilings: ceilings.iter().flat_map(std::env::split_paths).collect(),
    })
}

/// The settings, with what the flags say first.
pub fn config(global: &Global, location: &Location) -> Result<Config, Failure> {
    config_with(global, location, Vec::new())
}

/// Loads the settings of a project, including those that the flags of one verb give.
pub fn config_with(global: &Global, location: &Location, mut flags: Vec<(String, String)>) -> Result<Config, Failure> {
    flags.extend(global.plan.iter().map(|plan| ("plan".to_owned(), plan.clone())));
    let owner = session_file().map(|file| file.owner).or_else(|| global.owner.clone());
    flags.extend(owner.map(|owner| ("owner".to_owned(), owner)));
    if global.ascii {
        flags.push(("view.ascii".to_owned(), "true".to_owned()));
    }
    flags.extend(global.color.map(|color| ("view.color".to_owned(), color.name().to_owned())));
    let env = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let env: Vec<(String, OsString)> = env.filter(|(name, _)| name.starts_with("PUNCH_")).collect();
    let project = Some(location.config.clone());
    let (user, is_agent) = (user_config(), inside_agent().is_some());
    Ok(Config::load(&ConfigInputs { flags, env, project, user, is_agent, approvals: approvals(location) })?)
}

/// What the user approved for a store, as it is used from here; none where the user has no state folder.
pub fn approvals(location: &Location) -> Option<Consents> {
    let server = location.server.as_ref().map(ServerPlace::id);
    let consents = |state: PathBuf| Consents::new(&state, &location.database, &location.project_root);
    state_home().map(|state| consents(state).on_server(server))
}

/// The user's own settings.
pub fn user_config() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CONFIG_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
    base.or_else(|| Some(home()?.join(".config"))).map(|base| base.join("punch").join("config.toml"))
}

/// The user's own file that names servers by repository.
pub fn servers_file() -> Option<PathBuf> {
    user_config().map(|config| config.with_file_name("servers.json"))
}

/// Variables that no agent inherits: those that belong to the agent around this process, and passwords of the store.
pub fn withheld() -> impl Iterator<Item = &'static str> {
    punch_agents::private_variables().chain(punch_engine::process::PASSWORDS)
}

/// What the environment says about logging in to a server.
#[cfg(feature = "postgres")]
pub fn login() -> punch_store_pg::Login {
    let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let at_home = |name: &str| home().map(|home| home.join(name));
    punch_store_pg::Login {
        password: text("PGPASSWORD"),
        passfile: path("PGPASSFILE").or_else(|| at_home(".pgpass")),
        service: text("PGSERVICE"),
        service_file: path("PGSERVICEFILE").or_else(|| at_home(".pg_service.conf")),
        host: text("PGHOST"),
        user: text("PGUSER").or_else(|| text("USER")).or_else(|| text("LOGNAME")),
        sslmode: text("PGSSLMODE"),
        root_certificate: path("PGSSLROOTCERT"),
    }
}

/// Where copies of stores go.
pub fn state_home() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_STATE_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
    base.or_else(|| Some(home()?.join(".local").join("state")))
}

fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// The folders in which agents look for their settings; `None` without a home. `main_project` is the top of the
/// repository's main worktree.
pub fn agent_roots(project: PathBuf, main_project: PathBuf) -> Option<SettingsRoots> {
    let path = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = home()?;
    let moved = AGENTS.iter().filter_map(|agent| agent.settings.home_variable);
    Some(SettingsRoots {
        project,
        main_project,
        config: path("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
        data: path("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local").join("share")),
        moved: moved.filter_map(|name| Some((name, path(name)?))).collect(),
        home,
    })
}

/// The program of a name, as a shell would find it.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let found = std::env::split_paths(&folders).filter(|folder| folder.is_absolute()).map(|folder| folder.join(&name));
    found.into_iter().find(|path| is_executable(path))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// The program that opens a page in the user's browser.
pub fn browser() -> Option<PathBuf> {
    let chosen = std::env::var("BROWSER").ok().filter(|name| !name.is_empty() && !name.contains(['%', ':', ' ']));
    let named = chosen.map(|name| if name.contains('/') { Some(PathBuf::from(name)) } else { find_program(&name) });
    let usual = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    named.flatten().or_else(|| find_program(usual))
}

/// Whether the user can be asked: they sit at the keyboard and read what is printed. Never inside an agent, which may have
/// a terminal of its own.
pub fn is_attended() -> bool {
    has_terminal() && inside_agent().is_none()
}

/// Whether questions could be put and answered on a terminal, by the user or by an agent.
pub fn has_terminal() -> bool {
    use std::io::IsTerminal;
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Whether the user sees on a screen what is printed about a run.
pub fn is_watched() -> bool {
    use std::io::IsTerminal;
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether the user types into a terminal and sees what is printed there.
pub fn is_interactive() -> bool {
    use std::io::IsTerminal;
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Whether the environment allows colors on a terminal.
pub fn allows_color() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether the terminal shows plain text only.
pub fn is_dumb_terminal() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Returns true if the user wants no colors anywhere (<https://no-color.org>).
pub fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Whether the user reads standard output on a screen and can press keys; never inside an agent.
pub fn has_reader() -> bool {
    use std::io::IsTerminal;
    std::io::stdin().is_terminal() && OutputStream::Out.is_terminal() && inside_agent().is_none()
}

/// The command that shows long output one screen at a time; `None` if the user wants none.
pub fn pager() -> Option<String> {
    let set = |name: &str| std::env::var(name).ok();
    let pager = set("PUNCH_PAGER").or_else(|| set("PAGER")).unwrap_or_else(|| "less".to_owned());
    let pager = pager.trim();
    (!pager.is_empty() && pager != "cat").then(|| pager.to_owned())
}

/// The conversation that an agent started this process for, where its environment names it.
pub fn agent_session() -> Option<String> {
    let variable = |agent: &&Adapter| match agent.hooks.naming {
        Naming::AtStart(variable) => Some(variable),
        Naming::EveryCall | Naming::Never => None,
    };
    AGENTS.iter().filter_map(variable).find_map(|name| std::env::var(name).ok().filter(|id| !id.is_empty()))
}

/// Variables that agents have which a run or an assignment started. `PUNCH_OWNER` and `PUNCH_PLAN` are not among them: a
/// user sets those too.
const WORKER_MARKS: [&str; 2] = [SESSION_FILE, ASSIGNED];

/// Every variable that shows that an agent started a process.
pub fn agent_marks() -> Vec<&'static str> {
    punch_agents::marks().map(|mark| mark.variable).chain(WORKER_MARKS).collect()
}

/// What shows that an agent started this process; `None` if the user did. The one place that decides this.
pub fn inside_agent() -> Option<EnvironmentMark> {
    let is_set = |mark: &EnvironmentMark| std::env::var_os(mark.variable).is_some_and(|value| !value.is_empty());
    let workers = WORKER_MARKS.map(|variable| EnvironmentMark { variable, agent: "agent", session: None });
    punch_agents::marks().chain(workers).find(is_set)
}

/// The session of the agent that sets a mark, where its environment names one.
pub fn session_of(mark: EnvironmentMark) -> Option<String> {
    let id = std::env::var(mark.session?).ok()?.trim().to_owned();
    Some(id).filter(|id| !id.is_empty() && id.len() <= 200 && !id.contains(char::is_control))
}

/// Names the session file of an agent of a run.
pub const SESSION_FILE: &str = "PUNCH_SESSION_FILE";

/// Names the assignment that an agent was started for, to hooks and servers that it starts.
pub const ASSIGNED: &str = "PUNCH_ASSIGNED";

/// The assignment that the agent around this process was started for.
pub fn assigned() -> Option<String> {
    std::env::var(ASSIGNED).ok().filter(|name| !name.is_empty() && name.len() <= 200)
}

/// What the agent around this process is in a run, where a runner drives it.
pub fn session_file() -> Option<SessionFile> {
    let path = std::env::var_os("PUNCH_SESSION_FILE").filter(|path| !path.is_empty())?;
    SessionFile::read(Path::new(&path)).ok()
}

/// The project that the agent of a hook works on, where it says so: a shell may have changed the working folder.
pub fn agent_folder() -> Option<PathBuf> {
    let names = AGENTS.iter().filter_map(|agent| agent.environment.project);
    let given = names.filter_map(std::env::var_os).map(PathBuf::from);
    given
        .filter(|folder| folder.is_absolute())
        .find_map(|folder| folder.canonicalize().ok().filter(|found| found.is_dir()))
}

/// Returns how many blocked stops in a row the agent allows, from its own variable; 0 means any number.
pub fn stop_cap(agent: &Adapter) -> Option<u32> {
    std::env::var(agent.hooks.stop_cap_variable?).ok()?.trim().parse().ok()
}

/// Whether the arguments, which could not be read, are those of a hook.
pub fn calls_hook() -> bool {
    verb_of(&std::env::args_os().collect::<Vec<_>>()) == Some("hook")
}

/// The arguments, with `-docs` of a list written as `--not docs`: clap would read it as flags.
pub fn arguments() -> Vec<OsString> {
    let given: Vec<OsString> = std::env::args_os().collect();
    if !verb_of(&given).is_some_and(|verb| matches!(verb, "list" | "ls" | "search")) {
        return given;
    }
    let negated = |word: &OsString| word.to_str().and_then(negated_term).map(str::to_owned);
    let split = |word: OsString| match negated(&word) {
        Some(term) => vec!["--not".into(), term.into()],
        None => vec![word],
    };
    given.into_iter().flat_map(split).collect()
}

/// The term of `-docs` or `-is:done`; `None` for flags: `-n`, `-n20`, `-ar`, `--all`.
fn negated_term(word: &str) -> Option<&str> {
    let term = word.strip_prefix('-').filter(|term| !term.is_empty() && !term.starts_with('-'))?;
    let (first, rest) = term.split_at(term.chars().next()?.len_utf8());
    let with_value = matches!(first, "n" | "s" | "p" | "l")
        && (rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit() || c == '='));
    let cluster = term.len() <= 3 && term.chars().all(|c| "arbmthV".contains(c));
    (!with_value && !cluster).then_some(term)
}

/// The first argument that is no flag.
fn verb_of(given: &[OsString]) -> Option<&str> {
    let mut arguments = given.iter().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str()? {
            "--store" | "--plan" | "--owner" | "--color" => drop(arguments.next()),
            flag if flag.starts_with('-') => {}
            verb => return Some(verb),
        }
    }
    None
}

/// Returns true if this word is in the place of the verb.
pub fn names_verb(word: &str) -> bool {
    let given: Vec<OsString> = std::env::args_os().collect();
    verb_of(&given) == Some(word)
}

/// Whether help is asked for before any verb.
pub fn wants_overview() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--help" | "-h") => return true,
            Some("--store" | "--plan" | "--owner" | "--color") => drop(arguments.next()),
            Some(flag) if flag.starts_with('-') => {}
            _ => return false,
        }
    }
    false
}

/// What no other process has: its number and when it asked.
pub fn process_tag() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", std::process::id(), since.as_millis())
}

/// Milliseconds since the epoch. A clock before it counts as 0; the engine never goes back behind its last write.
pub fn clock() -> Clock {
    Box::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// Reads a time such as `90s`, `15m`, `1h30m`, in milliseconds.
pub fn duration(text: &str) -> Result<i64, Failure> {
    let parsed = parse_duration(text).and_then(|time| i64::try_from(time.as_millis()).ok());
    parsed.ok_or_else(|| {
        Failure::usage(
            &format!("invalid duration `{text}`"),
            "write a number with ms, s, m, h or d: `90s`, `15m`, `1h30m`",
        )
    })
}

/// Writes milliseconds as [`duration`] reads them.
pub fn span(milliseconds: i64) -> String {
    print_duration(Duration::from_millis(milliseconds.unsigned_abs()))
}

/// Whether the arguments, which could not be read as a whole, ask for JSON.
pub fn wants_json() -> bool {
    std::env::args_os().skip(1).take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// Where temporary folders go.
pub fn temporary() -> PathBuf {
    let folder = std::env::temp_dir();
    folder.canonicalize().unwrap_or(folder)
}

/// This program itself.
pub fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|cause| Failure::File("punch".to_owned(), cause))
}

/// Whether this terminal is a pane of tmux, which can open windows beside it.
pub fn in_tmux() -> bool {
    std::env::var_os("TMUX").is_some_and(|socket| !socket.is_empty())
}

/// Variables that would steer a run of punch or git elsewhere.
pub fn steering_variables() -> Vec<OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| name.to_str().is_some_and(|n| n.starts_with("PUNCH_") || n.starts_with("GIT_"))).collect()
}

/// The width of the screen; 80 where there is none.
pub fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let screen = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.or_else(screen).unwrap_or(80).clamp(20, 400)
}

/// How large the terminal is now; a common size where it is unknown.
pub fn screen() -> Size {
    let found = terminal_size::terminal_size().map(|(width, height)| (usize::from(width.0), usize::from(height.0)));
    let (width, height) = found.filter(|(width, height)| *width > 0 && *height > 0).unwrap_or((width(), 24));
    Size { width, height }
}

/// Discards what was typed before the question was asked: it does not count as an answer.
#[cfg(unix)]
pub fn forget_input() {
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// There is no way to.
#[cfg(not(unix))]
pub fn forget_input() {}

/// Whether standard input has something to read, or has ended: reading it does not wait.
#[cfg(unix)]
pub fn input_is_ready() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let input = std::io::stdin();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
}

/// There is no way to know.
#[cfg(not(unix))]
pub fn input_is_ready() -> bool {
    false
}
