//! What a model reads at the moment at which it begins a todo.

use punch_core::drive::{HostEvent, SessionStart};
use punch_engine::call::{Dialect, Tool};
use punch_store::SessionKey;
use serde_json::json;

use super::{stop, world};

/// Whoever begins a todo reads when it counts as done, and what it is about, wherever the todo is handed out.
#[test]
fn where_work_begins_the_model_reads_when_it_counts_as_done() {
    let (when, about) = ("every example compiles", "only the parser");
    let add = json!({"op": "add", "content": "Port it", "verificationCriteria": when, "description": about});
    let world = || {
        let world = world();
        world.write("s", Dialect::Native, json!({"ops": [add]}));
        world
    };
    let key = || SessionKey::new("s", None);
    let start = json!({"ops": [{"op": "start", "id": "T-1"}]});
    let began = |said: &str, place: &str| {
        assert!(said.contains(when) && said.contains(about), "{place}: {said}");
    };
    began(&world().write("s", Dialect::Native, start.clone()).text, "start");
    began(&world().call(key(), Dialect::Native, Tool::Claim, json!({})).text, "claim");
    began(&world().call(key(), Dialect::Native, Tool::Read, json!({"view": "next"})).text, "next");
    began(&world().report("s", stop()).go_on.unwrap_or_default(), "continuation");
    let world = world();
    world.write("s", Dialect::Native, start);
    let compacted = HostEvent::SessionStarted { how: SessionStart::Compact };
    began(&world.report("s", compacted).context.unwrap_or_default(), "a list that is put back");
}
