//! Combines the sources: for each setting, the first source that has it wins.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fmt,
    path::PathBuf,
};

use super::{
    ConfigError, KEYS, SettingOrigin, SettingSource, SettingValue, Settings,
    check::check,
    ignored::{outside_own_file, unapproved},
    key::{self, KnownSetting},
    scalar::WrittenValue,
    setting::{Range, Setting},
};
use crate::verify::Consents;

/// What the caller knows. Files that do not exist say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigInputs {
    /// Settings given as flags: name and text.
    pub flags: Vec<(String, String)>,
    /// The environment, or the part of it that begins with `PUNCH_`. An empty variable says nothing.
    pub env: Vec<(String, OsString)>,
    /// `config.toml` beside the store.
    pub project: Option<PathBuf>,
    /// The user's `config.toml`.
    pub user: Option<PathBuf>,
    /// The variables belong to an agent, which must not loosen a check or choose a command by setting one.
    pub is_agent: bool,
    /// What the user approved for this project. Without it, settings of the project's file that need an approval do not
    /// count.
    pub approvals: Option<Consents>,
}

/// All settings, in general and per agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The values for every agent without settings of its own.
    pub settings: Settings,
    agents: BTreeMap<String, Settings>,
    /// Settings of single agents that some source has.
    agent_keys: BTreeSet<String>,
}

/// One setting as `config show` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownSetting {
    /// The name of the setting.
    pub key: String,
    /// Its value in the form of a file; `None` if it is not set.
    pub value: Option<String>,
    /// Where the value comes from.
    pub source: SettingSource,
}

/// `lease = "15m"  # default`; what is not set is a comment, so that the whole is a valid file.
impl fmt::Display for ShownSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{} = {value}  # {}", self.key, self.source),
            None => write!(f, "# {} is not set", self.key),
        }
    }
}

impl Config {
    /// Reads the sources. One wrong setting anywhere is an error, even where another source overrides it.
    pub fn load(inputs: &ConfigInputs) -> Result<Self, ConfigError> {
        let mut env = env(&inputs.env)?;
        let mut project = layer(inputs.project.as_ref(), SettingSource::Project)?;
        let user = layer(inputs.user.as_ref(), SettingSource::User)?;
        let mut ignored = unapproved(&mut project, |name| user.get(name).cloned(), inputs.approvals.as_ref());
        if inputs.is_agent {
            ignored.extend(unapproved(&mut env, |name| project.get(name).or_else(|| user.get(name)).cloned(), None));
        }
        let mut flags = flags(&inputs.flags)?;
        for layer in [&mut flags, &mut env, &mut project] {
            ignored.extend(outside_own_file(layer));
        }
        let layers = vec![flags, env, project, user];
        let names = || layers.iter().flat_map(Layer::keys);
        let agents: BTreeSet<&str> = names().filter_map(|name| key::lookup(name)?.agent).collect();
        let mut per_agent = BTreeMap::new();
        for agent in agents {
            per_agent.insert(agent.to_owned(), Settings::resolve(&|key| find(&layers, Some(agent), key), &ignored)?);
        }
        Ok(Self {
            settings: Settings::resolve(&|key| find(&layers, None, key), &ignored)?,
            agents: per_agent,
            agent_keys: names().filter(|name| name.starts_with("agents.")).cloned().collect(),
        })
    }

    /// The settings that hold for an agent. A source that says something in general still goes before a later source
    /// that says it for this agent; inside one source the agent's own wins.
    pub fn for_agent(&self, agent: &str) -> &Settings {
        self.agents.get(agent).unwrap_or(&self.settings)
    }

    /// Every setting, then those of single agents.
    pub fn show(&self) -> Vec<ShownSetting> {
        let mut out = self.settings.rows();
        out.extend(self.agent_keys.iter().filter_map(|name| self.get(name).ok()));
        out
    }

    /// One setting by name.
    pub fn get(&self, name: &str) -> Result<ShownSetting, ConfigError> {
        let row = key::lookup(name).and_then(|KnownSetting { key, agent }| {
            let settings = agent.map_or(&self.settings, |agent| self.for_agent(agent));
            settings.rows().into_iter().find(|row| row.key == key.name)
        });
        row.map(|row| ShownSetting { key: name.to_owned(), ..row }).ok_or_else(|| ConfigError::UnknownKey {
            place: SettingOrigin::Flag,
            key: name.to_owned(),
            near: key::nearest(name),
        })
    }
}

/// The settings of one source.
pub(super) type Layer = BTreeMap<String, LocatedValue>;

/// A value with where it was written.
#[derive(Clone, Debug)]
pub(super) struct LocatedValue {
    pub scalar: WrittenValue,
    pub source: SettingSource,
    pub place: SettingOrigin,
}

/// Reads the settings of a file.
#[cfg(feature = "files")]
fn layer(path: Option<&PathBuf>, source: fn(PathBuf) -> SettingSource) -> Result<Layer, ConfigError> {
    let Some(path) = path else { return Ok(Layer::new()) };
    let entry = |(name, entry): (String, super::file::FileValue)| {
        let place = SettingOrigin::File { path: path.clone(), line: entry.line };
        (name, LocatedValue { scalar: entry.scalar, source: source(path.clone()), place })
    };
    Ok(super::file::load(path)?.into_iter().map(entry).collect())
}

/// Fails for every file: this program was built without them, and settings must not be skipped.
#[cfg(not(feature = "files"))]
fn layer(path: Option<&PathBuf>, _source: fn(PathBuf) -> SettingSource) -> Result<Layer, ConfigError> {
    let unreadable = |path: &PathBuf| {
        let cause = "this program was built without configuration files".to_owned();
        Err(ConfigError::Unreadable { path: path.clone(), cause })
    };
    path.map_or_else(|| Ok(Layer::new()), unreadable)
}

/// Sets one setting to its value, or to its default. Not inlined: there are dozens of settings, and they are read once.
#[inline(never)]
pub(super) fn resolve<T: Setting>(
    out: &mut SettingValue<T>,
    name: &str,
    default: &str,
    range: Range,
    find: &dyn Fn(&str) -> Option<LocatedValue>,
) -> Result<(), ConfigError> {
    let found = find(name).unwrap_or_else(|| LocatedValue {
        scalar: WrittenValue::Loose(default.to_owned()),
        source: SettingSource::Default,
        place: SettingOrigin::Default,
    });
    let Some(value) = T::read(&found.scalar, range) else {
        return Err(ConfigError::bad_value(found.place, name, &found.scalar, &T::expected(range)));
    };
    *out = SettingValue { value, source: found.source };
    Ok(())
}

fn find(layers: &[Layer], agent: Option<&str>, name: &str) -> Option<LocatedValue> {
    let own = agent.and_then(|agent| key::of_agent(agent, name));
    layers.iter().find_map(|layer| own.as_ref().and_then(|own| layer.get(own)).or_else(|| layer.get(name))).cloned()
}

fn flags(given: &[(String, String)]) -> Result<Layer, ConfigError> {
    let mut out = Layer::new();
    for (name, text) in given {
        let scalar = WrittenValue::Loose(text.clone());
        check(name, &scalar, || SettingOrigin::Flag)?;
        out.insert(name.clone(), LocatedValue { scalar, source: SettingSource::Flag, place: SettingOrigin::Flag });
    }
    Ok(out)
}

fn env(given: &[(String, OsString)]) -> Result<Layer, ConfigError> {
    let mut out = Layer::new();
    // Hooks come by here on every step of an agent, and mostly no variable is set.
    if given.is_empty() {
        return Ok(out);
    }
    let known = KEYS.iter().flat_map(|key| key.env().into_iter().map(|variable| (key.name.to_owned(), variable)));
    let of_agents = given.iter().filter_map(|(name, _)| Some((key::from_agent_variable(name)?, name.clone())));
    for (name, variable) in known.chain(of_agents) {
        let Some((_, value)) = given.iter().find(|(given, value)| *given == variable && !value.is_empty()) else {
            continue;
        };
        let place = SettingOrigin::Env(variable.clone());
        let Some(text) = value.to_str() else { return Err(ConfigError::NotUtf8 { place }) };
        let scalar = WrittenValue::Loose(text.to_owned());
        check(&name, &scalar, || place.clone())?;
        // The short name comes first and stays.
        out.entry(name).or_insert(LocatedValue { scalar, source: SettingSource::Env(variable), place });
    }
    Ok(out)
}
