//! Renews leases: every use of a tool is a sign of life. Leases of the session's owner are extended once a third of
//! their time has passed, so most reports only read.

use punch_core::Todo;

use super::listen::{Listener, PlanSession, ReportOutcome};
use crate::EngineError;
use crate::claim::is_due;

impl Listener<'_> {
    pub(super) fn renew(&self, who: &PlanSession, outcome: &mut ReportOutcome) -> Result<(), EngineError> {
        let lease = self.settings.lease_ms();
        let running = self.running()?;
        if running.is_empty() || !who.bound() {
            return Ok(());
        }
        let tired = |t: &&Todo| t.owner.as_deref() == Some(&who.owner) && is_due(t, lease, self.now);
        outcome.renew = running.iter().filter(tired).map(|t| t.uid).collect();
        (outcome.lease, outcome.owner) = (lease, Some(who.owner.clone()));
        Ok(())
    }
}
