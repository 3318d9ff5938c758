//! Judging what was said to be done, on a thread of its own: the work of a lane is brought together, the command of the
//! todo runs, and the todo is completed under its fence. Nobody else completes it.

use punch_core::{Op, Policy, Ref, Refusal, Todo, VerifyMode};
use punch_engine::{EngineError, Proofs, Request, VerifyError, WorkTree};

use super::{Message, Runner, World};
use crate::interrupt::Interrupt;
use crate::told::Told;
use crate::told::line;
use crate::worktree::{Lane, Lanes, Published, Settled};

/// How often a check is made again because the code or the todo has moved on meanwhile.
const ROUNDS: usize = 5;

/// What came of a check.
pub(super) enum Verdict {
    /// It is completed.
    Done,
    /// It is not done: what is wrong.
    Failed(String),
    /// A person is needed: what for.
    Hold(String),
    /// It is not this worker's any more.
    Lost(String),
    /// The run is stopping; it stays reported.
    Stopped,
    /// The store did not do what it was asked to.
    Broken(EngineError),
}

impl Runner<'_, '_> {
    /// Begins a check; its verdict comes as a message with this number.
    pub(super) fn check(&mut self, agent: usize, todo: &Todo, owner: &str, lane: Option<Lane>) -> u64 {
        self.count += 1;
        let number = self.count;
        self.tell(&Told::Verifying { agent, todo: line(&todo.id) });
        let (world, interrupt, send) = (self.world, self.interrupt, self.send.clone());
        let lane = self.lanes.zip(lane);
        let judging = Judging { world, interrupt, by: self.by(), todo: todo.clone(), owner: owner.to_owned(), lane };
        self.scope.spawn(move || {
            let verdict = judging.judge();
            // Nobody listens any more if the run has ended: it stays reported.
            let _ = send.send(Message::Checked(number, verdict));
        });
        number
    }
}

struct Judging<'e> {
    world: &'e World<'e>,
    interrupt: &'e Interrupt,
    by: String,
    todo: Todo,
    owner: String,
    lane: Option<(&'e Lanes, Lane)>,
}

impl Judging<'_> {
    fn judge(&self) -> Verdict {
        for _ in 0..ROUNDS {
            match self.round() {
                Ok(Some(verdict)) => return verdict,
                // The result branch or the command is another one by now.
                Ok(None) => {}
                Err(error) => return self.of_error(error),
            }
        }
        Verdict::Failed("the work of others kept changing while it was checked".to_owned())
    }

    fn round(&self) -> Result<Option<Verdict>, EngineError> {
        let (root, commit) = match &self.lane {
            None => (self.world.root.clone(), None),
            Some((lanes, lane)) => {
                let message = format!("{}: {}", self.todo.id, self.todo.content);
                match lanes.settle(lane, &message) {
                    Ok(Settled::Held(held)) => return Ok(Some(Verdict::Hold(held.reason()))),
                    Ok(Settled::Ready { commit, .. } | Settled::Nothing { commit }) => {
                        (lane.path.clone(), Some(commit))
                    }
                    Err(error) => return Ok(Some(Verdict::Failed(format!("its work cannot be taken in: {error}")))),
                }
            }
        };
        let tree = WorkTree { root, consents: self.world.consents.clone() };
        let stopped = || self.interrupt.is_asked();
        let checker = tree.checker(self.world.settings.verify_timeout.value, &stopped);
        let plan = self.world.plan;
        let mut proofs = Proofs::default();
        if self.todo.verify.is_some() {
            proofs.push(self.world.engine.prove(plan, &checker, &self.todo.id)?);
        }
        if let (Some((lanes, lane)), Some(commit)) = (&self.lane, &commit) {
            match lanes.publish(lane, commit) {
                Ok(Published::Now) => {}
                Ok(Published::Moved) => return Ok(None),
                Ok(Published::CheckedOut { path }) => {
                    let why = format!("`{}` is checked out in {path}: leave it there", lanes.result_branch());
                    return Ok(Some(Verdict::Hold(why)));
                }
                Err(error) => return Ok(Some(Verdict::Failed(format!("its work cannot be taken in: {error}")))),
            }
        }
        let commit = commit.or_else(|| tree.commit());
        let preset: fn(Policy) -> Policy = match self.todo.verify.is_some() {
            true => |policy| Policy { verify: VerifyMode::Command, ..policy },
            false => |policy| policy,
        };
        let request = Request {
            preset,
            settings: Some(self.world.settings),
            commit: commit.as_deref(),
            proofs: Some(&proofs),
            tree: Some(&tree.root),
            completes: true,
            ..Request::by(&self.by, Some(&self.owner))
        };
        let done = Op::Done { target: Ref::Uid(self.todo.uid), evidence: None, fence: Some(self.todo.fence) };
        match self.world.engine.submit(plan, &request, &[done]) {
            Ok(_) => Ok(Some(Verdict::Done)),
            Err(EngineError::Refused(refusals))
                if refusals.iter().any(|refusal| matches!(refusal, Refusal::NeedsVerification { .. })) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn of_error(&self, error: EngineError) -> Verdict {
        match error {
            EngineError::Verify(VerifyError::Stopped { .. }) => Verdict::Stopped,
            EngineError::Verify(error @ VerifyError::Consent { .. }) => {
                Verdict::Hold(format!("{}; {}", error.message(), error.hint()))
            }
            EngineError::Verify(error) => Verdict::Failed(error.message()),
            EngineError::Refused(refusals) => Verdict::Lost(refusals.first().map(Refusal::message).unwrap_or_default()),
            EngineError::NotFound { .. } => Verdict::Lost("it is not in the plan any more".to_owned()),
            error => Verdict::Broken(error),
        }
    }
}
