//! What hosts write down about conversations, as they write it, ends up with the todos that were worked on.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use crate::agents::agent;
use proptest::prelude::*;
use punch_agents::hook::HookReport;
use punch_engine::PlanChoice;
use punch_engine::config::{Config, ConfigInputs};
use punch_serve::ProjectStore;
use punch_serve::hook::HookRunner;
use punch_store::MemoryStore;
use serde_json::{Value, json};

use crate::equals_engine::Shared;

/// A host with a conversation in a file.
struct Told {
    host: &'static str,
    folder: tempfile::TempDir,
    file: PathBuf,
    project: Shared,
}

impl Told {
    fn by(host: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.jsonl");
        Self { host, file, folder, project: Shared(Arc::new(MemoryStore::new()), Arc::new(AtomicI64::new(1_000))) }
    }

    fn write(&self, file: &Path, text: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// An answer of the model after which the context has this size, in the host's form.
    fn answered(&self, size: u64) -> String {
        let line = match self.host {
            "claude" => {
                json!({"type": "assistant", "isSidechain": false, "message": {"id": "m", "model": "unheard-of",
                "usage": {"input_tokens": size - 30, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 10,
                    "output_tokens": 10}}})
            }
            "codex" => json!({"type": "event_msg", "payload": {"type": "token_count", "info": {
                "total_token_usage": {"total_tokens": 999_999}, "last_token_usage": {"total_tokens": size}}}}),
            "qwen" => json!({"type": "assistant", "model": "q", "usageMetadata": {"totalTokenCount": size}}),
            _ => json!({"type": "gemini", "tokens": {"input": size - 5, "output": 5, "total": size}}),
        };
        // Hosts write a message once for each of its parts.
        format!("{{\"type\":\"user\"}}\n{line}\n{line}\n")
    }

    fn says(&self, size: u64) {
        self.write(&self.file, &self.answered(size));
    }

    fn hook(&self, event: &str, more: Value) {
        let mut report = json!({"session_id": "s", "transcript_path": self.file, "hook_event_name": event});
        report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let config = Config::load(&ConfigInputs::default()).unwrap();
        let settings = config.for_agent(self.host);
        let heard = HookReport::read(agent(self.host), event, &report).unwrap();
        let hook = HookRunner {
            project: &self.project,
            settings,
            worktree: None,
            root: None,
            host_cap: None,
            assigned: None,
            consents: None,
            checks: None,
        };
        assert_eq!(hook.run(&heard).unwrap().problems.len(), 0);
    }

    fn status(&self, status: &str) {
        let (event, tool, input) = match self.host {
            "codex" => ("PostToolUse", "update_plan", json!({"plan": [{"step": "a", "status": status}]})),
            "gemini" => ("AfterTool", "write_todos", json!({"todos": [{"description": "a", "status": status}]})),
            "qwen" => ("PostToolUse", "todo_write", json!({"todos": [{"id": "1", "content": "a", "status": status}]})),
            _ => {
                ("PostToolUse", "TodoWrite", json!({"todos": [{"content": "a", "activeForm": "a", "status": status}]}))
            }
        };
        self.hook(event, json!({"tool_name": tool, "tool_input": input, "tool_response": {}}));
    }

    fn stops(&self) {
        self.hook(if self.host == "gemini" { "AfterAgent" } else { "Stop" }, json!({}));
    }

    fn taken(&self) -> Vec<u64> {
        let engine = self.project.open(false).unwrap().unwrap();
        let plan = engine.choose(&PlanChoice::default()).unwrap().unwrap();
        engine.usage_report(plan.id).unwrap().todos.iter().map(|todo| todo.actual).collect()
    }
}

#[test]
fn every_host_that_writes_down_its_usage_is_understood() {
    for host in ["claude", "codex", "qwen", "gemini"] {
        let told = Told::by(host);
        told.says(10_000);
        told.status("in_progress");
        told.says(11_000);
        told.stops();
        told.stops();
        assert_eq!(told.taken(), [1_000], "{}", host);
        told.says(2_000);
        told.says(2_300);
        told.status("completed");
        told.says(9_000);
        told.stops();
        assert_eq!(told.taken(), [1_300], "{}", host);
    }
}

#[test]
fn a_host_that_only_says_how_full_the_context_is_is_understood_too() {
    let told = Told::by("qwen");
    let stop = |tokens: u64| told.hook("Stop", json!({"context_limit": 200_000, "input_tokens": tokens}));
    told.status("in_progress");
    for tokens in [10_000, 12_500, 12_500] {
        stop(tokens);
    }
    assert_eq!(told.taken(), [2_500]);
}

#[test]
fn lines_in_the_making_other_files_and_short_ones_are_no_trouble() {
    let told = Told::by("claude");
    told.says(10_000);
    told.status("in_progress");
    let line = told.answered(10_700);
    let (first, rest) = line.split_at(line.len() / 2);
    told.write(&told.file, first);
    told.stops();
    told.write(&told.file, rest);
    told.stops();
    assert_eq!(told.taken(), [700]);
    // The conversation is taken up in another file with the same past: the past is not counted again.
    let copy = told.folder.path().join("copy.jsonl");
    let past = std::fs::read_to_string(&told.file).unwrap();
    std::fs::write(&copy, format!("{past}{}", told.answered(10_750))).unwrap();
    told.hook("Stop", json!({"transcript_path": copy}));
    assert_eq!(told.taken(), [750]);
    std::fs::write(&copy, "").unwrap();
    told.hook("Stop", json!({"transcript_path": copy}));
    std::fs::write(&copy, told.answered(10_760)).unwrap();
    told.hook("Stop", json!({"transcript_path": copy}));
    assert_eq!(told.taken(), [760]);
    for nowhere in ["/nowhere/x.jsonl", "relative", "", "/dev/zero"] {
        told.hook("Stop", json!({"transcript_path": nowhere}));
    }
    assert_eq!(told.taken(), [760]);
}

#[test]
fn a_flood_between_two_reports_is_passed_over_and_the_growth_is_known_all_the_same() {
    let told = Told::by("claude");
    told.says(10_000);
    told.status("in_progress");
    told.says(20_000);
    told.write(&told.file, &format!("{{\"type\":\"user\",\"text\":\"{}\"}}\n", "x".repeat(5 << 20)));
    told.says(30_000);
    told.stops();
    assert_eq!(told.taken(), [20_000]);
}

#[test]
fn a_subagents_own_file_counts_for_the_todo_and_its_lines_in_the_main_one_do_not() {
    let told = Told::by("claude");
    told.says(10_000);
    told.status("in_progress");
    let side = |size| told.answered(size).replace("\"isSidechain\":false", "\"isSidechain\":true");
    told.write(&told.file, &side(90_000));
    told.says(10_100);
    let own = told.folder.path().join("agent-1.jsonl");
    told.write(&own, &side(3_000));
    told.write(&own, &side(3_400));
    let sub = json!({"agent_id": "1", "agent_type": "x", "agent_transcript_path": own});
    told.hook("SubagentStop", sub.clone());
    told.hook("SubagentStop", sub);
    told.stops();
    assert_eq!(told.taken(), [500]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever stands in a transcript and wherever it is cut: no panic, and reading in pieces gives what reading at
    /// once gives.
    #[test]
    fn pieces_add_up_to_the_whole(
        lines in prop::collection::vec(prop_oneof![
            (31..50_000_u64).prop_map(Ok),
            prop_oneof![".{0,40}", Just("{\"usage\"".to_owned()), Just("{\"type\":\"assistant\",\"message\":{\"usage\":7}}".to_owned())].prop_map(Err),
        ], 0..12),
        cuts in prop::collection::vec(0..4_000_usize, 0..4),
    ) {
        let (pieces, whole) = (Told::by("claude"), Told::by("claude"));
        let text: String = lines.iter().map(|line| match line {
            Ok(size) => whole.answered(*size),
            Err(other) => format!("{}\n", other.replace(['\n', '\r'], " ")),
        }).collect();
        for told in [&pieces, &whole] {
            told.says(20_000);
            told.status("in_progress");
        }
        let mut at = 0;
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < text.len()).collect();
        cuts.sort_unstable();
        for cut in cuts.into_iter().chain([text.len()]) {
            let bytes = text.as_bytes().get(at..cut).unwrap();
            OpenOptions::new().append(true).open(&pieces.file).unwrap().write_all(bytes).unwrap();
            at = cut;
            pieces.stops();
        }
        whole.write(&whole.file, &text);
        whole.stops();
        prop_assert_eq!(pieces.taken(), whole.taken());
    }
}
