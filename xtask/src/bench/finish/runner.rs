//! The arm `punch run`: the runner gives each todo to a program that behaves like the model, and checks the result.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::arms::ArmOutcome;
use super::draws::Draw;
use super::model::LONGEST;
use super::profile::{Profile, TURN, TURNS_PER_REPAIR};
use super::real::PunchProject;
use super::world::{self, TaskWorld};
use crate::agents::child::{self, ProgramGroup};
use crate::bench::tokenizer::tokens;

/// The file that tells the agent of a run who it is.
const AGENT: &str = "agent.json";
/// A run of a few seconds that takes longer does not halt.
const MOST_TIME: Duration = Duration::from_secs(300);
/// What the agents of a run have spent, a line for each conversation.
const JOURNAL: &str = "spent.jsonl";

pub fn play(world: &TaskWorld, profile: &Profile, place: &PunchProject) -> Result<ArmOutcome, String> {
    let todos = world.tasks.len();
    place.plan_with_checks(todos)?;
    // A pause after a crash changes no outcome, only the time that this takes.
    place.user(&["config", "set", "run.backoff", "10ms"])?;
    let about = json!({"seed": world.draws.seed, "todos": todos, "folder": world.folder, "profile": [
        profile.stop, profile.falsely, profile.remember, profile.untick, profile.user, profile.repair, profile.check,
        profile.reveal]});
    world::write(&place.home.join(AGENT), &about.to_string())?;
    world::write(&place.home.join(JOURNAL), "")?;
    let xtask = std::env::current_exe().map_err(|cause| cause.to_string())?;
    let agent = format!("exec:{} bench finish-agent {}", xtask.display(), place.home.display());
    // A run with todos that failed ends with another exit code.
    let mut run = std::process::Command::new(&place.punch);
    run.args(["run", "--agent", &agent]).current_dir(&place.folder).env_clear().env("HOME", &place.home);
    run.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let errors = place.home.join("run.err");
    run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(child::appended(&errors)?);
    let ended = ProgramGroup::start(&mut run)?.wait(MOST_TIME);
    if let Ok(code) = ended
        && !matches!(code, 0 | 1)
    {
        let said = fs::read_to_string(&errors).unwrap_or_default();
        return Err(format!("punch run ended with exit code {code}: {said}"));
    }
    let journal = fs::read_to_string(place.home.join(JOURNAL)).map_err(|cause| cause.to_string())?;
    let rows: Vec<Value> = journal.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let own = rows.iter().filter_map(|row| row["prompt"].as_str()).map(tokens).sum();
    let turns = rows.iter().filter_map(|row| row["turns"].as_u64()).sum::<u64>();
    let halted = ended.is_ok() && turns < u64::from(LONGEST);
    let turns = usize::try_from(turns).unwrap_or_default();
    Ok(ArmOutcome::of(world, &place.completed(todos)?, turns * TURN + own, own, halted))
}

/// The agent of a run: reads the prompt, works on the one todo that it names, and reports by its exit code.
pub fn agent(home: &Path) -> Result<(), String> {
    let about = fs::read_to_string(home.join(AGENT)).map_err(|cause| cause.to_string())?;
    let about: Value = serde_json::from_str(&about).map_err(|cause| cause.to_string())?;
    let values: Vec<f64> = about["profile"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let [stop, falsely, remember, untick, user, repair, check, reveal] = values[..] else {
        return Err(format!("{AGENT} has no profile"));
    };
    let profile = Profile { name: "", stop, falsely, remember, untick, user, repair, check, reveal };
    let todos = about["todos"].as_u64().and_then(|todos| usize::try_from(todos).ok()).unwrap_or_default();
    let folder = about["folder"].as_str().unwrap_or_default();
    let world = TaskWorld::new(folder.into(), about["seed"].as_u64().unwrap_or_default(), todos, &profile)?;
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt).map_err(|cause| cause.to_string())?;
    let todo = (0..todos).find(|todo| prompt.contains(&world::name(*todo))).ok_or("the prompt names no todo")?;
    // Every conversation begins with a turn that gets to know the code.
    let turns = 1 + conversation(&world, &profile, todo, prompt.contains("<failure>"))?;
    // Whoever started the run counts the tokens: reading the vocabulary takes longer than everything else here.
    let row = json!({"turns": turns, "prompt": prompt});
    let journal = fs::OpenOptions::new().append(true).open(home.join(JOURNAL));
    journal.and_then(|mut file| writeln!(file, "{row}")).map_err(|cause| cause.to_string())?;
    if world.tasks[todo].needs_user { Err("only the user can do this".to_owned()) } else { Ok(()) }
}

/// Turns of one conversation about one todo.
fn conversation(world: &TaskWorld, profile: &Profile, todo: usize, knows_failure: bool) -> Result<u32, String> {
    let task = &world.tasks[todo];
    if task.needs_user {
        return Ok(1);
    }
    let attempts = world.folder.join(format!("part{todo:02}.txt"));
    let tried = fs::read_to_string(&attempts).map_or(0, |text| text.trim().parse::<u32>().unwrap_or_default());
    world.change(todo, tried + 1)?;
    let (turns, is_true) = match (tried, knows_failure) {
        (0, _) => (task.turns, !world.draws.hits(Draw::False, todo, 0, profile.falsely)),
        (_, true) => (TURNS_PER_REPAIR, world.draws.hits(Draw::Repair, todo, tried, profile.repair)),
        // Without knowing what failed it looks at its work and finds it good.
        (_, false) => (1, false),
    };
    if is_true {
        world.make_true(todo)?;
    }
    Ok(turns)
}
