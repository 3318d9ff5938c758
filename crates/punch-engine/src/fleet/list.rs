//! What the workers of a fleet do, read from the store.

use punch_core::view::{FleetClaim, FleetView, FleetWorker, Plain, WorkerState};
use punch_core::{Status, Todo, WorkerId};
use punch_store::{Which, WorkerRecord};

use super::{WorkerBody, is_alive, read};
use crate::{Engine, EngineError};

/// The longest name of a machine, an agent or a plan in the list, in characters.
const LONGEST: usize = 60;
/// The longest path in the list, in characters.
const LONGEST_PATH: usize = 300;

impl Engine {
    /// Returns the workers of the fleet and what they do.
    pub fn fleet(&self) -> Result<FleetView, EngineError> {
        let now = self.now();
        let records = self.browse(|catalogue| catalogue.workers())?;
        let (mut claims, mut coordinators) = (Vec::new(), Vec::new());
        if !records.is_empty() {
            for plan in self.plans()?.into_iter().filter(|plan| plan.archived.is_none()) {
                self.read(plan.id, |snapshot| {
                    let lease = snapshot.run_lease()?.filter(|lease| lease.until.is_some_and(|until| now < until));
                    coordinators.extend(lease.map(|lease| (plan.name.clone(), lease.holder)));
                    for todo in snapshot.list(Which::Running, None, usize::MAX)? {
                        claims.extend(claim_of(&plan.name, &todo));
                    }
                    Ok(())
                })?;
            }
        }
        let mut view = FleetView::default();
        for record in &records {
            let alive = is_alive(record, now);
            let own = claims.extract_if(.., |(epoch, claim)| {
                alive && claim.worker.as_str() == record.name && u64::from(*epoch) == record.epoch
            });
            let claims = own.map(|(_, claim)| claim).collect();
            view.workers.push(worker_of(record, alive, claims, &coordinators));
        }
        // Reported work needs its worker no more.
        view.stuck = claims.into_iter().map(|(_, claim)| claim).filter(|claim| !claim.reported).collect();
        Ok(view)
    }
}

/// Returns the claim of a fleet's worker on a todo, and the epoch of that worker.
fn claim_of(plan: &str, todo: &Todo) -> Option<(u32, FleetClaim)> {
    let owner = todo.owner.as_deref().and_then(WorkerId::of)?;
    let worker = owner.fleet.filter(|_| todo.status == Status::InProgress)?;
    let claim = FleetClaim {
        plan: Plain::clipped(plan, LONGEST),
        todo: Plain::id(&todo.id),
        text: Plain::text(&todo.content),
        worker: Plain::clipped(&worker, LONGEST),
        since: todo.started_at,
        until: todo.lease_until,
        reported: todo.flags.reported,
    };
    Some((owner.epoch, claim))
}

fn worker_of(
    record: &WorkerRecord,
    alive: bool,
    claims: Vec<FleetClaim>,
    coordinators: &[(String, String)],
) -> FleetWorker {
    let body = read(record);
    let names = |names: &[String]| names.iter().map(|name| Plain::clipped(name, LONGEST)).collect();
    let coordinates = coordinators.iter().filter(|(_, holder)| alive && holds(&body, holder));
    let hours = u64::try_from(record.seen_at.saturating_sub(body.started_at)).unwrap_or(0).max(60_000);
    FleetWorker {
        name: Plain::clipped(&record.name, LONGEST),
        host: Plain::clipped(&body.host, LONGEST),
        state: match (record.until, alive, body.draining) {
            (None, ..) => WorkerState::Gone,
            (Some(_), false, _) => WorkerState::Lost,
            (Some(_), true, true) => WorkerState::Draining,
            (Some(_), true, false) => WorkerState::Working,
        },
        started_at: body.started_at,
        seen_at: record.seen_at,
        seats: body.seats,
        labels: body.labels.iter().map(|label| Plain::clipped(label.as_str(), LONGEST)).collect(),
        agents: names(&body.agents),
        plans: names(&body.plans),
        coordinates: coordinates.map(|(plan, _)| Plain::clipped(plan, LONGEST)).collect(),
        only_works: body.only_works,
        claims,
        handed_in: body.handed_in,
        per_hour: body.handed_in.saturating_mul(3_600_000) / hours,
        process: body.process,
        folder: Plain::clipped(&body.folder, LONGEST_PATH),
        version: Plain::clipped(&body.version, LONGEST),
    }
}

/// Returns true if the lease of a coordinator belongs to this worker.
fn holds(body: &WorkerBody, holder: &str) -> bool {
    let folder = serde_json::to_string(&body.folder).unwrap_or_default();
    holder.contains(&folder)
        && holder.contains(&body.instance)
        && holder.contains(&format!("\"process\":{}", body.process))
}
