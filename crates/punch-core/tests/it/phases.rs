//! The phases dialect against recorded answers, its rules and arbitrary input.

#![expect(clippy::unwrap_used, reason = "tests")]

mod properties;
mod rules;
mod texts;

use punch_core::Status;
use punch_core::dialect::phases::{
    CommandOutput, CommandReply, PhaseTask, TaskPhase, answer_json, coerce, markdown_answer, parse_ops, parse_params,
    phases_from_json, rejected_json, run, said_json, step,
};
use serde_json::{Value, json};

const OPS: &str = include_str!("../vectors/oh-my-pi-ops.jsonl");
const MARKDOWN: &str = include_str!("../vectors/oh-my-pi-markdown.jsonl");
const COMMANDS: &str = include_str!("../vectors/oh-my-pi-commands.jsonl");

/// Strings in the files hold U+2028 and U+0085, so only `\n` ends a line.
fn cases(file: &str) -> impl Iterator<Item = Value> {
    file.split('\n').filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap())
}

fn initial(case: &Value) -> Vec<TaskPhase> {
    case.get("initial").cloned().map(list).unwrap_or_default()
}

/// Compares the printed form, because the order of the fields is part of the answer.
fn check(case: &Value, step: usize, input: &Value, answer: &Value, expected: &Value, failures: &mut Vec<String>) {
    let printed = |value: &Value| serde_json::to_string(value).unwrap();
    if printed(answer) == printed(expected) {
        return;
    }
    let mut lines = vec![format!("case {} step {step}: {input}", case["id"])];
    for (key, want) in expected.as_object().unwrap() {
        if answer[key] != *want {
            lines.push(format!("  {key}:\n    got  {}\n    want {want}", answer[key]));
        }
    }
    if lines.len() == 1 {
        lines.push(format!("  order of fields:\n    got  {answer}\n    want {expected}"));
    }
    failures.push(lines.join("\n"));
}

fn report(count: usize, minimum: usize, failures: &[String]) {
    assert!(failures.is_empty(), "{} of {count} cases differ\n{}", failures.len(), failures.join("\n"));
    assert!(count >= minimum, "only {count} cases were read");
}

fn list(value: Value) -> Vec<TaskPhase> {
    phases_from_json(&value).unwrap()
}

/// One phase `A` with pending tasks.
fn pending(contents: &[&str]) -> Vec<TaskPhase> {
    let tasks = contents.iter().map(|content| PhaseTask::new(*content, Status::Pending)).collect();
    vec![TaskPhase { tasks, ..TaskPhase::new("A") }]
}

fn say(phases: &[TaskPhase], line: &str) -> CommandOutput {
    match run(phases, line) {
        CommandReply::Said(said) => said,
        CommandReply::Effect(effect) => panic!("{effect:?}"),
    }
}

#[test]
fn every_recorded_batch_gets_its_recorded_answer() {
    let mut failures = Vec::new();
    let mut count = 0;
    for case in cases(OPS) {
        count += 1;
        let mut phases = initial(&case);
        for (i, batch) in case["batches"].as_array().unwrap().iter().enumerate() {
            let answer = match parse_ops(batch) {
                Err(_) => rejected_json(&phases),
                Ok(ops) => {
                    let answer = step(&phases, &ops);
                    let json = answer_json(&answer);
                    phases = answer.phases;
                    json
                }
            };
            check(&case, i, batch, &answer, &case["expected"][i], &mut failures);
        }
    }
    report(count, 116, &failures);
}

#[test]
fn every_recorded_text_is_read_and_written_as_recorded() {
    let mut failures = Vec::new();
    let mut count = 0;
    for case in cases(MARKDOWN) {
        count += 1;
        let answer = markdown_answer(case["kind"].as_str().unwrap(), &case["input"]).unwrap();
        check(&case, 0, &case["input"], &answer, &case["expected"], &mut failures);
    }
    report(count, 62, &failures);
}

#[test]
fn every_recorded_command_says_and_does_what_was_recorded() {
    let mut failures = Vec::new();
    let mut count = 0;
    for case in cases(COMMANDS) {
        count += 1;
        let mut phases = initial(&case);
        for (i, command) in case["commands"].as_array().unwrap().iter().enumerate() {
            let said = say(&phases, command.as_str().unwrap());
            check(&case, i, command, &said_json(&said), &case["expected"][i], &mut failures);
            phases = said.phases;
        }
    }
    report(count, 24, &failures);
}

#[test]
fn coercion_leaves_every_recorded_call_as_it_is() {
    for case in cases(OPS) {
        for batch in case["batches"].as_array().unwrap() {
            let call = json!({"ops": batch});
            assert_eq!(parse_params(&coerce(call.clone())), parse_params(&call), "case {}", case["id"]);
        }
    }
}
