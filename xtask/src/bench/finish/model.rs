//! The simulated model: it works through what it remembers, forgets, calls false work done, stops early, and does what the
//! texts it reads ask for. One conversation is one call of [`work`].

use std::collections::VecDeque;

use super::draws::Draw;
use super::harness::{Harness, TodoLine};
use super::profile::{COMPACTED, Profile, TURN, TURNS_PER_REPAIR, WINDOW};
use super::reading::{Saying, read};
use super::world::TaskWorld;

/// Turns after which a run counts as one that does not halt.
pub const LONGEST: u32 = 1_000;

/// What the model thinks of a todo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belief {
    Open,
    /// Lost in a compaction.
    Forgotten,
    /// Done; ticked off or not.
    Done {
        ticked: bool,
    },
    /// It needs the user.
    Waiting,
}

/// Something that a text made the model do before it takes the next todo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chore {
    Work(usize),
    Tick(usize),
    Repair(usize),
    Verify(usize),
    Check(usize),
    Hold(usize),
}

/// A model in one conversation.
pub struct SimulatedModel<'a> {
    pub world: &'a TaskWorld,
    pub profile: &'a Profile,
    pub beliefs: Vec<Belief>,
    pub current: Option<usize>,
    pub spent: RunCost,
    /// Which conversation about the same plan this is, so that its draws are not those of the one before.
    pub conversation: u32,
    context: usize,
    chores: VecDeque<Chore>,
    /// The id by which commands name a todo, once a text has said it.
    ids: Vec<Option<String>>,
    last_ticked: Option<usize>,
    held: Vec<bool>,
    knows_hold: bool,
    /// A text asked to run `punch verify` after the repair.
    verifies: bool,
    /// How often each todo was finished, repaired and checked, so that every time has a draw of its own.
    finished: Vec<u32>,
    repaired: Vec<u32>,
    checked: Vec<u32>,
    compactions: u32,
}

/// What a run has cost so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunCost {
    pub turns: u32,
    pub tokens: usize,
    pub halted: bool,
}

impl<'a> SimulatedModel<'a> {
    pub fn new(world: &'a TaskWorld, profile: &'a Profile, beliefs: Vec<Belief>, spent: RunCost) -> Self {
        let todos = world.tasks.len();
        Self {
            world,
            profile,
            beliefs,
            current: None,
            spent: RunCost { halted: true, ..spent },
            conversation: 0,
            context: 0,
            chores: VecDeque::new(),
            ids: vec![None; todos],
            last_ticked: None,
            held: vec![false; todos],
            knows_hold: false,
            verifies: false,
            finished: vec![0; todos],
            repaired: vec![0; todos],
            checked: vec![0; todos],
            compactions: 0,
        }
    }

    /// A model that knows the whole plan because the user has just given it.
    pub fn told(world: &'a TaskWorld, profile: &'a Profile) -> Self {
        Self::new(world, profile, vec![Belief::Open; world.tasks.len()], RunCost::default())
    }

    /// The list as the model would write it now: what it forgot is not in it.
    pub fn list(&self) -> Vec<TodoLine> {
        let row = |(todo, belief): (usize, &Belief)| match belief {
            Belief::Forgotten => None,
            Belief::Done { ticked: true } => Some(TodoLine { todo, status: "completed" }),
            _ if self.current == Some(todo) => Some(TodoLine { todo, status: "in_progress" }),
            _ => Some(TodoLine { todo, status: "pending" }),
        };
        self.beliefs.iter().enumerate().filter_map(row).collect()
    }

    /// Todos that the model would say it has not done.
    pub fn open(&self) -> Vec<usize> {
        let is_open = |todo: &usize| matches!(self.beliefs[*todo], Belief::Open | Belief::Forgotten);
        (0..self.beliefs.len()).filter(is_open).collect()
    }

    /// Takes in a text.
    fn hear(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let reading = read(text, self.beliefs.len());
        self.knows_hold |= reading.explains_hold;
        if reading.sayings.iter().any(|(_, saying)| *saying == Saying::Fails) {
            self.verifies = reading.asks_to_verify;
        }
        for (todo, id) in reading.ids {
            self.ids[todo] = Some(id);
        }
        // An answer that names a todo by an id that the model has not read before is about what it ticked last.
        let by_id = reading.by_id.into_iter().filter_map(|(id, saying)| {
            let known = self.ids.iter().position(|known| known.as_deref() == Some(&id));
            Some((known.or(self.last_ticked)?, saying))
        });
        let sayings: Vec<(usize, Saying)> = by_id.chain(reading.sayings).collect();
        for (todo, saying) in sayings {
            if self.beliefs[todo] == Belief::Forgotten {
                self.beliefs[todo] = Belief::Open;
            }
            let chore = match (saying, self.beliefs[todo]) {
                (Saying::Next, Belief::Open) => Chore::Work(todo),
                (Saying::Next, Belief::Done { .. }) => Chore::Tick(todo),
                (Saying::Next, Belief::Waiting) if self.knows_hold && !self.held[todo] => Chore::Hold(todo),
                (Saying::Fails, Belief::Done { .. }) => Chore::Repair(todo),
                (Saying::Verify, Belief::Done { .. }) => Chore::Verify(todo),
                (Saying::Unchecked, Belief::Done { .. }) => Chore::Check(todo),
                _ => continue,
            };
            // What a check says about a todo counts more than that it is next.
            self.chores.retain(|other| !matches!(other, Chore::Tick(same) if *same == todo));
            if !self.chores.iter().any(|other| other.todo() == todo) {
                self.chores.push_back(chore);
            }
        }
    }

    fn time(&self, todo: usize) -> u32 {
        self.conversation * 100 + self.finished[todo]
    }

    /// A turn: the context grows, and is compacted when it is full.
    fn turn(&mut self, harness: &mut dyn Harness) -> Result<(), String> {
        self.spent.turns += 1;
        self.add(TURN);
        if self.context > WINDOW {
            self.compact(harness)?;
        }
        Ok(())
    }

    fn add(&mut self, tokens: usize) {
        self.spent.tokens += tokens;
        self.context += tokens;
    }

    fn compact(&mut self, harness: &mut dyn Harness) -> Result<(), String> {
        self.context = COMPACTED;
        self.compactions += 1;
        self.knows_hold = false;
        self.chores.clear();
        for todo in 0..self.beliefs.len() {
            let forgets = !self.world.draws.hits(Draw::Remember, todo, self.compactions, self.profile.remember);
            if forgets && self.beliefs[todo] == Belief::Open && self.current != Some(todo) {
                self.beliefs[todo] = Belief::Forgotten;
            }
        }
        let text = harness.compacted(self)?;
        self.hear(&text);
        Ok(())
    }

    fn tick(&mut self, harness: &mut dyn Harness, todo: usize) -> Result<(), String> {
        self.beliefs[todo] = Belief::Done { ticked: true };
        self.last_ticked = Some(todo);
        self.current = self.beliefs.iter().position(|belief| *belief == Belief::Open);
        let (tokens, text) = harness.tick(self, todo)?;
        self.add(tokens);
        self.hear(&text);
        Ok(())
    }

    fn edit(&mut self, harness: &mut dyn Harness, todo: usize, turns: u32) -> Result<(), String> {
        for _ in 0..turns {
            self.turn(harness)?;
            let file = self.world.change(todo, self.spent.turns)?;
            let text = harness.edited(&file)?;
            self.hear(&text);
        }
        Ok(())
    }
}

impl Chore {
    fn todo(self) -> usize {
        match self {
            Self::Work(todo) | Self::Tick(todo) | Self::Repair(todo) | Self::Verify(todo) | Self::Check(todo) => todo,
            Self::Hold(todo) => todo,
        }
    }
}

/// One conversation, until the harness allows the model to stop.
pub fn work(model: &mut SimulatedModel<'_>, harness: &mut dyn Harness) -> Result<(), String> {
    let text = harness.begin(model)?;
    model.hear(&text);
    while model.spent.turns < LONGEST {
        let chore = model.chores.pop_front();
        let open = || model.beliefs.iter().position(|belief| *belief == Belief::Open).map(Chore::Work);
        let wants_to_stop = match chore.or_else(open) {
            None => true,
            Some(chore) => carry_out(model, harness, chore)?,
        };
        if wants_to_stop {
            match harness.stop(model)? {
                None => return Ok(()),
                Some(text) => model.hear(&text),
            }
            if model.chores.is_empty() && !model.beliefs.contains(&Belief::Open) {
                // It looks around and finds nothing to do.
                model.turn(harness)?;
            }
        }
    }
    model.spent.halted = false;
    Ok(())
}

/// Returns true if the model wants to stop afterwards although it knows of more.
fn carry_out(model: &mut SimulatedModel<'_>, harness: &mut dyn Harness, chore: Chore) -> Result<bool, String> {
    let todo = chore.todo();
    match chore {
        Chore::Work(todo) if model.beliefs[todo] == Belief::Open => return do_todo(model, harness, todo),
        Chore::Tick(_) => {
            model.turn(harness)?;
            model.tick(harness, todo)?;
        }
        Chore::Repair(_) => return repair(model, harness, todo),
        Chore::Verify(_) => {
            let id = model.ids[todo].clone().unwrap_or_default();
            verify(model, harness, &id)?;
        }
        Chore::Check(_) => return check(model, harness, todo),
        Chore::Hold(_) => {
            model.turn(harness)?;
            model.held[todo] = true;
            let id = model.ids[todo].clone().unwrap_or_default();
            let text = harness.hold(&id, todo)?;
            model.hear(&text);
        }
        Chore::Work(_) => {}
    }
    Ok(false)
}

fn do_todo(model: &mut SimulatedModel<'_>, harness: &mut dyn Harness, todo: usize) -> Result<bool, String> {
    let (world, profile) = (model.world, model.profile);
    let task = &world.tasks[todo];
    if model.current != Some(todo) {
        model.current = Some(todo);
        let (tokens, text) = harness.start(model, todo)?;
        model.add(tokens);
        model.hear(&text);
    }
    if task.needs_user {
        model.edit(harness, todo, 1)?;
        model.beliefs[todo] = Belief::Waiting;
        model.current = None;
        return Ok(false);
    }
    // Work that is there already, from a conversation that forgot to tick it, only needs a look.
    let was_changed = world.was_changed(todo);
    model.edit(harness, todo, if was_changed { 1 } else { task.turns })?;
    if !was_changed && !world.draws.hits(Draw::False, todo, 0, profile.falsely) {
        world.make_true(todo)?;
    }
    model.beliefs[todo] = Belief::Done { ticked: false };
    match world.draws.hits(Draw::Untick, todo, model.time(todo), profile.untick) {
        true => model.current = None,
        false => model.tick(harness, todo)?,
    }
    Ok(wants_to_stop(model, todo))
}

/// Repairs work whose check fails, and reports it again.
fn repair(model: &mut SimulatedModel<'_>, harness: &mut dyn Harness, todo: usize) -> Result<bool, String> {
    let world = model.world;
    model.edit(harness, todo, TURNS_PER_REPAIR)?;
    model.repaired[todo] += 1;
    if world.draws.hits(Draw::Repair, todo, model.repaired[todo], model.profile.repair) {
        world.make_true(todo)?;
    }
    match (model.verifies, model.ids[todo].clone()) {
        (true, Some(id)) => verify(model, harness, &id)?,
        _ => model.tick(harness, todo)?,
    }
    Ok(wants_to_stop(model, todo))
}

fn verify(model: &mut SimulatedModel<'_>, harness: &mut dyn Harness, id: &str) -> Result<(), String> {
    model.turn(harness)?;
    let text = harness.shell(&["verify", id])?;
    model.hear(&text);
    Ok(())
}

/// Tries to repair work in a row before it calls it done anyway.
const TRIES: u32 = 3;

/// Runs a check of its own choice if it feels like it. A check that reveals false work leads to repairs.
fn check(model: &mut SimulatedModel<'_>, harness: &mut dyn Harness, todo: usize) -> Result<bool, String> {
    let (world, profile) = (model.world, model.profile);
    model.checked[todo] += 1;
    let time = model.checked[todo];
    if !world.draws.hits(Draw::Check, todo, time, profile.check) {
        model.tick(harness, todo)?;
        return Ok(false);
    }
    let reveals = world.draws.hits(Draw::Reveal, todo, 0, profile.reveal);
    for tries in 1.. {
        let passes = world.is_true(todo) || !reveals;
        model.turn(harness)?;
        let text = harness.ran_check(todo, passes)?;
        model.hear(&text);
        if passes || tries > TRIES {
            break;
        }
        model.edit(harness, todo, TURNS_PER_REPAIR)?;
        model.repaired[todo] += 1;
        if world.draws.hits(Draw::Repair, todo, model.repaired[todo], profile.repair) {
            world.make_true(todo)?;
        }
    }
    model.chores.retain(|chore| chore.todo() != todo);
    model.tick(harness, todo)?;
    Ok(wants_to_stop(model, todo))
}

fn wants_to_stop(model: &mut SimulatedModel<'_>, todo: usize) -> bool {
    model.finished[todo] += 1;
    model.world.draws.hits(Draw::Stop, todo, model.time(todo), model.profile.stop)
}
