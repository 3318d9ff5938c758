//! `punch install`: connects agents by entries in their configuration, after showing what would change.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use punch_agents::settings::{ConnectionLevel, ToolSource};
use punch_agents::{AGENTS, Adapter};
use punch_engine::call::Dialect;
use punch_engine::locate;
use punch_serve::ToolOffers;
use punch_serve::cost::Price;

use crate::arguments::Global;
use crate::failure::Failure;
use crate::reply::VerbReply;
use crate::wiring::{ConnectRequest, ConnectionChange, Consent, Way, WiringForm, WiringPlace, found_agents};
use crate::{environment, output};

const EXAMPLES: &str = "\
Examples:
  punch install claude codex     # for you, in this project; git does not see it
  punch install --shared claude  # for everyone: writes the files that your team commits
  punch install --user gemini    # for you, in all your projects
  punch install                  # every agent on PATH
  punch install qwen --dry-run   # show the differences and write nothing
  punch install claude --dialect todowrite   # tools in the form that Claude Code was trained on
  punch install claude --tools own           # keep its own todo list, copied by hooks
  punch install --user --plugin claude

Changes only its own entries and keeps comments and order. `FILE.before-punch` is a copy of the file
as it was. `punch uninstall` undoes it.";

/// Where, and with which consent; the same for both verbs.
#[derive(Args)]
pub struct How {
    /// The agents; without any, those on PATH
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub agents: Vec<&'static Adapter>,
    /// Only for you, in this project (the default)
    #[arg(long, group = "level")]
    personal: bool,
    /// For everyone in this project, in files that your team commits
    #[arg(long, visible_alias = "project", group = "level")]
    shared: bool,
    /// Only for you, in all your projects
    #[arg(long, group = "level")]
    user: bool,
    /// Show the differences and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Write without asking; required where there is no terminal
    #[arg(long, short = 'y')]
    yes: bool,
}

/// The arguments of `punch install`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct InstallArgs {
    #[command(flatten)]
    how: How,
    /// Also add the text of `punch guide` to AGENTS.md, CLAUDE.local.md, GEMINI.md or QWEN.md
    #[arg(long)]
    guide: bool,
    /// The form of the tools, or AGENT=NAME for one agent; without it, native or what is installed already
    #[arg(long, value_name = "NAME", value_parser = read_dialect, conflicts_with = "plugin")]
    dialect: Vec<(Option<&'static Adapter>, Dialect)>,
    /// Which todo tools the model gets: `punch`, or `own` for the agent's own list, copied by hooks; AGENT=NAME for one agent
    #[arg(long, value_name = "NAME", value_parser = read_tools, conflicts_with = "plugin")]
    tools: Vec<(Option<&'static Adapter>, ToolSource)>,
    /// Use a plugin or extension instead of entries in the settings: claude, codex, gemini, with --user
    #[arg(long)]
    plugin: bool,
}

impl InstallArgs {
    /// Runs the verb.
    pub fn run(self, global: &Global) -> Result<VerbReply, Failure> {
        let place =
            WiringPlace { dialects: self.dialect.clone(), tools: self.tools.clone(), ..self.how.place(global)? };
        let agents = if self.how.agents.is_empty() { found_agents() } else { self.how.agents.clone() };
        if agents.is_empty() {
            let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
            let hint = format!("name the agent: {}", names.join(", "));
            return Err(Failure::refused("no_agent", "no agent was found on PATH", &hint));
        }
        let form = if self.plugin { WiringForm::Plugin } else { WiringForm::Settings };
        let request = self.how.request(global, Way::In, form, self.guide);
        let change = ConnectionChange::plan(place, &agents, request)?;
        // Who is connected already, or has chosen, knows the two ways.
        let has_choice = self.tools.is_empty() && form == WiringForm::Settings && change.changes_anything();
        let sentences = [has_choice.then(ways_and_prices), auto_continue(global).map(str::to_owned)];
        let sentences = sentences.into_iter().flatten().collect::<Vec<_>>().join("\n");
        let (text, mut json) = self.how.change(global, change, &sentences)?;
        json["autoContinue"] = auto_continue(global).is_some().into();
        Ok(VerbReply::new(text, json))
    }
}

/// The two ways to connect an agent, and what they cost. `cargo xtask bench tokens` measures the range, and compares it with
/// this text.
fn ways_and_prices() -> String {
    let price = Price::of(&ToolOffers::new(Dialect::Native, &[]));
    format!(
        "Two ways to connect an agent, with their price:\n  \
         --tools punch  punch's tools: about {} tokens in every request, and only changes are sent (the default)\n  \
         --tools own    its own todo list, copied by hooks: 0 tokens in every request, and the whole list is sent each time\n\
         A plan of 20 todos takes 2 to 23 % fewer input tokens with punch's tools than with the agent's own list.",
        price.offered() + price.instructions
    )
}

/// The sentence that every install says about auto-continue; `None` if the settings turn it off.
pub fn auto_continue(global: &Global) -> Option<&'static str> {
    let around = environment::surroundings(global).ok()?;
    let config = environment::config(global, &locate::locate(&around).ok()?).ok()?;
    config.settings.keep_going_enabled.value.then_some(
        "Auto-continue is on: if an agent stops while todos are open, punch sends it back to work. `punch keep-going off` \
         turns it off.",
    )
}

impl How {
    /// The level that was asked for, if any.
    fn level(&self) -> Option<ConnectionLevel> {
        let given = [
            (self.personal, ConnectionLevel::Personal),
            (self.shared, ConnectionLevel::Shared),
            (self.user, ConnectionLevel::User),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, level)| level)
    }

    /// The files that are meant.
    pub fn place(&self, global: &Global) -> Result<WiringPlace, Failure> {
        WiringPlace::find(global, self.level().unwrap_or(ConnectionLevel::Personal))
    }

    /// What was asked for.
    pub fn request(&self, global: &Global, way: Way, form: WiringForm, guide: bool) -> ConnectRequest {
        let consent = match (self.dry_run, self.yes || global.json) {
            (true, _) => Consent::Never,
            (false, true) => Consent::Given,
            (false, false) => Consent::Ask,
        };
        ConnectRequest { way, level: self.level(), form, guide, consent }
    }

    /// Shows a change, asks, makes it, and reports it to people and programs. `meaning` says what it means for the user,
    /// once: before the question, or else after the report.
    pub fn change(
        &self,
        global: &Global,
        mut change: ConnectionChange,
        meaning: &str,
    ) -> Result<(String, serde_json::Value), Failure> {
        let with_meaning = |summary: String| format!("{summary}\n{meaning}").trim_end().to_owned();
        // A few lines for each agent; the differences on request.
        let asks = change.needs_approval();
        if asks && !global.json {
            output::remark(&with_meaning(change.summary(false)));
        } else if self.dry_run && !global.json {
            output::document(&change.diff())?;
        }
        let done = change.run()?;
        let text = match (asks, done) {
            (true, true) => change.summary(true),
            (true, false) => "Nothing was written.".to_owned(),
            (false, done) => with_meaning(change.summary(done)),
        };
        Ok((text, change.json(done)))
    }
}

/// Reads `todowrite` or `claude=todowrite`.
fn read_dialect(word: &str) -> Result<(Option<&'static Adapter>, Dialect), String> {
    let (agent, name) = read_agent(word)?;
    let names = || Dialect::ALL.iter().map(|dialect| dialect.name()).collect::<Vec<_>>().join(", ");
    let dialect = Dialect::parse(name).ok_or_else(|| format!("unknown dialect `{name}` (try {})", names()))?;
    Ok((agent, dialect))
}

/// Reads `own` or `claude=own`.
fn read_tools(word: &str) -> Result<(Option<&'static Adapter>, ToolSource), String> {
    let (agent, name) = read_agent(word)?;
    let names = || ToolSource::ALL.map(ToolSource::name).join(", ");
    let tools = ToolSource::parse(name).ok_or_else(|| format!("unknown tools `{name}` (try {})", names()))?;
    Ok((agent, tools))
}

/// Splits `claude=own` into agent and name; without an agent, all are meant.
fn read_agent(word: &str) -> Result<(Option<&'static Adapter>, &str), String> {
    let Some((agent, name)) = word.split_once('=') else { return Ok((None, word)) };
    Ok((Some(punch_agents::named(agent).ok_or_else(|| format!("unknown agent `{agent}`"))?), name))
}

/// The names of agents.
pub fn agents() -> impl TypedValueParser<Value = &'static Adapter> {
    PossibleValuesParser::new(AGENTS.iter().map(|agent| agent.name))
        .try_map(|name| punch_agents::named(&name).ok_or("no such agent"))
}
