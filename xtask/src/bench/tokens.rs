//! `cargo xtask bench tokens`: what Punchlist costs in tokens, counted with o200k on the texts that the program serves: the
//! tool definitions of each dialect, and a plan of 20 todos worked through by each agent with punch's tools, with its own
//! list, and with its own list copied by hooks.

use std::path::{Path, PathBuf};

use punch_agents::{Adapter, Meaning};
use serde_json::{Value, json};

use super::finish::{PunchProject, output};
use super::tokenizer::tokens;
use super::tokens_page;
use super::tool_server::ToolServer;
use crate::{TaskResult, process};

pub const TODOS: usize = 20;

/// Tokens that a call of work adds, with its answer: the same in every session, so that it changes no difference.
const WORK: usize = 500;

/// What was counted in the requests of the real programs, with o200k: the system prompt and the other tools, and the
/// definitions of the agent's own todo tools. Where an agent loads them on demand, they count from the beginning of a
/// session that uses them.
struct MeasuredRequests {
    agent: &'static str,
    list: &'static str,
    base: usize,
    own: usize,
    /// What is left of `own` in every request of a session that works with punch's tools: all of it, because nothing
    /// switches the agent's own tools off. Only Claude Code sends no more than names, and a sentence about them, until
    /// the model searches for its tools.
    beside: usize,
    /// Where the figures come from.
    from: &'static str,
}

const COUNTED: [MeasuredRequests; 9] = [
    MeasuredRequests { agent: "claude", list: "TodoWrite", base: 19_000, own: 2_126, beside: 30, from: "2.1.325" },
    MeasuredRequests {
        agent: "claude",
        list: "TaskCreate, TaskUpdate",
        base: 19_000,
        own: 1_473,
        beside: 40,
        from: "2.1.325",
    },
    MeasuredRequests {
        agent: "codex",
        list: "update_plan",
        base: 9_300,
        own: 0,
        beside: 0,
        from: "0.166.0; tool not offered, so not counted",
    },
    MeasuredRequests {
        agent: "qwen",
        list: "todo_write",
        base: 17_400,
        own: 0,
        beside: 0,
        from: "0.24.4; tool not offered, so not counted",
    },
    MeasuredRequests { agent: "gemini", list: "write_todos", base: 9_300, own: 1_251, beside: 1_251, from: "0.61.0" },
    MeasuredRequests {
        agent: "cursor",
        list: "todo_write",
        base: 10_000,
        own: 0,
        beside: 0,
        from: "not counted; the base is a guess",
    },
    MeasuredRequests { agent: "opencode", list: "todowrite", base: 6_400, own: 607, beside: 607, from: "1.18.33" },
    MeasuredRequests {
        agent: "copilot",
        list: "–",
        base: 10_000,
        own: 0,
        beside: 0,
        from: "has no list that hooks can copy",
    },
    MeasuredRequests {
        agent: "droid",
        list: "TodoWrite",
        base: 10_000,
        own: 0,
        beside: 0,
        from: "not counted; the base is a guess",
    },
];

/// The limits, as the table checks them.
pub const MOST_DEFINITIONS: usize = 450;
pub const MOST_MIRRORED: f64 = 0.005;

/// What the tools of a dialect cost in every request.
pub struct DialectPrice {
    pub name: &'static str,
    pub definitions: usize,
    pub instructions: usize,
}

/// What a session of an agent costs, in input tokens of all its requests.
pub struct AgentPrice {
    pub agent: &'static str,
    pub list: &'static str,
    /// With punch's tools, as `punch install` connects them: beside the agent's own tools, and with hooks.
    pub punch_tools: usize,
    /// `None` for an agent without a list that hooks can copy.
    pub own: Option<OwnListPrice>,
    /// Where the figures about the agent come from.
    pub from: &'static str,
}

/// What a session with the agent's own list costs, and what copying the list adds.
pub struct OwnListPrice {
    pub own_list: usize,
    pub mirrored: usize,
    /// Tokens of a continuation, which only a session that stops early pays.
    pub continuation: usize,
}

pub struct Prices {
    pub dialects: Vec<DialectPrice>,
    pub agents: Vec<AgentPrice>,
}

/// Runs it. `--binary PATH` measures another build of `punch`, `--write` updates the page in docs.
pub fn run(arguments: &[&str]) -> TaskResult {
    let (mut binary, mut writes) = (None, false);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match *argument {
            "--binary" => binary = Some(PathBuf::from(arguments.next().ok_or("`--binary` needs a path")?)),
            "--write" => writes = true,
            unknown => return Err(format!("`bench tokens` does not take `{unknown}`")),
        }
    }
    let punch = match binary {
        None => process::build_punch()?,
        Some(path) => path.canonicalize().map_err(|cause| format!("{}: {cause}", path.display()))?,
    };
    let prices = Prices::measure(&punch)?;
    println!("{}", tokens_page::text(&prices));
    if writes {
        tokens_page::write(&prices)?;
    }
    let missed = prices.missed();
    if missed.is_empty() { Ok(()) } else { Err(format!("limits missed: {}", missed.join("; "))) }
}

impl OwnListPrice {
    /// What copying the list adds, as a share of the session.
    pub fn share(&self) -> f64 {
        ratio(self.mirrored, self.own_list)
    }

    /// What a session costs more with punch's tools than with the agent's own list; less if negative.
    pub fn change(&self, punch_tools: usize) -> f64 {
        ratio(punch_tools, self.own_list) - 1.0
    }
}

impl Prices {
    fn measure(punch: &Path) -> Result<Self, String> {
        let mut dialects = Vec::new();
        for name in ["native", "cursor", "phases", "todowrite", "extended"] {
            let folder = Scratch::new(punch)?;
            let server = ToolServer::start(folder.place.agent(SESSION), &["--dialect", name])?;
            let (definitions, instructions) = (server.definitions, server.instructions);
            dialects.push(DialectPrice { name, definitions, instructions });
        }
        let mut agents = Vec::new();
        for counted in &COUNTED {
            let adapter = punch_agents::named(counted.agent).ok_or("an agent without an adapter")?;
            let own = match adapter.todo_tools.is_empty() {
                true => None,
                false => {
                    let (mirrored, continuation) = mirrored(punch, adapter, counted)?;
                    let own_list = TokenSession::own(counted).input(counted.base);
                    Some(OwnListPrice { own_list, mirrored, continuation })
                }
            };
            let (agent, list, from) = (counted.agent, counted.list, counted.from);
            let punch_tools = ours(punch, adapter, counted)?.input(counted.base);
            agents.push(AgentPrice { agent, list, punch_tools, own, from });
        }
        Ok(Self { dialects, agents })
    }

    /// The limits that these prices exceed.
    fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        for dialect in self.dialects.iter().filter(|dialect| dialect.name == "native") {
            if dialect.definitions > MOST_DEFINITIONS {
                missed.push(format!("definitions of `native`: {}, at most {MOST_DEFINITIONS}", dialect.definitions));
            }
        }
        for AgentPrice { agent, list, punch_tools, own, .. } in &self.agents {
            let Some(own) = own else { continue };
            if *punch_tools > own.own_list {
                missed.push(format!("{agent}: punch's tools cost more than {list}"));
            }
            if own.share() > MOST_MIRRORED {
                missed.push(format!("{agent}: copying {list} adds {:.2} %", own.share() * 100.0));
            }
        }
        missed
    }
}

#[expect(clippy::cast_precision_loss, reason = "tokens are far below 2^52")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// One request for the plan, two for each todo (its work, its tick), and the last answer.
pub const REQUESTS: usize = 2 + 2 * TODOS;

/// A session: what is sent with every request, and what each request adds to the conversation.
struct TokenSession {
    fixed: usize,
    added: Vec<usize>,
}

impl TokenSession {
    /// Tokens of all requests, each counted in full.
    fn input(&self, base: usize) -> usize {
        let mut conversation = 0;
        let mut sum = 0;
        for added in &self.added {
            sum += base + self.fixed + conversation;
            conversation += added;
        }
        sum
    }

    /// The agent works with its own list. The answers of its own tool are not counted.
    fn own(counted: &MeasuredRequests) -> Self {
        let mut added = vec![plan_call(counted)];
        for done in 1..=TODOS {
            added.extend([WORK, tick_call(counted, done)]);
        }
        added.push(0);
        Self { fixed: counted.own, added }
    }
}

fn content(todo: usize) -> String {
    const WORK: [&str; 5] = [
        "Add a parser for the new configuration format",
        "Write tests for edge cases of the scheduler",
        "Move the retry logic into its own module",
        "Update the reference of the command line",
        "Measure start-up time before and after",
    ];
    format!("{} ({})", WORK[todo % WORK.len()], todo + 1)
}

/// The list with the first todos done, as the tool of an agent takes it.
fn list(counted: &MeasuredRequests, done: usize) -> Value {
    let row = |todo: usize| {
        let status = match todo.cmp(&done) {
            std::cmp::Ordering::Less => "completed",
            std::cmp::Ordering::Equal => "in_progress",
            std::cmp::Ordering::Greater => "pending",
        };
        let content = content(todo);
        match counted.list {
            "update_plan" => json!({"step": content, "status": status}),
            "write_todos" => json!({"description": content, "status": status}),
            "todowrite" => json!({"content": content, "status": status, "priority": "medium"}),
            "todo_write" => json!({"id": (todo + 1).to_string(), "content": content, "status": status}),
            _ => json!({"content": content, "status": status, "activeForm": content}),
        }
    };
    let key = if counted.list == "update_plan" { "plan" } else { "todos" };
    json!({key: (0..TODOS).map(row).collect::<Vec<_>>()})
}

fn is_task_tool(counted: &MeasuredRequests) -> bool {
    counted.list.starts_with("TaskCreate")
}

fn plan_call(counted: &MeasuredRequests) -> usize {
    if !is_task_tool(counted) {
        return tokens(&list(counted, 0).to_string());
    }
    let create = |todo| tokens(&json!({"subject": content(todo), "description": content(todo)}).to_string());
    (0..TODOS).map(create).sum::<usize>() + tokens(&update(0, "in_progress"))
}

fn tick_call(counted: &MeasuredRequests, done: usize) -> usize {
    if !is_task_tool(counted) {
        return tokens(&list(counted, done).to_string());
    }
    tokens(&update(done - 1, "completed")) + tokens(&update(done, "in_progress"))
}

fn update(todo: usize, status: &str) -> String {
    json!({"taskId": (todo + 1).to_string(), "status": status}).to_string()
}

/// A plan of 20 todos with punch's tools, as `punch install` connects an agent by default: a real server, whose calls and
/// answers count, and hooks, whose texts count.
fn ours(punch: &Path, adapter: &'static Adapter, counted: &MeasuredRequests) -> Result<TokenSession, String> {
    let folder = Scratch::new(punch)?;
    let mut hooks = HookSession { place: &folder.place, adapter, calls: 0 };
    let mut server = ToolServer::start(folder.place.agent(SESSION), &[])?;
    let begin = hooks.begin()?;
    let mut call = |hooks: &mut HookSession<'_>, ops: Value| -> Result<usize, String> {
        let call = json!({"ops": ops});
        let answer = server.call("todo_write", &call)?;
        let said = hooks.tool("mcp__punch__todo_write", &call, &json!([{"type": "text", "text": answer}]))?;
        Ok(tokens(&call.to_string()) + tokens(&answer) + said)
    };
    let add = |todo| json!({"op": "add", "content": content(todo)});
    let mut plan: Vec<Value> = (0..TODOS).map(add).collect();
    plan.push(json!({"op": "start", "id": "T-1"}));
    let mut added = vec![begin + call(&mut hooks, Value::Array(plan))?];
    for done in 1..=TODOS {
        let work = WORK + hooks.edit()?;
        let mut ops = vec![json!({"op": "done", "id": format!("T-{done}")})];
        ops.extend((done < TODOS).then(|| json!({"op": "start", "id": format!("T-{}", done + 1)})));
        added.extend([work, call(&mut hooks, Value::Array(ops))?]);
    }
    added.push(hooks.stop()?);
    Ok(TokenSession { fixed: server.definitions + server.instructions + counted.beside, added })
}

/// The agent's own list, copied by hooks: the tokens that all requests have more, and the tokens of a first continuation,
/// which only a session that stops early pays.
fn mirrored(punch: &Path, adapter: &'static Adapter, counted: &MeasuredRequests) -> Result<(usize, usize), String> {
    let folder = Scratch::new(punch)?;
    let mut session = HookSession { place: &folder.place, adapter, calls: 0 };
    let mut added = vec![session.begin()?];
    let mut continued = 0;
    if is_task_tool(counted) {
        for todo in 0..TODOS {
            let created = json!({"task": {"id": (todo + 1).to_string(), "subject": content(todo)}});
            added[0] += session.tool(
                "TaskCreate",
                &json!({"subject": content(todo), "description": content(todo)}),
                &created,
            )?;
        }
    }
    for done in 0..=TODOS {
        let tick = match is_task_tool(counted) {
            false => session.tool(adapter.todo_tools[0].name, &list(counted, done), &json!({}))?,
            true => {
                let mut sum = 0;
                for (todo, status) in [(done.wrapping_sub(1), "completed"), (done, "in_progress")] {
                    if todo < TODOS {
                        let input = serde_json::from_str(&update(todo, status)).map_err(|cause| cause.to_string())?;
                        sum += session.tool("TaskUpdate", &input, &json!({"success": true}))?;
                    }
                }
                sum
            }
        };
        added.extend([session.edit()?, tick]);
        if done == TODOS / 2 {
            continued = session.stop()?;
        }
    }
    Ok((TokenSession { fixed: 0, added }.input(0), continued))
}

/// Hook reports of one session, as an agent sends them.
struct HookSession<'a> {
    place: &'a PunchProject,
    adapter: &'static Adapter,
    calls: u32,
}

/// The session that reports and calls name.
const SESSION: &str = "tokens";

impl HookSession<'_> {
    fn begin(&mut self) -> Result<usize, String> {
        let start = self.report(Meaning::SessionStart, &json!({"source": "startup"}))?;
        Ok(start + self.report(Meaning::Prompt, &json!({"prompt": "Work through the plan."}))?)
    }

    /// The agent changes a file.
    fn edit(&mut self) -> Result<usize, String> {
        let file = self.place.folder.join("a.txt");
        self.tool("Edit", &json!({"file_path": file}), &json!({}))
    }

    fn stop(&mut self) -> Result<usize, String> {
        self.report(Meaning::Stop, &json!({"stop_hook_active": false, "status": "completed"}))
    }

    fn tool(&mut self, name: &str, input: &Value, answer: &Value) -> Result<usize, String> {
        self.calls += 1;
        let fields = &self.adapter.hooks.fields;
        let mut more = json!({"tool_name": name, "tool_use_id": format!("call_{}", self.calls)});
        more[fields.tool_input[0]] = input.clone();
        more[fields.tool_output[0]] = answer.clone();
        self.report(Meaning::ToolEnd, &more)
    }

    /// Reports an event; the tokens of what the model reads in the answer.
    fn report(&self, meaning: Meaning, more: &Value) -> Result<usize, String> {
        let hooks = &self.adapter.hooks;
        let Some((event, _)) = hooks.meanings.iter().find(|(_, known)| *known == meaning) else { return Ok(0) };
        let mut report = json!({"cwd": self.place.folder, "hook_event_name": event});
        report[hooks.fields.session[0]] = json!(SESSION);
        if let (Some(report), Some(more)) = (report.as_object_mut(), more.as_object()) {
            report.extend(more.clone());
        }
        let words = ["hook", "--agent", self.adapter.name, event];
        let answer = output(self.place.agent(SESSION).args(words), &report.to_string())?;
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        Ok(read_by_the_model(&answer).iter().map(|text| tokens(text)).sum())
    }
}

/// The texts of an answer that reach the model; the others are shown to the user.
fn read_by_the_model(answer: &Value) -> Vec<&str> {
    const TEXTS: [&str; 8] = [
        "additionalContext",
        "additional_context",
        "reason",
        "followup_message",
        "context",
        "go_on",
        "agent_message",
        "refuse",
    ];
    let top = answer.as_object().into_iter().flatten();
    let inner = answer["hookSpecificOutput"].as_object().into_iter().flatten();
    top.chain(inner).filter(|(key, _)| TEXTS.contains(&key.as_str())).filter_map(|(_, text)| text.as_str()).collect()
}

/// A project of its own for each session.
struct Scratch {
    place: PunchProject,
    _folder: tempfile::TempDir,
}

impl Scratch {
    fn new(punch: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
        let place = PunchProject::new(punch, &folder.path().join("project"), folder.path().join("home"))?;
        Ok(Self { place, _folder: folder })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_a_row() {
        for agent in punch_agents::AGENTS {
            assert!(COUNTED.iter().any(|counted| counted.agent == agent.name), "{}", agent.name);
        }
    }

    #[test]
    fn every_request_reads_the_whole_conversation_again() {
        let session = TokenSession { fixed: 10, added: vec![1, 2, 3] };
        assert_eq!(session.input(100), 110 + 111 + 113);
    }
}
