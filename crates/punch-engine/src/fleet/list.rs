//! What the workers of a fleet do, as a list.

use punch_core::{Status, WorkerId};
use punch_store::Which;
use serde::Serialize;

use super::{WorkerBody, is_alive, read};
use crate::{Engine, EngineError};

/// The workers that a store knows, and the claims that no worker looks after.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetView {
    /// Every worker, by name.
    pub workers: Vec<FleetWorker>,
    /// Todos in progress whose worker is gone. The coordinator of the plan opens them again.
    pub stuck: Vec<FleetClaim>,
}

/// A worker of a fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetWorker {
    /// Its name.
    pub name: String,
    /// `working`, `draining`, `lost` if its record has expired, or `gone` if it has left.
    pub state: &'static str,
    /// When it was last seen.
    pub seen_at: i64,
    /// The plans that it coordinates.
    pub coordinates: Vec<String>,
    /// What it works on.
    pub claims: Vec<FleetClaim>,
    /// Todos that it handed in per hour, as a rounded number.
    pub per_hour: u64,
    /// What it wrote about itself.
    #[serde(flatten)]
    pub body: WorkerBody,
}

/// A todo that a worker has in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetClaim {
    /// The plan.
    pub plan: String,
    /// The id of the todo.
    pub todo: String,
    /// The worker that claimed it.
    pub worker: String,
    /// When the claim began.
    pub since: Option<i64>,
    /// Until when the claim lasts unless renewed.
    pub until: Option<i64>,
    /// The work is reported and waits for the coordinator.
    pub reported: bool,
}

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
                        let owner = todo.owner.as_deref().and_then(WorkerId::of);
                        let Some((epoch, worker)) = owner.and_then(|owner| Some((owner.epoch, owner.fleet?))) else {
                            continue;
                        };
                        if todo.status == Status::InProgress {
                            let (plan, reported) = (plan.name.clone(), todo.flags.reported);
                            let (since, until) = (todo.started_at, todo.lease_until);
                            claims.push((
                                epoch,
                                FleetClaim { plan, todo: todo.id.clone(), worker, since, until, reported },
                            ));
                        }
                    }
                    Ok(())
                })?;
            }
        }
        let mut view = FleetView::default();
        for record in &records {
            let body = read(record);
            let alive = is_alive(record, now);
            let own = claims.extract_if(.., |(epoch, claim)| {
                alive && claim.worker == record.name && u64::from(*epoch) == record.epoch
            });
            let claims = own.map(|(_, claim)| claim).collect();
            let folder = serde_json::to_string(&body.folder).unwrap_or_default();
            let holds = |holder: &str| {
                alive
                    && holder.contains(&folder)
                    && holder.contains(&body.instance)
                    && holder.contains(&format!("\"process\":{}", body.process))
            };
            let coordinates = coordinators.iter().filter(|(_, holder)| holds(holder)).map(|(plan, _)| plan.clone());
            let hours = u64::try_from(record.seen_at.saturating_sub(body.started_at)).unwrap_or(0).max(60_000);
            view.workers.push(FleetWorker {
                name: record.name.clone(),
                state: match (record.until, alive, body.draining) {
                    (None, ..) => "gone",
                    (Some(_), false, _) => "lost",
                    (Some(_), true, true) => "draining",
                    (Some(_), true, false) => "working",
                },
                seen_at: record.seen_at,
                coordinates: coordinates.collect(),
                claims,
                per_hour: body.handed_in.saturating_mul(3_600_000) / hours,
                body,
            });
        }
        // Reported work needs its worker no more.
        view.stuck = claims.into_iter().map(|(_, claim)| claim).filter(|claim| !claim.reported).collect();
        Ok(view)
    }
}
