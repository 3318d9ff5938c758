//! An agent that follows a script: it is host and model in one, calls hooks and tools as real hosts do, and continues
//! when the hook says so. Steps without tools are stops.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::answer::{ModelTurn, ScriptedToolUse};
use super::asked::{ModelRequest, ToolOffer};
use super::form::{AgentHookForm, HookWish, Moment};
use super::play::{PlayReply, ScriptPlay};
use super::report::ScriptReport;
use super::script::AgentScript;
use super::wire::ModelApi;

/// A tool of the host whose name begins so is run and fails.
const FAILING: &str = "fail:";

/// What is outside of the agent: our side, as programs or as something else that answers.
pub trait Outside {
    /// Calls a hook with the host's JSON; what it prints.
    fn hook(&mut self, event: &str, input: &Value) -> Result<String, String>;

    /// The names of the tools that are offered.
    fn tools(&mut self) -> Result<Vec<String>, String>;

    /// Calls a tool; the text for the model, or the error for it.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<String, String>;
}

/// An agent in one conversation.
pub struct ScriptedAgent<'a> {
    outside: &'a mut dyn Outside,
    form: AgentHookForm,
    session: String,
    play: ScriptPlay,
    most: usize,
    /// All that the model has read, and the part since its last answer.
    read: String,
    news: String,
    story: AgentStory,
}

/// What happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentStory {
    /// Texts with which the hook made it continue, in order.
    pub continued: Vec<String>,
    /// Texts that hooks put before the model.
    pub injected: Vec<String>,
    /// Texts for the user.
    pub told: Vec<String>,
    /// Uses of tools that a hook refused, with the reason.
    pub refused: Vec<String>,
    /// How the script compared.
    pub report: ScriptReport,
}

impl<'a> ScriptedAgent<'a> {
    /// A new conversation.
    pub fn new(form: AgentHookForm, session: &str, script: AgentScript, outside: &'a mut dyn Outside) -> Self {
        let most = script.most_requests;
        let (session, play) = (session.to_owned(), ScriptPlay::new(script, session, None));
        let (read, news) = (String::new(), String::new());
        Self { outside, form, session, play, most, read, news, story: AgentStory::default() }
    }

    /// Plays the conversation to its end: every prompt until the agent may stop. The script bounds it: past its limit
    /// of requests the turn is over, whatever the hook says.
    pub fn run(mut self, prompts: &[&str]) -> Result<AgentStory, String> {
        let tools = self.outside.tools()?;
        let tools: BTreeMap<String, ToolOffer> =
            tools.into_iter().map(|tool| (mcp_name(&tool), ToolOffer::default())).collect();
        self.fire(Moment::SessionStart, json!({"source": "startup"}))?;
        for prompt in prompts {
            self.fire(Moment::Prompt, json!({"prompt": prompt}))?;
            self.hear(prompt);
            self.turn(&tools)?;
        }
        self.fire(Moment::SessionEnd, json!({"reason": "other"}))?;
        self.story.report = self.play.report();
        Ok(self.story)
    }

    fn turn(&mut self, tools: &BTreeMap<String, ToolOffer>) -> Result<(), String> {
        let mut kept_going = false;
        for _ in 0..self.most {
            let asked = ModelRequest {
                text: self.read.clone(),
                news: self.news.clone(),
                tools: tools.clone(),
                ..ModelRequest::default()
            };
            let reply = self.play.answer(ModelApi::Anthropic, "agent", &asked, &Value::Null);
            let PlayReply::Answer(answer, ..) = reply else {
                self.fire(Moment::TurnFailed, json!({"error": "server_error"}))?;
                return Ok(());
            };
            self.news.clear();
            self.read.push_str(&answer.text);
            self.read.push('\n');
            if !answer.calls.is_empty() {
                answer.calls.iter().try_for_each(|call| self.work(call))?;
                if self.form == AgentHookForm::Qwen {
                    self.fire(Moment::Prompt, json!({"prompt": ""}))?;
                }
                continue;
            }
            let Some(text) = self.stop(&answer, kept_going)? else { return Ok(()) };
            kept_going = true;
            if self.form.echoes() {
                self.fire(Moment::Prompt, json!({"prompt": text}))?;
            }
            self.hear(&text);
            self.story.continued.push(text);
        }
        Ok(())
    }

    fn stop(&mut self, answer: &ModelTurn, kept_going: bool) -> Result<Option<String>, String> {
        let background: [Value; 0] = [];
        let wish = self.fire(
            Moment::Stop,
            json!({
                "stop_hook_active": kept_going, "last_assistant_message": answer.text, "background_tasks": background,
            }),
        )?;
        Ok(wish.go_on)
    }

    fn work(&mut self, call: &ScriptedToolUse) -> Result<(), String> {
        let name = call.name.trim_start_matches(FAILING);
        let ours = name.strip_prefix(MCP);
        let shown = ours.map_or_else(|| name.to_owned(), |tool| self.form.tool(tool));
        let about = json!({"tool_name": shown, "tool_input": call.input, "tool_use_id": call.id});
        if let Some(reason) = self.fire(Moment::ToolStarting, about.clone())?.refuse {
            self.hear(&reason);
            self.story.refused.push(reason);
            return Ok(());
        }
        let result = match ours {
            Some(tool) => self.outside.call(tool, &call.input),
            None if call.name.starts_with(FAILING) => Err("it failed".to_owned()),
            None => Ok("ok".to_owned()),
        };
        let (moment, mut about, text) = match result {
            Ok(text) => (Moment::ToolEnded, with(about, "tool_response", &text), text),
            Err(text) => (Moment::ToolFailed, with(about, "error", &text), text),
        };
        about["duration_ms"] = json!(1);
        self.hear(&text);
        self.fire(moment, about)?;
        Ok(())
    }

    /// Calls the hook of a moment and takes to heart what it says.
    fn fire(&mut self, moment: Moment, about: Value) -> Result<HookWish, String> {
        let Some(event) = self.form.event(moment) else { return Ok(HookWish::default()) };
        let input = self.form.input(event, &self.session, about);
        let printed = self.outside.hook(event, &input)?;
        let wish = self.form.read(moment, &printed)?;
        if let Some(text) = &wish.context {
            self.hear(text);
            self.story.injected.push(text.clone());
        }
        self.story.told.extend(wish.tell.clone());
        Ok(wish)
    }

    fn hear(&mut self, text: &str) {
        for heard in [&mut self.read, &mut self.news] {
            heard.push_str(text);
            heard.push('\n');
        }
    }
}

/// What scripts find our tools by; the hook gets the agent's own name.
const MCP: &str = "mcp__punch__";

fn mcp_name(tool: &str) -> String {
    format!("{MCP}{tool}")
}

fn with(mut value: Value, key: &str, text: &str) -> Value {
    value[key] = json!(text);
    value
}
