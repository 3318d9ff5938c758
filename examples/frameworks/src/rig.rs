//! An agent of rig with the todo tools. It continues until its list is done.

use punchlist::serde_json::{Value, json};
use punchlist::{AsyncSession, Finish, Next, Options, Reason, Session, Shape};
use rig_agent::agent::{Agent, AgentBuilder};
use rig_core::message::ToolName;
use rig_core::test_utils::{MockCompletionModel, MockTurn};
use rig_core::tool::{DynamicTool, ToolExecutionError, ToolOutput};

/// The todo tools for rig: a refused call is an answer that the model can act on.
fn tools(session: &AsyncSession) -> anyhow::Result<Vec<DynamicTool>> {
    let tool = |definition: Value| {
        let text = |field: &str| definition[field].as_str().unwrap_or_default().to_owned();
        let (session, name) = (session.clone(), text("name"));
        let call = move |arguments: Value| -> rig_core::wasm_compat::WasmBoxedFuture<'static, _> {
            let answer = session.call(&name, arguments);
            Box::pin(async move {
                let answer = answer.await.map_err(ToolExecutionError::from_error)?;
                let texts: Vec<String> = [Some(answer.text), answer.reminder].into_iter().flatten().collect();
                Ok(ToolOutput::text(texts.join("\n\n")))
            })
        };
        let schema = definition["inputSchema"].clone();
        Ok(DynamicTool::new(ToolName::new(text("name"))?, text("description"), schema, call))
    };
    session.session().tools(Shape::Mcp).into_iter().map(tool).collect()
}

/// Runs the agent on a task until the plan lets it stop.
async fn work(agent: &Agent, session: &AsyncSession, task: &str) -> anyhow::Result<Reason> {
    let mut history = Vec::new();
    let news = session.turn_started().await?;
    let mut message = [news.as_deref(), Some(task)].into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    loop {
        agent.chat(message.as_str(), &mut history).await?;
        match session.turn_ended(Finish::EndTurn).await? {
            Next::Continue { text, .. } => message = text,
            Next::Wait(time) => tokio::time::sleep(time).await,
            Next::Stop(reason) => return Ok(reason),
            _ => anyhow::bail!("a decision that this program does not know"),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let session = AsyncSession::new(Session::in_memory(Options::new("rig"))?);
    // Stands for a model: it stops too early once.
    let write = |id: &str, ops: Value| MockTurn::tool_call(id, "todo_write", json!({"ops": ops}));
    let model = MockCompletionModel::from_turns([
        write("1", json!([{"op": "add", "id": "a", "content": "Write the parser"}])),
        MockTurn::text("I planned the work."),
        write("2", json!([{"op": "done", "id": "a"}])),
        MockTurn::text("The parser is written."),
    ]);
    let agent = AgentBuilder::new(model.clone())
        .preamble(session.session().instructions())
        .default_max_turns(50)
        .dynamic_tools(tools(&session)?)
        .build();
    assert_eq!(work(&agent, &session, "Write a parser.").await?, Reason::Finished);
    assert_eq!(session.session().progress()?.percent(), 100);
    // The model was offered the tools, and sent back to work with the todo that was left.
    let requests = model.requests();
    assert_eq!(requests.len(), 4);
    assert!(requests[0].tools.iter().any(|tool| tool.name.to_string() == "todo_write"));
    assert!(format!("{:?}", requests[2]).contains("Write the parser"));
    Ok(())
}

#[cfg(test)]
#[test]
fn the_agent_continues_until_its_list_is_done() -> anyhow::Result<()> {
    main()
}
