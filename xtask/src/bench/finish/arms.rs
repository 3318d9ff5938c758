//! The arms of the benchmark: what is put around the same model, on the same plans.

use std::path::Path;

use super::PlayedPlan;
use super::draws::Draw;
use super::harness::{Harness, Judge, Nothing, OwnList, PlanFileLoop};
use super::model::{Belief, RunCost, SimulatedModel, work};
use super::profile::{Profile, TURN};
use super::real::{ConnectedConversation, PunchProject, PunchSetup};
use super::runner;
use super::transcript::Transcript;
use super::world::{self, TaskWorld};
use crate::bench::tokenizer::tokens;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    Default,
    Nothing,
    OwnList,
    Judge,
    NamingJudge,
    FreshContext,
    Checks,
    Evidence,
    Run,
}

impl Arm {
    pub const ALL: [Self; 9] = [
        Self::Default,
        Self::Nothing,
        Self::OwnList,
        Self::Judge,
        Self::NamingJudge,
        Self::FreshContext,
        Self::Checks,
        Self::Evidence,
        Self::Run,
    ];

    /// The word by which an option names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Nothing => "nothing",
            Self::OwnList => "own-list",
            Self::Judge => "judge",
            Self::NamingJudge => "naming-judge",
            Self::FreshContext => "fresh-context",
            Self::Checks => "checks",
            Self::Evidence => "evidence",
            Self::Run => "run",
        }
    }

    pub const fn title(self) -> &'static str {
        match self {
            Self::Default => "punch, as installed",
            Self::Nothing => "nothing",
            Self::OwnList => "the agent's own list",
            Self::Judge => "goal judge",
            Self::NamingJudge => "goal judge that names",
            Self::FreshContext => "fresh-context loop",
            Self::Checks => "punch hooks with checks",
            Self::Evidence => "punch hooks with evidence",
            Self::Run => "punch run",
        }
    }

    /// The real program takes part.
    pub const fn is_real(self) -> bool {
        matches!(self, Self::Default | Self::Checks | Self::Evidence | Self::Run)
    }

    /// Plays one plan to its end in a folder of its own.
    pub fn play(self, punch: &Path, folder: &Path, play: &PlayedPlan) -> Result<ArmOutcome, String> {
        let profile = &play.profile;
        let world = TaskWorld::new(folder.join("project"), play.seed, play.todos, profile)?;
        let place = || PunchProject::new(punch, &world.folder, folder.join("home"));
        let connected = |setup| ConnectedConversation::new(place()?, setup, play.todos);
        let one = |harness: &mut dyn Harness| match play.is_printed {
            true => one_conversation(&world, profile, &mut Transcript { harness }),
            false => one_conversation(&world, profile, harness),
        };
        match self {
            Self::Nothing => one(&mut Nothing),
            Self::OwnList => one(&mut OwnList::default()),
            Self::Judge => one(&mut Judge::default()),
            Self::NamingJudge => one(&mut Judge::naming()),
            Self::FreshContext => fresh_contexts(&world, profile),
            Self::Default => one(&mut connected(PunchSetup::Default)?),
            Self::Checks => one(&mut connected(PunchSetup::Checks)?),
            Self::Evidence => one(&mut connected(PunchSetup::Evidence)?),
            Self::Run => runner::play(&world, profile, &place()?),
        }
    }
}

/// How one plan ended.
#[derive(Clone, Debug)]
pub struct ArmOutcome {
    /// Share of the todos that an agent can do whose work is true.
    pub share: f64,
    /// All of them are.
    pub whole: bool,
    /// Todos that are called done and are not.
    pub falsely: usize,
    pub tokens: usize,
    /// Tokens that exist only because of the harness.
    pub own: usize,
    pub halted: bool,
    /// Why the agent was allowed to stop, where that is recorded.
    pub reason: Option<String>,
}

impl ArmOutcome {
    pub fn of(world: &TaskWorld, called_done: &[bool], tokens: usize, own: usize, halted: bool) -> Self {
        let is_true: Vec<bool> = (0..world.tasks.len()).map(|todo| world.is_true(todo)).collect();
        let done = is_true.iter().filter(|is_true| **is_true).count();
        let falsely = called_done.iter().zip(&is_true).filter(|(called, is_true)| **called && !**is_true).count();
        let doable = world.doable();
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let share = if doable == 0 { 1.0 } else { done as f64 / doable as f64 };
        Self { share, whole: done == doable, falsely, tokens, own, halted, reason: None }
    }
}

fn one_conversation(world: &TaskWorld, profile: &Profile, harness: &mut dyn Harness) -> Result<ArmOutcome, String> {
    let mut model = SimulatedModel::told(world, profile);
    work(&mut model, harness)?;
    let called_done = harness.called_done(&model)?;
    let outcome = ArmOutcome::of(world, &called_done, model.spent.tokens, harness.own_tokens(), model.spent.halted);
    Ok(ArmOutcome { reason: harness.end_reason(), ..outcome })
}

/// The plan file of a fresh-context loop. Ticks hardly change its size.
fn plan_file(todos: usize) -> String {
    (0..todos).map(|todo| format!("- [ ] {}\n", world::content(todo))).collect()
}

/// Iterations of a fresh-context loop.
const ITERATIONS: u32 = 50;

/// A loop that starts the agent again with a fresh context and a plan file, until it promises that everything is done.
/// A model that stops early promises it falsely as often as it calls a todo done that is not.
fn fresh_contexts(world: &TaskWorld, profile: &Profile) -> Result<ArmOutcome, String> {
    let mut beliefs = vec![Belief::Open; world.tasks.len()];
    let mut spent = RunCost::default();
    let (mut own, text) = (0, tokens(&plan_file(world.tasks.len())));
    for iteration in 0..ITERATIONS {
        // It reads the plan and gets to know the code, in every iteration but the first. That turn is work, as in the
        // conversations of `punch run`; the text of the plan file is the loop's own.
        if iteration > 0 {
            (spent.tokens, spent.turns, own) = (spent.tokens + TURN + text, spent.turns + 1, own + text);
        }
        let mut model = SimulatedModel::new(world, profile, beliefs, spent);
        model.conversation = iteration;
        work(&mut model, &mut PlanFileLoop)?;
        spent = model.spent;
        let finished = model.open().is_empty();
        // The file knows what was ticked and what waits for the user, and nothing else.
        let kept = |belief: &Belief| match belief {
            Belief::Done { ticked: true } | Belief::Waiting => *belief,
            _ => Belief::Open,
        };
        let called_done = PlanFileLoop.called_done(&model)?;
        beliefs = model.beliefs.iter().map(kept).collect();
        if finished || world.draws.hits(Draw::Promise, 0, iteration, profile.falsely) || iteration + 1 == ITERATIONS {
            return Ok(ArmOutcome::of(world, &called_done, spent.tokens, own, spent.halted));
        }
    }
    Err("a loop of no iterations".to_owned())
}
