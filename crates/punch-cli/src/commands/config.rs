//! `punch config`: settings and where they come from.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use punch_core::text;
use punch_engine::config::{
    Authority, Config as Settings, ConfigInputs, Key, SettingScope, SettingSource, ShownSetting, set, unset, written,
};
use punch_engine::locate::{self, Location};
use serde_json::{Value, json};

use crate::arguments::Global;
use crate::environment;
use crate::failure::Failure;
use crate::guard;
use crate::output;
use crate::project::{self, Project};
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch config show                      # every setting with its source
  punch config get lease
  punch config set view.ascii true       # in this project
  punch config set --user owner alice    # in every project
  punch config unset view.ascii

A setting comes from the first of: flag, environment, project, user, default.";

/// The arguments of `punch config`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ConfigArgs {
    #[command(subcommand)]
    action: Option<ConfigCommand>,
}

/// What to do with settings.
#[derive(Subcommand)]
enum ConfigCommand {
    /// Print every setting with its source, as a valid TOML file
    Show,
    /// Print the value of one setting
    Get {
        /// Its name, for example `view.ascii`
        #[arg(value_parser = name_in_files)]
        key: String,
    },
    /// Change one setting in the project's file, or in yours
    Set {
        /// Its name, for example `view.ascii`
        #[arg(value_parser = name_in_files)]
        key: String,
        /// The value
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// For all your projects
        #[arg(long)]
        user: bool,
    },
    /// Remove one setting from the project's file, or yours
    Unset {
        /// Its name, for example `view.ascii`
        #[arg(value_parser = name_in_files)]
        key: String,
        /// For all your projects
        #[arg(long)]
        user: bool,
    },
}

fn name_in_files(name: &str) -> Result<String, std::convert::Infallible> {
    Ok(Key::name_in_files(name).to_owned())
}

/// The setting that decides whether todos wait for cancelled ones.
const CANCELLED_DEP: &str = "policy.cancelled_dep";

impl ConfigArgs {
    /// Runs the verb. Changes do not read the other settings: an invalid one must not prevent its own correction.
    pub fn run(self, global: Global) -> Result<VerbReply, Failure> {
        let location = locate::locate(&environment::surroundings(&global)?)?;
        match self.action.unwrap_or(ConfigCommand::Show) {
            ConfigCommand::Show => show(&global, &location),
            ConfigCommand::Get { key } => get(&global, &location, &key),
            ConfigCommand::Set { key, value, user } => {
                guarded(&key)?;
                let (path, scope) = file(&location, user || needs_own_file(&key))?;
                if scope == SettingScope::Project && !location.dir.is_dir() {
                    location.create()?;
                }
                let value = spelled_out(&key, value);
                let named = |failure: Failure| {
                    failure.naming(|key| Some(key.to_owned()), "`punch config show` lists every setting")
                };
                set(&path, scope, &key, &value).map_err(|error| named(error.into()))?;
                apply_to_plans(&global, &location, &key)?;
                if scope == SettingScope::Project && needs_approval(&key) {
                    approve(&global, &location, &key)?;
                }
                let known = environment::config(&global, &location).ok().and_then(|c| c.get(&key).ok());
                if let Some(note) = unknown_agent(&key) {
                    output::remark(&note);
                }
                let stored = written(&path, &key)?;
                Ok(change_reply(&path, &key, known, stored.as_deref(), true))
            }
            ConfigCommand::Unset { key, user } => {
                guarded(&key)?;
                let (path, scope) = file(&location, user || needs_own_file(&key))?;
                let there = path.parent().is_some_and(std::path::Path::is_dir) && unset(&path, scope, &key)?;
                let known = environment::config(&global, &location).ok().and_then(|c| c.get(&key).ok());
                Ok(change_reply(&path, &key, known, None, there))
            }
        }
    }
}

/// A number of tokens such as `20k` is written as a plain number.
fn spelled_out(key: &str, value: String) -> String {
    match text::tokens(&value).filter(|_| key.ends_with("tokens")) {
        Some(tokens) => tokens.to_string(),
        None => value,
    }
}

/// Which todos are ready is stored with each plan and follows from this one setting, so that a change of it counts at
/// once and not only after the next write.
fn apply_to_plans(global: &Global, location: &Location, key: &str) -> Result<(), Failure> {
    // An invalid setting elsewhere must not prevent this change.
    let Ok(config) = environment::config(global, location) else { return Ok(()) };
    if key != CANCELLED_DEP || !location.exists {
        return Ok(());
    }
    let project = Project::at(global.clone(), location.clone(), config);
    let Some(engine) = project.engine()? else { return Ok(()) };
    for plan in engine.plans()? {
        engine.submit(plan.id, &project.request(), &[])?;
    }
    Ok(())
}

/// Warns about a setting for an agent that has no hooks here. Programs with the library may have any name, so it is not
/// refused.
fn unknown_agent(key: &str) -> Option<String> {
    let (agent, _) = key.strip_prefix("agents.")?.split_once('.')?;
    if punch_agents::named(agent).is_some() {
        return None;
    }
    let near = text::nearest(agent, punch_agents::AGENTS.iter().map(|known| known.name), 1);
    let near = near.first().map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
    Some(format!("unknown agent `{}`{near}", text::neutral(agent)))
}

/// Refuses to change a setting inside an agent that only the user decides about.
fn guarded(key: &str) -> Result<(), Failure> {
    match Key::named(key) {
        Some(known) if known.is_guarded() => guard::only_user(&format!("change `{}`", text::neutral(key))),
        _ => Ok(()),
    }
}

/// Returns true if the setting counts only in the user's own file: then it is written there, wherever the command runs.
fn needs_own_file(key: &str) -> bool {
    Key::named(key).is_some_and(|known| matches!(known.authority, Authority::OwnFile))
}

fn needs_approval(key: &str) -> bool {
    Key::named(key).is_some_and(|known| matches!(known.authority, Authority::Approval { .. }))
}

/// Approves the value that the project's file has now, because the user who types the command wants it. Creates the
/// store if there is none: an approval belongs to one store.
fn approve(global: &Global, location: &Location, key: &str) -> Result<(), Failure> {
    let Some(value) = written(&location.config, key)? else { return Ok(()) };
    let Some(approvals) = environment::approvals(location) else {
        let hint = "set HOME or XDG_STATE_HOME, or use `--user`";
        return Err(Failure::refused("needs_consent", "there is no state folder to store approvals in", hint));
    };
    if !location.exists {
        let config = Settings::load(&ConfigInputs::default())?;
        Project::at(global.clone(), location.clone(), config).engine_or_new()?;
    }
    approvals
        .give_setting(key, &value)
        .map_err(|cause| Failure::File("approvals in the state folder".into(), cause))?;
    Ok(())
}

fn show(global: &Global, location: &Location) -> Result<VerbReply, Failure> {
    let config = environment::config(global, location)?;
    project::warn_ignored(&config);
    let rows = config.show();
    // A path in a comment may hold a line break; a setting never does.
    let lines: Vec<String> = rows.iter().map(|row| text::neutral(&row.to_string()).into_owned()).collect();
    Ok(VerbReply::new(lines.join("\n"), json!({"settings": rows.iter().map(as_json).collect::<Vec<_>>()})))
}

fn get(global: &Global, location: &Location, key: &str) -> Result<VerbReply, Failure> {
    let config = environment::config(global, location)?;
    let row = config.get(key)?;
    project::warn_ignored(&config);
    let plain = match value(&row) {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    };
    Ok(VerbReply::new(plain, as_json(&row)))
}

/// The answer to a change; `stored` is the value that the file has now.
fn change_reply(
    path: &std::path::Path,
    key: &str,
    known: Option<ShownSetting>,
    stored: Option<&str>,
    changed: bool,
) -> VerbReply {
    let (file, key_shown) = (path.display().to_string(), text::neutral(key));
    let mut message = match changed {
        true => match stored {
            Some(value) => {
                format!("{key_shown} = {} (in `{}`)", text::neutral(value.trim_matches('"')), text::neutral(&file))
            }
            None => format!("`{key_shown}` is unset in `{}`", text::neutral(&file)),
        },
        false => format!("`{key_shown}` was not set in `{}`", text::neutral(&file)),
    };
    // Another source may take precedence over the file that was changed.
    let louder = known.as_ref().filter(|row| match &row.source {
        SettingSource::Project(from) | SettingSource::User(from) => from != path,
        SettingSource::Flag | SettingSource::Env(_) => true,
        SettingSource::Default => false,
    });
    if let Some(row) = louder {
        message.push_str(&format!("\nnote: in effect: {}", text::neutral(&row.to_string())));
    }
    let mut json = json!({"file": file, "changed": changed});
    json["setting"] = known.as_ref().map_or(Value::Null, as_json);
    VerbReply::new(message, json)
}

fn file(location: &Location, user: bool) -> Result<(PathBuf, SettingScope), Failure> {
    if !user {
        return Ok((location.config.clone(), SettingScope::Project));
    }
    let path = environment::user_config();
    let path =
        path.ok_or_else(|| Failure::usage("there is no home folder for settings", "set HOME or XDG_CONFIG_HOME"))?;
    Ok((path, SettingScope::User))
}

fn as_json(row: &ShownSetting) -> Value {
    json!({"key": row.key, "value": value(row), "source": row.source.to_string()})
}

/// Texts, numbers and truth values look the same in TOML and JSON.
fn value(row: &ShownSetting) -> Value {
    let parse = |toml: &String| serde_json::from_str(toml).unwrap_or_else(|_| json!(toml));
    row.value.as_ref().map_or(Value::Null, parse)
}
