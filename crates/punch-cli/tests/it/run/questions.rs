//! Questions of agents in a run: stored, answered once by whoever comes first, wherever the user is, and not lost when
//! the runner or an answerer is killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use punch_engine::{AnswerOutcome, Engine, NotTheUser, QuestionReply};
use punch_store::{OpenMode, PlanId, QuestionFilter, QuestionState, SqliteStore};
use rustix::process::Signal;
use serde_json::json;

use super::Stage;
use super::talks::talker;
use super::terminal::Watched;
use crate::world::finished;

fn engine(store: &Path) -> Engine {
    let store = SqliteStore::open(store, OpenMode::Existing).unwrap();
    let now = || i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    Engine::new(Box::new(store), Box::new(now))
}

/// Not a test but the program of the tests below, which start it on a terminal of its own: it answers the newest question
/// if it may, and writes what came of it to a file. There is no verb that does this.
#[test]
fn a_program_that_answers() {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(store), Some(outcome)) = (variable("ANSWER_STORE"), variable("ANSWER_OUTCOME")) else { return };
    let answer = match std::env::var("ANSWER").as_deref() {
        Ok("allow") => QuestionReply::Allow,
        Ok("refuse") => QuestionReply::Refuse,
        given => QuestionReply::Option(given.unwrap_or_default().to_owned()),
    };
    let (engine, plan) = (engine(&store), PlanId(1));
    let marks = ["CLAUDECODE", "PUNCH_SESSION_FILE", "PUNCH_ASSIGNED"];
    let came = match engine.user_at_terminal(plan, &marks, None).unwrap() {
        Err(NotTheUser::Marked { variable, .. }) => format!("marked {variable}"),
        Err(doubt) => doubt.to_string(),
        Ok(user) => {
            let question = engine.questions(plan, QuestionFilter::All, 1).unwrap().remove(0);
            match engine.answer(plan, question.id, &answer, None, &user).unwrap() {
                AnswerOutcome::Accepted => "accepted".to_owned(),
                AnswerOutcome::TooLate(_) => "too late".to_owned(),
                other => format!("{other:?}"),
            }
        }
    };
    fs::write(&outcome, came).unwrap();
}

/// The program that answers, with the file for its outcome.
fn answerer(stage: &Stage, name: &str, answer: &str) -> (Command, PathBuf) {
    let outcome = stage.world.root.join(format!("outcome-{name}"));
    let mut command = stage.world.program(std::env::current_exe().unwrap().to_str().unwrap());
    command.args(["--exact", "run::questions::a_program_that_answers", "--nocapture"]);
    command.env("ANSWER_STORE", stage.world.store()).env("ANSWER_OUTCOME", &outcome).env("ANSWER", answer);
    (command, outcome)
}

/// Answers on a terminal; what came of it.
fn answered(stage: &Stage, name: &str, answer: &str) -> String {
    let (command, outcome) = answerer(stage, name, answer);
    Watched::start(command).ends();
    fs::read_to_string(outcome).unwrap_or_default()
}

/// A run without a terminal whose agent asks something.
fn asking(stage: &Stage) -> Child {
    let run = talker(stage, &["--permission", "ask"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    stage.wait_for("the question", || waits(stage));
    run
}

fn waits(stage: &Stage) -> bool {
    let seats = stage.world.json(&["runs", "show"])["seats"].clone();
    seats[0]["stage"] == "asking"
}

fn completes(stage: &Stage, run: Child, given: &str) {
    let run = finished(run.wait_with_output().unwrap());
    assert_eq!(run.exit, Some(0), "{}", run.render());
    let answers = stage.trace("answers");
    assert!(answers.len() == 1 && answers[0].contains(given), "{answers:?}");
    assert_eq!((stage.status("T-1").as_str(), stage.alive().len()), ("completed", 0));
}

#[test]
fn a_question_is_answered_from_another_terminal() {
    for (answer, given) in [("allow", "\"allow\""), ("deny", "\"deny\"")] {
        let stage = Stage::new();
        stage.add(&["talk ask"]);
        let run = asking(&stage);
        let engine = engine(&stage.world.store());
        let question = engine.questions(PlanId(1), QuestionFilter::Open, 9).unwrap().remove(0);
        assert_eq!((question.text.as_str(), question.seat), ("Bash\ncommand: ls", Some((1, 1))));
        // The agent waits, and the plan is as before: one thing needs the user, and the todo is still being worked on.
        let items = stage.world.json(&["inbox"])["items"].clone();
        assert_eq!((items.as_array().unwrap().len(), &items[0]["kind"]), (1, &json!("question")), "{items}");
        assert_eq!((stage.status("T-1").as_str(), stage.todo("T-1").get("hold")), ("in_progress", None));
        assert_eq!(answered(&stage, "other", "no such option"), "NotOffered");
        assert_eq!(answered(&stage, "user", answer), "accepted");
        completes(&stage, run, given);
        assert_eq!(answered(&stage, "late", "refuse"), "too late");
        let shown = stage.world.ok(&["runs", "show"]);
        assert!(shown.contains("[1] asks about T-1: Bash: ls"), "{shown}");
    }
}

#[test]
fn of_racing_answers_one_counts_and_answerers_may_be_killed() {
    let stage = Stage::new();
    stage.add(&["talk ask"]);
    let run = asking(&stage);
    let started: Vec<(Watched, PathBuf, usize)> = (0..6)
        .map(|n| {
            let answer = if n % 2 == 0 { "allow" } else { "refuse" };
            let (command, outcome) = answerer(&stage, &n.to_string(), answer);
            (Watched::start(command), outcome, n)
        })
        .collect();
    let mut won = Vec::new();
    for (answerer, outcome, n) in started {
        if n == 0 {
            // Wherever it is: before its answer, in it, or behind it.
            answerer.signal(Signal::KILL);
        }
        answerer.ends();
        if fs::read_to_string(outcome).unwrap_or_default() == "accepted" {
            won.push(n);
        }
    }
    let engine = engine(&stage.world.store());
    let question = engine.question(PlanId(1), 1).unwrap().unwrap();
    let QuestionState::Answered(answer) = question.state else { panic!("{question:?}") };
    // The one that was killed may have answered without being able to say so.
    assert!(won.len() == 1 || (won.is_empty() && answer.answer == "allow"), "{won:?}");
    let given = if answer.answer == "allow" { "\"allow\"" } else { "\"deny\"" };
    if let [n] = won[..] {
        assert_eq!(answer.answer, if n % 2 == 0 { "allow" } else { "refuse" });
    }
    completes(&stage, run, given);
}

#[test]
fn an_answer_that_is_given_after_the_runner_was_killed_reaches_the_agent_of_the_resumed_run() {
    let stage = Stage::new();
    stage.add(&["talk ask"]);
    let mut run = asking(&stage);
    run.kill().unwrap();
    run.wait().unwrap();
    stage.all_gone();
    assert_eq!((stage.status("T-1").as_str(), stage.todo("T-1").get("hold")), ("in_progress", None));
    assert_eq!(answered(&stage, "meanwhile", "allow"), "accepted");
    let run = talker(&stage, &["--permission", "ask"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    completes(&stage, run, "\"allow\"");
    let engine = engine(&stage.world.store());
    assert_eq!(engine.questions(PlanId(1), QuestionFilter::All, 9).unwrap().len(), 1, "asked once");
}

#[test]
fn a_question_that_waits_when_the_runner_is_killed_is_asked_again() {
    let stage = Stage::new();
    stage.add(&["talk ask"]);
    let mut run = asking(&stage);
    run.kill().unwrap();
    run.wait().unwrap();
    stage.all_gone();
    let engine = engine(&stage.world.store());
    let run = talker(&stage, &["--permission", "ask"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    stage.wait_for("the new question in place of the old one", || {
        let open = engine.questions(PlanId(1), QuestionFilter::Open, 9).unwrap();
        open.iter().map(|question| question.id).collect::<Vec<_>>() == [2]
    });
    assert_eq!(answered(&stage, "user", "refuse"), "accepted");
    completes(&stage, run, "\"deny\"");
}

#[test]
fn only_a_terminal_without_an_agent_above_it_answers() {
    let stage = Stage::new();
    stage.add(&["talk ask"]);
    let run = asking(&stage);
    // Not a terminal.
    let (mut command, outcome) = answerer(&stage, "pipe", "allow");
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(fs::read_to_string(&outcome).unwrap().contains("not a terminal"));
    // Below an agent that hides its mark from what it starts.
    let (command, outcome) = answerer(&stage, "below", "allow");
    let mut words = vec!["unset CLAUDECODE; \"$@\"; exit $?".to_owned(), "sh".to_owned()];
    words.push(command.get_program().to_str().unwrap().to_owned());
    words.extend(command.get_args().map(|word| word.to_str().unwrap().to_owned()));
    let mut agent = stage.world.program("sh");
    agent.arg("-c").args(words).env("CLAUDECODE", "1");
    agent.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Watched::start(agent).ends();
    if cfg!(target_os = "linux") {
        assert_eq!(fs::read_to_string(&outcome).unwrap(), "marked CLAUDECODE");
    }
    assert!(waits(&stage));
    assert_eq!(answered(&stage, "user", "allow"), "accepted");
    completes(&stage, run, "\"allow\"");
}

#[test]
fn a_todo_that_the_user_cancels_while_its_agent_asks_ends_the_agent_and_its_question() {
    let stage = Stage::new();
    stage.add(&["talk ask", "talk easily"]);
    let run = asking(&stage);
    stage.world.ok(&["cancel", "T-1"]);
    let run = finished(run.wait_with_output().unwrap());
    assert_eq!(run.exit, Some(0), "{}", run.render());
    assert_eq!((stage.status("T-1").as_str(), stage.status("T-2").as_str()), ("cancelled", "completed"));
    assert_eq!(answered(&stage, "late", "allow"), "too late");
    // What it may have heard is that it is to end.
    assert!(stage.trace("answers").iter().all(|line| !line.contains("allow")), "{:?}", stage.trace("answers"));
    assert_eq!(stage.alive(), [0; 0]);
}

#[test]
fn a_question_without_an_answer_is_given_up_after_a_while() {
    let stage = Stage::new();
    stage.add(&["talk ask", "talk easily"]);
    let mut command = talker(&stage, &["--permission", "ask"]);
    let run = finished(command.env("PUNCH_RUN_ASK_WAIT", "300ms").output().unwrap());
    assert_eq!(run.exit, Some(1), "{}", run.render());
    assert_eq!((stage.todo("T-1")["hold"]["kind"].as_str(), stage.status("T-2")), (Some("human"), "completed".into()));
    assert_eq!(answered(&stage, "late", "allow"), "too late");
    assert_eq!(stage.alive(), [0; 0]);
}
