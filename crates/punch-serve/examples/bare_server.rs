//! What a server costs that does nothing: the same library, one tool that answers at once and one that makes one
//! durable commit. The benchmark compares with it.

use std::sync::{Arc, Mutex};

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use rusqlite::Connection;

struct Bare(Arc<Mutex<Connection>>);

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |name: &'static str| Tool::new(name, name, JsonObject::new());
        Ok(ListToolsResult::with_all_items(vec![tool("noop"), tool("commit")]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "commit" {
            let failed = |error: rusqlite::Error| ErrorData::internal_error(error.to_string(), None);
            let connection = self.0.lock().map_err(|_| ErrorData::internal_error("poisoned", None))?;
            connection.execute("insert into log(text) values ('one durable commit')", []).map_err(failed)?;
        }
        Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("give a file for the commits")?;
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = full; create table if not exists log(text text)",
    )?;
    let server = Bare(Arc::new(Mutex::new(connection)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let running = rmcp::serve_server(server, rmcp::transport::stdio_pipes()).await?;
        running.waiting().await?;
        Ok(())
    })
}
