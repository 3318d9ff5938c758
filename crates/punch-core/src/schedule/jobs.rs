//! The open todos of a plan as consecutive numbers in list order, and those that cannot be worked on.

use std::collections::{BTreeMap, HashMap};

use super::{Blocked, ParallelGroup, ScheduleRequest, budget, estimate};
use crate::files::Prefix;
use crate::graph::kahn::{self, Csr};
use crate::reason::{Cause, PlanReader, WaitReason, WorkLimits, is_optional};
use crate::{Dep, Plan, Status, Todo, Uid};

/// What can be worked on, numbered in list order.
pub(super) struct Jobs<'p> {
    todos: Vec<&'p Todo>,
    /// The estimated tokens of each todo.
    pub tokens: Vec<u64>,
    /// The dependencies of each todo.
    pub deps: Csr,
    /// The dependents of each todo.
    pub dependents: Csr,
    /// The set of files that each todo touches.
    pub sets: Vec<Option<u32>>,
    /// What is fixed of the globs of each set.
    globs: Vec<Vec<Prefix<'p>>>,
    /// Ids of what is larger than a whole budget and would be worked on otherwise.
    pub oversize: Vec<String>,
    /// What has no place in a schedule.
    pub blocked: Vec<Blocked>,
    budget: u64,
}

impl<'p> Jobs<'p> {
    pub fn of(plan: &'p Plan, ask: &ScheduleRequest, now: i64) -> Self {
        let open: Vec<&Todo> = plan.live().into_iter().filter(|todo| is_open(todo)).collect();
        let numbers: HashMap<Uid, u32> = (0u32..).zip(&open).map(|(at, todo)| (todo.uid, at)).collect();
        let number = |uid: &Uid| numbers.get(uid).copied();
        let edges = Csr::from_lists(open.iter().map(|todo| {
            let on = todo.depends_on.iter().filter_map(|dep| if let Dep::On(to) = dep { number(to) } else { None });
            on.collect::<Vec<u32>>()
        }));
        let dependents = edges.reversed();
        let reader = PlanReader::new(plan, now).within(WorkLimits::of(ask));
        let left_out = |todo: &Todo, cause| reader.left_out(todo).filter(|reason| reason.cause == cause);
        let obstacle = |todo: &&'p Todo| reader.obstacle(todo).or_else(|| left_out(todo, Cause::Optional));
        let mut whys = spread(&open, &dependents, open.iter().map(obstacle).collect());
        let mut oversize = Vec::new();
        for (todo, why) in open.iter().zip(&mut whys).filter(|(_, why)| why.is_none()) {
            if let Some(reason) = left_out(todo, Cause::Oversize) {
                oversize.push(todo.id.clone());
                *why = Some(reason).filter(|_| !ask.oversize);
            }
        }
        if !ask.oversize && !oversize.is_empty() {
            whys = spread(&open, &dependents, whys);
        }
        let blocked =
            open.iter().zip(&whys).filter_map(|(todo, why)| why.as_ref().map(|reason| Blocked::of(todo, reason)));
        let blocked = blocked.collect();
        // Numbered again without them. Nothing that can be worked on depends on them.
        let mut next = 0u32;
        let mut place = Vec::with_capacity(open.len());
        for why in &whys {
            place.push(next);
            next += u32::from(why.is_none());
        }
        let kept = |at: usize| whys[at].is_none();
        let deps = Csr::from_lists(
            (0..open.len())
                .filter(|&at| kept(at))
                .map(|at| edges.row(at as u32).iter().map(|&to| place[to as usize]).collect::<Vec<u32>>()),
        );
        let todos: Vec<&Todo> = open.iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, todo)| *todo).collect();
        let tokens = todos.iter().map(|todo| estimate(todo, ask.calibration).tokens).collect();
        let (sets, globs) = sets(&todos);
        Self {
            dependents: deps.reversed(),
            todos,
            tokens,
            deps,
            sets,
            globs,
            oversize,
            blocked,
            budget: budget(ask.context),
        }
    }

    pub fn len(&self) -> u32 {
        self.todos.len() as u32
    }

    pub fn id(&self, job: u32) -> &str {
        &self.todos[job as usize].id
    }

    pub fn todo(&self, job: u32) -> &Todo {
        self.todos[job as usize]
    }

    /// Returns true if a job is larger than a whole budget: it goes last (rule 29).
    pub fn is_oversize(&self, job: u32) -> bool {
        self.tokens[job as usize] > self.budget
    }

    /// Returns true if a job goes last among those of its size (rule 47).
    pub fn is_optional(&self, job: u32) -> bool {
        is_optional(self.todos[job as usize])
    }

    /// The two would touch the same files.
    pub fn clash(&self, a: u32, b: u32) -> bool {
        match (self.sets[a as usize], self.sets[b as usize]) {
            (Some(a), Some(b)) => self.sets_clash(a, b),
            _ => false,
        }
    }

    /// Two sets of files have one in common.
    pub fn sets_clash(&self, a: u32, b: u32) -> bool {
        let (one, other) = (&self.globs[a as usize], &self.globs[b as usize]);
        a == b || one.iter().any(|a| other.iter().any(|b| a.covers(*b) || b.covers(*a)))
    }

    /// How many sets of files there are.
    pub fn set_count(&self) -> usize {
        self.globs.len()
    }

    /// All tokens.
    pub fn total(&self) -> u64 {
        self.tokens.iter().fold(0, |sum, tokens| sum.saturating_add(*tokens))
    }

    /// The longest remaining path from each job to the end of the plan, itself included.
    pub fn paths(&self) -> Vec<u64> {
        let order = kahn::sort(&self.dependents).map(|sorted| sorted.order).unwrap_or_default();
        let mut paths = self.tokens.clone();
        for &job in order.iter().rev() {
            let behind = self.dependents.row(job).iter().map(|&d| paths[d as usize]).max().unwrap_or(0);
            paths[job as usize] = self.tokens[job as usize].saturating_add(behind);
        }
        paths
    }
}

/// The sets of files that todos touch, each once.
fn sets<'p>(todos: &[&'p Todo]) -> (Vec<Option<u32>>, Vec<Vec<Prefix<'p>>>) {
    let (mut known, mut globs) = (HashMap::new(), Vec::new());
    let sets = todos.iter().map(|todo| {
        let files: &'p [String] = &todo.files;
        (!files.is_empty()).then(|| {
            *known.entry(files).or_insert_with(|| {
                globs.push(files.iter().map(|glob| Prefix::of(glob)).collect());
                globs.len() as u32 - 1
            })
        })
    });
    (sets.collect(), globs)
}

fn is_open(todo: &Todo) -> bool {
    matches!(todo.status, Status::Pending | Status::InProgress)
}

/// What depends on something that cannot be worked on cannot be worked on either.
fn spread(open: &[&Todo], dependents: &Csr, mut whys: Vec<Option<WaitReason>>) -> Vec<Option<WaitReason>> {
    let mut stack: Vec<u32> = (0u32..).zip(&whys).filter(|(_, why)| why.is_some()).map(|(at, _)| at).collect();
    while let Some(at) = stack.pop() {
        for &dependent in dependents.row(at) {
            let why = &mut whys[dependent as usize];
            if why.is_none() {
                *why = Some(WaitReason::waiting(open[dependent as usize], open[at as usize]));
                stack.push(dependent);
            }
        }
    }
    whys
}

/// All live todos by parallel group.
pub(super) fn groups(plan: &Plan) -> Vec<ParallelGroup> {
    let mut groups: BTreeMap<u32, Vec<&Todo>> = BTreeMap::new();
    for todo in plan.live() {
        groups.entry(todo.derived.level).or_default().push(todo);
    }
    let group = |(group, mut todos): (u32, Vec<&Todo>)| {
        todos.sort_by_key(|todo| todo.priority);
        ParallelGroup { group, todos: todos.into_iter().map(|todo| todo.id.clone()).collect() }
    };
    groups.into_iter().map(group).collect()
}
