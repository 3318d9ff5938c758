//! An agent of Swiftide with the todo tools. It continues until its list is done.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use punchlist::serde_json::{self, Value, json};
use punchlist::{AsyncSession, Finish, Next, Options, Reason, Session, Shape};
use swiftide_agents::Agent;
use swiftide_core::AgentContext;
use swiftide_core::chat_completion::errors::{LanguageModelError, ToolError};
use swiftide_core::chat_completion::{
    ChatCompletion, ChatCompletionRequest, ChatCompletionResponse, ChatMessage, Tool, ToolCall, ToolOutput, ToolSpec,
};

/// One of the todo tools for Swiftide.
#[derive(Clone)]
struct TodoTool {
    session: AsyncSession,
    definition: Value,
}

impl TodoTool {
    fn text(&self, field: &str) -> &str {
        self.definition[field].as_str().unwrap_or_default()
    }
}

#[async_trait]
impl Tool for TodoTool {
    async fn invoke(&self, _: &dyn AgentContext, call: &ToolCall) -> Result<ToolOutput, ToolError> {
        // The session parses the text itself, and answers if it is not JSON.
        let arguments = Value::from(call.args().unwrap_or("{}"));
        let answer = self.session.call(call.name(), arguments).await.map_err(ToolError::unknown)?;
        let texts: Vec<String> = [Some(answer.text), answer.reminder].into_iter().flatten().collect();
        Ok(ToolOutput::text(texts.join("\n\n")))
    }

    fn name(&self) -> Cow<'_, str> {
        self.text("name").into()
    }

    fn tool_spec(&self) -> ToolSpec {
        let parameters_schema = serde_json::from_value(self.definition["inputSchema"].clone()).ok();
        ToolSpec { name: self.text("name").into(), description: self.text("description").into(), parameters_schema }
    }
}

/// Runs the agent on a task until the plan lets it stop. Messages are added as they are: `query` would read them as templates.
async fn work(agent: &mut Agent, session: &AsyncSession, task: &str) -> anyhow::Result<Reason> {
    let news = session.turn_started().await?;
    let mut message = [news.as_deref(), Some(task)].into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    loop {
        agent.add_message(ChatMessage::User(message.clone())).await?;
        agent.run().await?;
        match session.turn_ended(Finish::EndTurn).await? {
            Next::Continue { text, .. } => message = text,
            Next::Wait(time) => tokio::time::sleep(time).await,
            Next::Stop(reason) => return Ok(reason),
            _ => anyhow::bail!("a decision that this program does not know"),
        }
    }
}

/// Stands for a model: answers from a script, and stores what it was asked.
#[derive(Clone)]
struct Script {
    answers: Arc<Mutex<VecDeque<ChatCompletionResponse>>>,
    requests: Arc<Mutex<Vec<ChatCompletionRequest>>>,
}

#[async_trait]
impl ChatCompletion for Script {
    async fn complete(&self, request: &ChatCompletionRequest) -> Result<ChatCompletionResponse, LanguageModelError> {
        self.requests.lock().unwrap().push(request.clone());
        let answer = self.answers.lock().unwrap().pop_front();
        answer.ok_or_else(|| LanguageModelError::permanent("the script is over"))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let session = AsyncSession::new(Session::in_memory(Options::new("swiftide"))?);
    let say = |text: &str| ChatCompletionResponse::builder().message(text).build();
    let write = |id: &str, ops: Value| {
        let call = ToolCall::builder().id(id).name("todo_write").args(json!({"ops": ops}).to_string()).build()?;
        ChatCompletionResponse::builder().tool_calls(vec![call]).build()
    };
    let answers = VecDeque::from([
        write("1", json!([{"op": "add", "id": "a", "content": "Write the parser"}]))?,
        say("I planned the work.")?, // It stops too early.
        write("2", json!([{"op": "done", "id": "a"}]))?,
        say("The parser is written.")?,
    ]);
    let model = Script { answers: Arc::new(Mutex::new(answers)), requests: Arc::default() };
    let tools = session.session().tools(Shape::Mcp).into_iter();
    let tools = tools.map(|definition| TodoTool { session: session.clone(), definition }.boxed());
    let mut agent = Agent::builder()
        .llm(&model)
        .system_prompt(session.session().instructions())
        .tools(tools)
        .without_default_stop_tool()
        .build()?;
    assert_eq!(work(&mut agent, &session, "Write a parser.").await?, Reason::Finished);
    assert_eq!(session.session().progress()?.percent(), 100);
    // The model was offered the tools, and sent back to work with the todo that was left.
    let requests = model.requests.lock().unwrap();
    assert_eq!(requests.len(), 4);
    assert!(requests[0].tools_spec().iter().any(|tool| tool.name == "todo_write"));
    assert!(requests[2].messages().last().is_some_and(|message| message.to_string().contains("Write the parser")));
    Ok(())
}

#[cfg(test)]
#[test]
fn the_agent_continues_until_its_list_is_done() -> anyhow::Result<()> {
    main()
}
