//! Compares what must hold after a run and after a scenario with what does.

use std::fmt::Write;

use punch_testkit::scripted::{Pattern, ScriptReport};
use serde_json::Value;

use super::hosts::TrialAgent;
use super::scenario::{AgentScenario, ExpectedTodo, ScenarioRun};
use super::trial_folders::TrialFolders;

/// How a run ended.
pub struct TrialEnd {
    /// What the model has to say.
    pub report: ScriptReport,
    /// The agent's exit code, or why there is none.
    pub exit: Result<i32, String>,
    /// All that the agent printed.
    pub output: String,
}

/// What is wrong with a run.
pub fn of_run(host: TrialAgent, run: &ScenarioRun, ended: &TrialEnd) -> Vec<String> {
    let mut out = Vec::new();
    match &ended.exit {
        Ok(code) if *code == run.exit => {}
        Ok(code) => out.push(format!("the agent ended with {code}, not {}", run.exit)),
        Err(cause) => out.push(format!("the agent: {cause}")),
    }
    out.extend(ended.report.failures.iter().cloned());
    for (track, wanted) in &run.answers {
        let given = ended.report.played.get(track).copied().unwrap_or_default();
        if given != *wanted {
            out.push(format!("track {track}: {given} answers, not {wanted}"));
        }
    }
    let shown = run.shown.get(host.name()).map_or(&[][..], Vec::as_slice);
    for pattern in shown.iter().filter(|pattern| !pattern.is_in(&ended.output)) {
        out.push(format!("the person was not shown {}", pattern.words()));
    }
    // Odd things are worth a look only when something is wrong.
    if !out.is_empty() {
        out.extend(ended.report.warnings.iter().map(|warning| format!("note: {warning}")));
    }
    out
}

/// What is wrong with the todos.
pub fn of_todos(wanted: &[ExpectedTodo], place: &TrialFolders) -> Option<String> {
    match place.ask(&["list", "--all"]) {
        Ok(list) => compare(wanted, &list),
        Err(cause) => Some(cause),
    }
}

/// What is wrong with the plan and the last decision.
pub fn of_plan(scenario: &AgentScenario, place: &TrialFolders) -> Vec<String> {
    let mut out: Vec<String> = scenario.todos.as_ref().and_then(|wanted| of_todos(wanted, place)).into_iter().collect();
    if scenario.why_stop.is_empty() && scenario.why_stop_lacks.is_empty() {
        return out;
    }
    match place.ask(&["why-stop"]) {
        Ok(said) => {
            let said = said.to_string();
            let lines = |patterns: &[Pattern], wanted: bool| -> Vec<String> {
                let wrong = patterns.iter().filter(|pattern| pattern.is_in(&said) != wanted);
                wrong.map(|pattern| pattern.words()).collect()
            };
            out.extend(
                lines(&scenario.why_stop, true).iter().map(|words| format!("why-stop does not say {words}: {said}")),
            );
            out.extend(
                lines(&scenario.why_stop_lacks, false).iter().map(|words| format!("why-stop says {words}: {said}")),
            );
        }
        Err(cause) => out.push(cause),
    }
    out
}

fn compare(wanted: &[ExpectedTodo], list: &Value) -> Option<String> {
    let todos = list["todos"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |todo: &Value, key: &str| todo[key].as_str().unwrap_or_default().to_owned();
    let row = |todo: &Value| [text(todo, "content"), text(todo, "status"), text(todo, "id")];
    let found: Vec<[String; 3]> = todos.iter().map(row).collect();
    let wanted: Vec<[&str; 3]> = wanted.iter().map(parts).collect();
    let fits = |([content, status, id], [wanted, statuses, name]): (&[String; 3], &[&str; 3])| {
        content == wanted && statuses.split('|').any(|wanted| wanted == status) && (name.is_empty() || name == id)
    };
    if found.len() == wanted.len() && found.iter().zip(&wanted).all(fits) {
        return None;
    }
    let mut out = "the plan is not as it should be:".to_owned();
    let found: Vec<[&str; 3]> = found.iter().map(|row| row.each_ref().map(String::as_str)).collect();
    for (name, todos) in [("found", found), ("wanted", wanted)] {
        let _ = write!(out, "\n  {name}");
        for [content, status, id] in todos {
            let _ = write!(out, "\n    {status:<12} {id:<5} {content}");
        }
    }
    Some(out)
}

fn parts(row: &ExpectedTodo) -> [&str; 3] {
    match row {
        ExpectedTodo::Unnamed(content, status) => [content, status, ""],
        ExpectedTodo::Named(content, status, id) => [content, status, id],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(value: Value) -> ScenarioRun {
        serde_json::from_value(value).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_run_is_judged_by_exit_code_answers_and_what_was_shown() {
        let run =
            run(json!({"prompts": ["x"], "model": {}, "answers": {"main": 2}, "shown": {"qwen": ["kept going"]}}));
        let mut ended = TrialEnd { report: ScriptReport::default(), exit: Ok(0), output: "kept going".to_owned() };
        ended.report.played.insert("main".to_owned(), 2);
        let host = TrialAgent::parse("qwen").unwrap_or_else(|| panic!("no qwen"));
        assert_eq!(of_run(host, &run, &ended), [""; 0]);
        ended = TrialEnd { report: ScriptReport::default(), exit: Ok(1), output: String::new() };
        let wrong =
            ["the agent ended with 1, not 0", "track main: 0 answers, not 2", "the person was not shown `kept going`"];
        assert_eq!(of_run(host, &run, &ended), wrong);
    }

    #[test]
    fn a_plan_is_compared_whole() {
        let list = json!({"todos": [{"content": "a", "status": "pending", "id": "T-1"}]});
        let compared = |rows: Value| {
            let rows: Vec<ExpectedTodo> = serde_json::from_value(rows).unwrap_or_else(|error| panic!("{error}"));
            compare(&rows, &list)
        };
        for fits in [json!([["a", "pending"]]), json!([["a", "completed|pending"]]), json!([["a", "pending", "T-1"]])] {
            assert_eq!(compared(fits), None);
        }
        for wrong in [json!([]), json!([["a", "completed"]]), json!([["a", "pending", "T-2"]])] {
            assert!(compared(wrong).is_some());
        }
    }
}
