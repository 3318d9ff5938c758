//! The second table: a conversation is killed when half of the plan is done, and a new one is told to continue. How many
//! turns does it take until the first useful change, and which work is done twice?

use std::path::Path;

use serde_json::json;

use super::harness::Harness;
use super::model::{Belief, SimulatedModel};
use super::profile::{MIDDLE, Profile};
use super::reading::read;
use super::real::{ConnectedConversation, PunchProject, PunchSetup};
use super::world::{self, TaskWorld};
use super::{TODOS, scratch};

pub struct ResumeResult {
    pub title: &'static str,
    /// Turns up to and including the first that changes what is missing.
    pub turns: u32,
    /// Todos that are done already and are worked on again.
    pub again: usize,
    /// How the figure came about.
    pub how: String,
}

/// A model that never errs: what is measured is what it gets to read.
const ABLE: Profile = Profile { stop: 0.0, falsely: 0.0, untick: 0.0, user: 0.0, ..MIDDLE };

pub fn measure(punch: &Path) -> Result<Vec<ResumeResult>, String> {
    let half = u32::try_from(TODOS / 2).unwrap_or_default();
    Ok(vec![
        ResumeResult {
            title: "nothing, or a list that ended with the conversation",
            turns: 1 + half + 1 + 1,
            again: 0,
            how: "rule: reads the request, then one result per turn until one is missing, then works".to_owned(),
        },
        ResumeResult {
            title: "a plan file with ticks",
            turns: 1 + 1 + 1,
            again: 0,
            how: "rule: reads the file, looks at the todo that was begun, then works".to_owned(),
        },
        connected(punch, PunchSetup::Checks, "punch, the agent's own list")?,
        connected(punch, PunchSetup::Default, "punch, punch's tools")?,
    ])
}

/// Works through half of a plan, dies without a word, and begins again.
fn connected(punch: &Path, setup: PunchSetup, title: &'static str) -> Result<ResumeResult, String> {
    let folder = scratch()?;
    let world = TaskWorld::new(folder.path().join("project"), 1, TODOS, &ABLE)?;
    let place = PunchProject::new(punch, &world.folder, folder.path().join("home"))?;
    let mut connected = ConnectedConversation::new(place, setup, TODOS)?;
    let mut model = SimulatedModel::told(&world, &ABLE);
    connected.begin(&model)?;
    for todo in 0..TODOS / 2 {
        model.current = Some(todo);
        connected.start(&model, todo)?;
        connected.edited(&world.change(todo, 1)?)?;
        world.make_true(todo)?;
        model.beliefs[todo] = Belief::Done { ticked: true };
        model.current = Some(todo + 1);
        connected.tick(&model, todo)?;
    }
    connected.edited(&world.change(TODOS / 2, 1)?)?;

    let mut connected = connected.again("second");
    let mut text = connected.open("Continue.")?;
    let mut commands = Vec::new();
    let mut looks = ["list"].iter();
    loop {
        let open: Vec<usize> = read(&text, TODOS).sayings.into_iter().map(|(todo, _)| todo).collect();
        // A list says which are open; a single name is only an offer that says where to look.
        let knows = open.len() > 1;
        match looks.next() {
            _ if knows => {
                let again = open.iter().filter(|todo| world.is_true(**todo)).count();
                // As with a plan file, it looks at the todo that was begun before it works.
                let turns = u32::try_from(commands.len()).unwrap_or(u32::MAX).saturating_add(2);
                return Ok(ResumeResult { title, turns, again, how: how(&commands) });
            }
            Some(word) => {
                text = connected.shell(&[word])?;
                commands.push(*word);
            }
            None => return Err(format!("{title}: nothing says what is open: {text} {}", json!(world::content(0)))),
        }
    }
}

/// What the new conversation did, with the commands that it had to run before it knew what is open.
fn how(commands: &[&str]) -> String {
    let known = match commands {
        [] => "the hook puts the list before the new conversation; the model".to_owned(),
        _ => {
            let commands: Vec<String> = commands.iter().map(|word| format!("`punch {word}`")).collect();
            format!("the hook says that there is a list; the model runs {},", commands.join(", "))
        }
    };
    format!("measured: {known} looks at the todo that was begun, then works")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_the_model_runs_are_said() {
        assert!(how(&[]).contains("the hook puts the list before"));
        assert!(how(&["list"]).contains("the model runs `punch list`"));
    }
}
