//! Checks the store against the rules: derived columns against a recount, and the events against the tables.

use punch_core::{Footprint, Outcome, Plan, Todo, apply, time};
use punch_store::{Durability, PlanId, Snapshot};

use crate::{Engine, EngineError};

/// How far in the future the last change may be dated without a remark: clocks of two machines differ a little.
pub(crate) const CLOCK_TOLERANCE: i64 = 5 * 60_000;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is wrong.
    Ok,
    /// Worth knowing.
    Note,
    /// Wrong, and put right from what is known.
    Repaired,
    /// Wrong, and not to be repaired from what is known.
    Damaged,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The thing that was checked.
    pub what: String,
    /// The severity of the finding.
    pub severity: Severity,
    /// The finding in words.
    pub detail: String,
}

impl Finding {
    /// A finding.
    pub fn new(what: &str, severity: Severity, detail: impl Into<String>) -> Self {
        Self { what: what.to_owned(), severity, detail: detail.into() }
    }
}

impl Engine {
    /// Checks one plan. With `repair`, wrong derived values are written again; stored fields never are.
    pub fn check_plan(&self, plan: PlanId, repair: bool) -> Result<Vec<Finding>, EngineError> {
        let (whole, folded) = self.read(plan, |snapshot| {
            let mut whole = Plan::slice(snapshot.row()?);
            snapshot.load(&Footprint::everything(), &mut whole)?;
            Ok((whole, folded(snapshot)?))
        })?;
        let mut findings = vec![compare_history(&whole, &folded)];
        findings.extend(compare_clock(&whole, self.now()));
        let (derived, wrong) = recount(&whole);
        let what = "derived values";
        if wrong.is_empty() && derived.row == whole.row {
            let todos = match whole.all().count() {
                1 => "1 todo".to_owned(),
                count => format!("{count} todos"),
            };
            findings.push(Finding::new(what, Severity::Ok, format!("consistent ({todos})")));
        } else if repair {
            // Counted once more inside the transaction: another process may have written since.
            let rows = self.write(plan, Durability::Full, |tx, _| {
                let mut whole = Plan::slice(tx.row()?);
                tx.load(&Footprint::everything(), &mut whole)?;
                let (derived, rows) = recount(&whole);
                let count = rows.len();
                tx.put(&Outcome { rows, plan: derived.row, ..Outcome::default() })?;
                Ok(count)
            })?;
            findings.push(Finding::new(
                what,
                Severity::Repaired,
                format!("rebuilt {}", if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }),
            ));
        } else {
            let detail = match wrong.len() {
                1 => "1 row is inconsistent; run `punch doctor --repair` to rebuild it".to_owned(),
                rows => format!("{rows} rows are inconsistent; run `punch doctor --repair` to rebuild them"),
            };
            findings.push(Finding::new(what, Severity::Damaged, detail));
        }
        Ok(findings)
    }
}

/// Returns a finding if the last change is dated in the future: a clock was ahead when it was made, or is behind now.
fn compare_clock(whole: &Plan, now: i64) -> Option<Finding> {
    if whole.row.last_time <= now.saturating_add(CLOCK_TOLERANCE) {
        return None;
    }
    let detail = format!(
        "the last change is dated {}, which is in the future: check the clock of this machine. New changes get that \
         date until it has passed; leases and timers follow the current time",
        time::utc(whole.row.last_time)
    );
    Some(Finding::new("clock", Severity::Note, detail))
}

/// Computes the derived values of a whole plan again, and returns the todos that this changes.
fn recount(whole: &Plan) -> (Plan, Vec<Todo>) {
    let mut derived = whole.clone();
    apply::derive(&mut derived);
    let wrong = derived.all().filter(|t| whole.get(t.uid) != Some(t)).cloned().collect();
    (derived, wrong)
}

fn folded(snapshot: &dyn Snapshot) -> Result<Plan, EngineError> {
    let mut plan = snapshot.baseline()?;
    for event in snapshot.events(snapshot.info()?.pruned, usize::MAX)? {
        apply::fold(&mut plan, &event);
    }
    apply::derive(&mut plan);
    Ok(plan)
}

/// Stored fields of every todo, the phases and the policy must follow from the events; leases are not events.
fn compare_history(whole: &Plan, folded: &Plan) -> Finding {
    let differs = whole.all().filter(|t| folded.get(t.uid).is_none_or(|f| f.fields != t.fields)).map(|t| t.id.clone());
    let mut wrong: Vec<String> = differs.collect();
    wrong.extend(folded.all().filter(|t| whole.get(t.uid).is_none()).map(|t| t.id.clone()));
    if whole.row.phases != folded.row.phases {
        wrong.push("the phases".into());
    }
    if whole.row.policy != folded.row.policy {
        wrong.push("the policy".into());
    }
    if whole.row.revision != folded.row.revision {
        wrong.push("the revision".into());
    }
    let what = "history";
    if wrong.is_empty() {
        let detail = format!("complete up to revision {}", whole.row.revision);
        return Finding::new(what, Severity::Ok, detail);
    }
    let more = if wrong.len() > 5 { format!(" and {} more", wrong.len() - 5) } else { String::new() };
    wrong.truncate(5);
    Finding::new(
        what,
        Severity::Damaged,
        format!("the stored data does not match the event log: {}{more}", wrong.join(", ")),
    )
}
