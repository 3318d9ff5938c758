//! How far a script has been played. It finds the step for a request, compares, and keeps every request.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;

use serde_json::{Value, json};

use super::answer::{ModelTurn, RequestTokens, ScriptedToolUse};
use super::asked::ModelRequest;
use super::report::ScriptReport;
use super::script::{AgentScript, ScriptStep};
use super::wire::ModelApi;

/// Bytes that count as one token.
const TOKEN: usize = 4;

/// What becomes of a request.
pub enum PlayReply {
    /// This answer, after this many milliseconds and once these tracks have come so far.
    Answer(Box<ModelTurn>, u64, BTreeMap<String, usize>),
    /// This HTTP status.
    Error(u16, String),
}

/// A script being played.
pub struct ScriptPlay {
    script: AgentScript,
    tag: String,
    log: Option<File>,
    /// Next step of each track.
    at: Vec<usize>,
    /// Requests already answered, by what they say: a client that sends one again means the same turn.
    seen: HashMap<u64, (usize, usize)>,
    report: ScriptReport,
}

impl ScriptPlay {
    /// From the beginning. `tag` goes into every id, `log` gets a line of JSON for every request.
    pub fn new(script: AgentScript, tag: &str, log: Option<File>) -> Self {
        let at = vec![0; script.tracks.len()];
        Self { script, tag: tag.to_owned(), log, at, seen: HashMap::new(), report: ScriptReport::default() }
    }

    /// How it went so far; steps not yet played are failures.
    pub fn report(&self) -> ScriptReport {
        let mut report = self.report.clone();
        for (track, at) in self.script.tracks.iter().zip(&self.at) {
            report.played.insert(track.name.clone(), *at);
            if *at < track.steps.len() && !self.script.may_end_early {
                let (name, steps) = (&track.name, track.steps.len());
                report.failures.push(format!("track {name}: ended after {at} of {steps} steps"));
            }
        }
        report
    }

    /// The answer to a request.
    pub fn answer(&mut self, api: ModelApi, path: &str, asked: &ModelRequest, body: &Value) -> PlayReply {
        self.report.requests += 1;
        if self.report.requests > self.script.most_requests {
            let failure = format!("more than {} requests", self.script.most_requests);
            if !self.report.failures.contains(&failure) {
                self.report.failures.push(failure.clone());
            }
            return PlayReply::Error(400, failure);
        }
        let (track, number, step) = self.step(asked);
        let calls = self.calls(&track, number, &step, asked);
        self.keep(json!({
            "api": api.name(), "path": path, "track": track, "step": number, "model": asked.model,
            "tools": asked.tools.keys().collect::<Vec<_>>(), "news": asked.news,
            "answer": {"text": step.text, "tools": calls.iter().map(|call| &call.name).collect::<Vec<_>>()},
            "body": body,
        }));
        if let Some(status) = step.error {
            let words = if step.text.is_empty() { "scripted error".to_owned() } else { step.text };
            return PlayReply::Error(status, words);
        }
        let written = step.text.len() + calls.iter().map(|call| call.input.to_string().len()).sum::<usize>();
        let count = |bytes: usize| u64::try_from(bytes / TOKEN + 1).unwrap_or(u64::MAX);
        let answer = ModelTurn {
            id: format!("{}x{}", self.tag, self.report.requests),
            model: asked.model.clone(),
            text: filled(&step.text, &asked.text),
            thinking: step.thinking,
            calls,
            stop: step.stop,
            usage: RequestTokens {
                input: step.tokens.unwrap_or_else(|| count(asked.text.len())),
                output: count(written),
            },
        };
        PlayReply::Answer(Box::new(answer), step.delay_ms, step.waits_for)
    }

    /// Returns true if each of these tracks has been asked for this many answers.
    pub fn has_reached(&self, wanted: &BTreeMap<String, usize>) -> bool {
        let played = |name: &str| self.script.tracks.iter().position(|track| track.name == name).map(|n| self.at[n]);
        wanted.iter().all(|(name, wanted)| played(name).is_some_and(|at| at >= *wanted))
    }

    /// Keeps a request that needed no answer from the script.
    pub fn other(&mut self, method: &str, path: &str) {
        self.keep(json!({"api": "other", "path": format!("{method} {path}")}));
    }

    fn keep(&mut self, record: Value) {
        // A log that cannot be written shows when the log is read later.
        if let Some(log) = &mut self.log {
            let _ = writeln!(log, "{record}");
        }
    }

    /// The track's name, the number of the step and the step itself.
    fn step(&mut self, asked: &ModelRequest) -> (String, usize, ScriptStep) {
        let fits = |track: &&super::Track| {
            let offers = !track.with_tools || !asked.tools.is_empty();
            offers
                && !track.takes_all()
                && track.has.iter().all(|text| text.is_in(&asked.text))
                && !track.lacks.iter().any(|text| text.is_in(&asked.text))
        };
        let tracks = &self.script.tracks;
        let place = |found: &super::Track| tracks.iter().position(|track| track.name == found.name);
        let plain = || tracks.iter().find(|track| track.takes_all() && !asked.tools.is_empty());
        let Some(place) = tracks.iter().find(fits).or_else(plain).and_then(place) else {
            let step = ScriptStep { text: self.script.aside.clone(), ..ScriptStep::default() };
            return ("aside".to_owned(), 0, step);
        };
        let key = key(asked);
        let known = self.seen.get(&key).filter(|(track, _)| *track == place).map(|(_, step)| *step);
        let number = known.unwrap_or(self.at[place]);
        let track = &self.script.tracks[place];
        let after = || track.after.clone().unwrap_or_else(|| self.script.after.clone());
        let step = track.steps.get(number).cloned().unwrap_or_else(after);
        let name = track.name.clone();
        if known.is_none() {
            self.at[place] += 1;
            // After an error the client asks the same again and must come further.
            if step.error.is_none() {
                self.seen.insert(key, (place, number));
            }
            self.compare(&name, number, &step, asked);
        }
        (name, number, step)
    }

    fn compare(&mut self, track: &str, number: usize, step: &ScriptStep, asked: &ModelRequest) {
        let names: String = asked.tools.keys().map(|name| format!("{name}\n")).collect();
        let checks = [
            ("nothing in the request says", &step.expect, &asked.text, true),
            ("nothing new in the request says", &step.news, &asked.news, true),
            ("something in the request says", &step.reject, &asked.text, false),
            ("no tool was offered whose name has", &step.offered, &names, true),
        ];
        for (what, patterns, text, wanted) in checks {
            for pattern in patterns.iter().filter(|pattern| pattern.is_in(text) != wanted) {
                let words = pattern.words();
                self.report.failures.push(format!("track {track}, step {number}: {what} {words}"));
            }
        }
    }

    fn calls(&mut self, track: &str, number: usize, step: &ScriptStep, asked: &ModelRequest) -> Vec<ScriptedToolUse> {
        let mut out = Vec::new();
        for (n, call) in step.tools.iter().enumerate() {
            let found = asked.find(&call.name).map(str::to_owned);
            if found.is_none() {
                let note = format!("track {track}, step {number}: tool `{}` was not offered", call.name);
                self.report.warnings.push(note);
            }
            // Some clients hide tools until they are searched for, and run them all the same.
            let name = found.unwrap_or_else(|| call.name.replacen("mcp:", "mcp__", 1).replacen('/', "__", 1));
            let id = format!("{}x{}x{n}", self.tag, self.report.requests);
            let tool = asked.tools.get(&name).cloned();
            out.push(ScriptedToolUse { id, tool, name, input: filled_value(&call.input, &asked.text) });
        }
        out
    }
}

fn key(asked: &ModelRequest) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&asked.text, &asked.news, asked.tools.is_empty()).hash(&mut hasher);
    hasher.finish()
}

/// Replaces every `${after:PREFIX}` by the word behind the last PREFIX in the request, if there is one.
fn filled(text: &str, request: &str) -> String {
    const OPEN: &str = "${after:";
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(OPEN) {
        let Some((prefix, tail)) = behind.split_once('}') else { break };
        out.push_str(before);
        let end = |c: char| !c.is_alphanumeric() && !"-_".contains(c);
        let word = request.rfind(prefix).map(|at| &request[at + prefix.len()..]);
        match word.and_then(|word| word.split(end).next()).filter(|word| !word.is_empty()) {
            Some(word) => out.push_str(word),
            None => out.extend([OPEN, prefix, "}"]),
        }
        rest = tail;
    }
    out + rest
}

fn filled_value(value: &Value, request: &str) -> Value {
    match value {
        Value::String(text) => Value::String(filled(text, request)),
        Value::Array(items) => items.iter().map(|item| filled_value(item, request)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, item)| (key.clone(), filled_value(item, request))).collect())
        }
        other => other.clone(),
    }
}
