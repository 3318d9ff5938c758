//! OpenCode's plugin in node, with the real hooks behind it: where it puts what the model is to read.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde_json::Value;

use crate::world::{PUNCH, World, finished};

/// A conversation as OpenCode reports it. Its user changes the plan before a message and before a tool.
const HOST: &str = r#"
import { execFileSync } from "node:child_process"
import { Punch } from "./plugin.mjs"
const plugin = await Punch({ client: {}, directory: process.cwd() })
const sessionID = "ses_1"
const user = (...words) => execFileSync(process.env.PUNCH_PROGRAM, words)
const tool = async (tool, args) => {
  const output = { output: "ok" }
  await plugin["tool.execute.after"]({ sessionID, tool, callID: "c", args }, output)
  return output.output
}
const message = async (messageID, text) => {
  const output = { message: { id: messageID }, parts: [{ id: "prt_1", sessionID, messageID, type: "text", text }] }
  await plugin["chat.message"]({ sessionID, messageID }, output)
  return output.parts
}
const system = async () => {
  const output = { system: ["the host's own"] }
  await plugin["experimental.chat.system.transform"]({ sessionID }, output)
  return output.system
}
const seen = []
await plugin.event({ event: { type: "session.created", properties: { info: { id: sessionID } } } })
await message("msg_1", "do the work")
seen.push(await system())
await tool("todowrite", { todos: [{ id: "1", content: "a", status: "in_progress" }] })
seen.push(await system())
user("note", "T-1", "use the blue cluster")
const parts = await message("msg_2", "continue")
seen.push(await system())
user("note", "T-1", "and the green one")
const after = await tool("read", { filePath: "a.txt" })
seen.push(await system())
const quiet = [await message("msg_3", "continue"), await tool("read", { filePath: "a.txt" })]
seen.push(await system())
console.log(JSON.stringify({ seen, parts, after, quiet }))
"#;

/// A system text that comes and goes costs the provider's cache of the whole conversation, and the model forgets it.
#[test]
fn changes_of_the_user_stay_in_the_conversation_and_the_system_text_never_changes() {
    let world = World::with_git();
    world.ok(&["init", "--no-agents"]);
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../punch-agents/opencode_plugin.js");
    fs::copy(plugin, world.root.join("plugin.mjs")).unwrap();
    fs::write(world.root.join("host.mjs"), HOST).unwrap();
    let mut node = world.program("node");
    let done = match node.arg("../host.mjs").env("PUNCH_PROGRAM", PUNCH).output() {
        Err(error) if error.kind() == ErrorKind::NotFound && std::env::var_os("CI").is_none() => {
            eprintln!("SKIPPED: node is not installed");
            return;
        }
        done => finished(done.unwrap()),
    };
    assert_eq!(done.exit, Some(0), "{}", done.render());
    let said: Value = serde_json::from_str(&done.stdout).unwrap();
    for system in said["seen"].as_array().unwrap() {
        assert_eq!(*system, serde_json::json!(["the host's own"]), "{said:#}");
    }
    let added = &said["parts"][1];
    let named = |key: &str| added[key].as_str().unwrap_or_default();
    assert!(named("text").contains("use the blue cluster"), "{said:#}");
    assert_eq!((named("messageID"), named("sessionID")), ("msg_2", "ses_1"));
    assert!((named("id"), &added["synthetic"]) == ("prt_1p", &Value::Bool(true)), "{added}");
    let after = said["after"].as_str().unwrap();
    assert!(after.starts_with("ok\n\n") && after.contains("and the green one"), "{after}");
    assert!(!after.contains("blue"), "said once: {after}");
    assert_eq!(said["quiet"][0].as_array().unwrap().len(), 1, "{said:#}");
    assert_eq!(said["quiet"][1], "ok", "{said:#}");
}
