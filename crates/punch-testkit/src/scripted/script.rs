//! The script of a model: what it answers to the requests of an agent, and what it expects to find in them. Unknown
//! fields are refused, so that a misspelt expectation cannot pass for one that holds.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

/// Requests that one server answers before it refuses: an agent in a loop must end.
const MOST_REQUESTS: usize = 200;

/// A whole script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentScript {
    /// The steps of the only track; short for one track without a match.
    #[serde(default)]
    pub steps: Vec<ScriptStep>,
    /// Several conversations side by side, such as an agent and its subagent. The first that fits a request takes it.
    #[serde(default)]
    pub tracks: Vec<Track>,
    /// Answered when a track has no steps left.
    #[serde(default)]
    pub after: ScriptStep,
    /// Answered to requests that offer no tools and fit no match: titles, summaries.
    #[serde(default = "aside")]
    pub aside: String,
    /// More requests than this are refused and reported.
    #[serde(default = "most_requests")]
    pub most_requests: usize,
    /// Steps that were never played are not a failure.
    #[serde(default)]
    pub may_end_early: bool,
}

/// One conversation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Track {
    /// Its name in reports.
    pub name: String,
    /// Texts that a request must have to belong here. None at all: every request that offers tools.
    #[serde(default)]
    pub has: Vec<Pattern>,
    /// Texts that it must not have.
    #[serde(default)]
    pub lacks: Vec<Pattern>,
    /// Only requests that offer tools: not those that ask for a title of the same words.
    #[serde(default)]
    pub with_tools: bool,
    /// Its steps.
    #[serde(default)]
    pub steps: Vec<ScriptStep>,
    /// Answered when no steps are left, instead of the script's.
    #[serde(default)]
    pub after: Option<ScriptStep>,
}

/// One answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptStep {
    /// A remark for the reader of the script.
    #[serde(default, rename = "//")]
    pub remark: Option<String>,
    /// The words of the answer.
    #[serde(default)]
    pub text: String,
    /// Its thoughts; only Anthropic's form carries them.
    #[serde(default)]
    pub thinking: String,
    /// Its tool calls.
    #[serde(default)]
    pub tools: Vec<ScriptedCall>,
    /// Must be found in the request.
    #[serde(default)]
    pub expect: Vec<Pattern>,
    /// Must be found in what came since the model's last answer.
    #[serde(default)]
    pub news: Vec<Pattern>,
    /// Must not be found in the request.
    #[serde(default)]
    pub reject: Vec<Pattern>,
    /// Each must be part of the name of an offered tool.
    #[serde(default)]
    pub offered: Vec<Pattern>,
    /// Tokens of the request, instead of a quarter of its bytes.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Another reason for the end of the message, in Anthropic's words.
    #[serde(default)]
    pub stop: Option<String>,
    /// An HTTP status instead of an answer. The client's next try gets the next step.
    #[serde(default)]
    pub error: Option<u16>,
    /// Milliseconds before the answer.
    #[serde(default)]
    pub delay_ms: u64,
    /// Tracks that must have been asked for this many answers before this one is given.
    #[serde(default)]
    pub waits_for: BTreeMap<String, usize>,
}

/// A call of a tool. In its strings `${after:PREFIX}` becomes the word behind the last PREFIX in the request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The client's name for the tool, or `mcp:SERVER/TOOL`, which finds it whatever the client calls it.
    pub name: String,
    /// Its arguments.
    #[serde(default = "nothing")]
    pub input: Value,
}

/// A text to look for, literally; of several, any will do.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Pattern {
    /// This text.
    One(String),
    /// Any of these.
    Any(Vec<String>),
}

impl AgentScript {
    /// Reads a script.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text)
            .map_err(|cause| format!("the script is not readable: {cause}"))
            .and_then(Self::checked)
    }

    /// Reads a script that is part of a larger document.
    pub fn from_value(value: Value) -> Result<Self, String> {
        serde_json::from_value(value)
            .map_err(|cause| format!("the script is not readable: {cause}"))
            .and_then(Self::checked)
    }

    fn checked(mut self) -> Result<Self, String> {
        match (self.steps.is_empty(), self.tracks.is_empty()) {
            (false, false) => return Err("give either `steps` or `tracks`".to_owned()),
            (_, true) => {
                let steps = std::mem::take(&mut self.steps);
                self.tracks.push(Track { name: "main".to_owned(), steps, ..Track::default() });
            }
            (true, false) => {}
        }
        let mut names: Vec<&str> = self.tracks.iter().map(|track| track.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("two tracks are called `{}`", pair[0])),
            None => Ok(self),
        }
    }
}

impl Track {
    /// Whether it takes any request that offers tools.
    pub(super) fn takes_all(&self) -> bool {
        self.has.is_empty() && self.lacks.is_empty()
    }
}

impl Pattern {
    /// Whether it occurs in the text.
    pub fn is_in(&self, text: &str) -> bool {
        match self {
            Self::One(one) => text.contains(one.as_str()),
            Self::Any(any) => any.iter().any(|one| text.contains(one.as_str())),
        }
    }

    /// For a report.
    pub fn words(&self) -> String {
        match self {
            Self::One(one) => format!("`{one}`"),
            Self::Any(any) => any.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(" or "),
        }
    }
}

fn aside() -> String {
    "ok".to_owned()
}

fn most_requests() -> usize {
    MOST_REQUESTS
}

fn nothing() -> Value {
    json!({})
}
