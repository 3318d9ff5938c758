//! `punch watch`: the board in the terminal.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use clap::{Args, CommandFactory};
use punch_engine::config::Color;
use punch_engine::locate::Location;
use punch_engine::{Engine, PlanChoice};
use punch_run::worktree::LaneDiff;
use punch_store::OpenMode;
use punch_tui::{BoardLane, BoardLook, BoardSetup, BoardShape, BoardStore, NewWindow};

use crate::environment;
use crate::failure::{Exit, Failure};
use crate::open_store;
use crate::output;
use crate::project::Project;
use crate::run_files::{self, RunFiles};

const EXAMPLES: &str = "\
Examples:
  punch watch              # the board; ? shows all keys
  punch watch --panel      # a small box of tasks, for a tmux pane
  punch watch --notify     # rings the bell when something needs you
  punch watch --once       # print the board once and exit";

/// The arguments of `punch watch`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct WatchArgs {
    /// Show only a small box of tasks
    #[arg(long)]
    panel: bool,
    /// Print the board once and exit
    #[arg(long)]
    once: bool,
    /// Let the terminal handle the mouse
    #[arg(long)]
    no_mouse: bool,
    /// Ring the bell and show a notification when something new needs you
    #[arg(long)]
    notify: bool,
}

impl WatchArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<Exit, Failure> {
        let is_terminal = environment::is_interactive();
        if !self.once && !is_terminal {
            let hint = "run it in a terminal, or print the board once with `punch watch --once`";
            return Err(Failure::usage("the board needs a terminal", hint));
        }
        let colors = match project.config.settings.view_color.value {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && environment::allows_color(),
        };
        let look = BoardLook {
            shape: if self.panel { BoardShape::Panel } else { BoardShape::Board },
            glyphs: project.glyphs(),
            colors,
            mouse: !self.no_mouse && !self.panel,
            notify: self.notify,
        };
        let setup = setup(project, look)?;
        if self.once {
            let size = environment::screen();
            let side = |length: usize| u16::try_from(length).unwrap_or(u16::MAX);
            // The last line of a terminal is for the prompt: the top of a picture as high as the screen would scroll off.
            let height = size.height.saturating_sub(usize::from(is_terminal)).max(1);
            let picture = punch_tui::frame(setup, (side(size.width), side(height)), colors, environment::clock()());
            output::document(&picture)?;
            return Ok(Exit::Ok);
        }
        punch_tui::watch(setup).map_err(Failure::Input)?;
        Ok(Exit::Ok)
    }
}

/// Hands the board everything that comes from around it.
fn setup(project: Project, look: BoardLook) -> Result<BoardSetup, Failure> {
    let mut arguments = Vec::new();
    let global = &project.global;
    let store = global.store.as_ref().map(|store| store.display().to_string());
    for (flag, value) in [("--plan", &global.plan), ("--store", &store), ("--owner", &global.owner)] {
        arguments.extend(value.iter().flat_map(|value| [flag.to_owned(), value.clone()]));
    }
    let places = Arc::new(WatchPlaces { choice: project.choice(), location: project.location.clone() });
    let for_create = Arc::clone(&places);
    let lanes = RunFiles { location: project.location.clone(), state: environment::state_home() };
    let logs = lanes.clone();
    Ok(BoardSetup {
        open: Box::new(move || places.open()),
        create: Box::new(move || for_create.create()),
        lane: Box::new(move |opened, todo| {
            let lane = lanes.lane(&opened.engine, (opened.plan, &opened.name), todo)?;
            Some(Box::new(RunLane(lane)) as Box<dyn BoardLane>)
        }),
        agent_log: Box::new(move |opened, todo| logs.log(&opened.engine, opened.plan, todo)),
        log_lines: run_files::log_lines,
        new_window: environment::in_tmux().then(|| Box::new(tmux_window) as NewWindow),
        verbs: verbs(),
        agents: super::assign::agents(),
        tree: project.tree(),
        actor: project.actor(),
        marks: environment::agent_marks(),
        own_mark: environment::inside_agent().map(|mark| mark.variable),
        program: environment::program()?,
        arguments,
        look,
        delay: project.clear_delay(),
        plan_flag: project.global.plan.clone(),
        settings: project.config.settings,
    })
}

/// The names of all commands that help shows.
fn verbs() -> Vec<String> {
    let command = crate::Arguments::command();
    let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let mut names: Vec<String> = shown.map(|verb| verb.get_name().to_owned()).collect();
    names.sort();
    names
}

/// Runs a command in a new window of tmux. The window stays if the command fails, so that its error can be read.
fn tmux_window(command: &[String]) -> Result<(), String> {
    const SHELL: &str = "\"$@\" || { printf '\\n%s' 'Press Enter to close this window. '; read -r _; }";
    let mut tmux = Command::new("tmux");
    let verb = command.get(1).map(String::as_str).unwrap_or_default();
    tmux.args(["new-window", "-n", &format!("punch {verb}")]);
    // A window gets the environment of the tmux server, which may be that of another project.
    for name in environment::steering_variables() {
        if let (Some(name), Some(value)) = (name.to_str(), std::env::var_os(&name).as_ref().and_then(|v| v.to_str())) {
            tmux.args(["-e", &format!("{name}={value}")]);
        }
    }
    if let Ok(folder) = std::env::current_dir() {
        tmux.arg("-c").arg(folder);
    }
    let output = tmux.args(["sh", "-c", SHELL, "sh"]).args(command).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Where the store is, and which plan is meant.
struct WatchPlaces {
    location: Location,
    choice: PlanChoice,
}

impl WatchPlaces {
    /// Opens the store. What happens after a commit is not reported: standard error is the screen of the board.
    fn engine(&self, mode: OpenMode) -> Result<Engine, String> {
        let store = open_store::open(&self.location, mode, None).map_err(|error| error.message())?;
        Ok(Engine::new(store, environment::clock()))
    }

    fn open(&self) -> Result<Option<BoardStore>, String> {
        if !self.location.has_database() {
            return Ok(None);
        }
        let engine = self.engine(OpenMode::Existing)?;
        let found = engine.choose(&self.choice).map_err(|error| error.message())?;
        Ok(found.map(|found| BoardStore { engine, plan: found.id, name: found.name }))
    }

    fn create(&self) -> Result<BoardStore, String> {
        if !self.location.has_database() {
            self.location.create().map_err(|error| error.to_string())?;
        }
        let engine = self.engine(OpenMode::Create)?;
        let plan = engine.choose_or_create(&self.choice).map_err(|error| error.message())?;
        let name = engine.plans().map_err(|error| error.message())?.into_iter().find(|found| found.id == plan);
        Ok(BoardStore { engine, plan, name: name.map(|found| found.name).unwrap_or_default() })
    }
}

struct RunLane(LaneDiff);

impl BoardLane for RunLane {
    fn path(&self) -> &Path {
        &self.0.path
    }

    fn size(&self) -> Result<String, String> {
        self.0.size().map_err(|error| error.to_string())
    }

    fn patch(&self) -> Result<String, String> {
        self.0.patch().map_err(|error| error.to_string())
    }
}
