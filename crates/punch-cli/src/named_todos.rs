//! Code that the commands on named todos share.

use punch_core::dialect::native::{self, TextLimits};
use punch_core::{Op, Plan, Ref};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::project::Project;
use crate::reply::{self, VerbReply};

/// Submits ops on todos that the user named, and reports their new state.
pub fn act(project: Project, names: &[String], ops: &dyn Fn(&[Ref]) -> Vec<Op>) -> Result<VerbReply, Failure> {
    let open = project.open_named(names)?;
    let (changed, uids) = open.engine.submit_named(open.plan, &open.project.request(), names, ops)?;
    Ok(reply::changed(&changed, &uids, &open.project))
}

/// Fields whose flags have other names.
const FLAGS: [(&str, &str); 5] = [
    ("content", "text"),
    ("verificationCriteria", "criteria"),
    ("verifyCommand", "verify"),
    ("estimatedTokens", "tokens"),
    ("activeForm", "active-form"),
];

/// Reads one op in the words of the native dialect, which knows what every field may be.
pub fn native(project: &Project, op: Value) -> Result<Vec<Op>, Failure> {
    let limits = TextLimits {
        content: project.config.settings.limits_content.value,
        long: project.config.settings.limits_long.value,
    };
    native::read(&Plan::new(), &json!({"ops": [op]}), &limits).map_err(|refusal| {
        // `ops[0].content` means something to programs only.
        let refusal = match refusal {
            punch_core::Refusal::Invalid { at, what } => {
                let at = at.trim_start_matches("ops[0].");
                let flag = FLAGS.iter().find(|(key, _)| *key == at).map_or(at, |(_, flag)| *flag);
                punch_core::Refusal::Invalid { at: flag.to_owned(), what }
            }
            other => other,
        };
        punch_engine::EngineError::from(refusal).into()
    })
}
