//! The log of an unattended worker: one line per event, with its time.

use punch_core::time::rfc3339;
use punch_engine::{Answerer, QuestionReply};
use punch_run::agent::PermissionRequest;
use punch_run::{QuestionSettled, RunEvent, RunObserver};
use serde_json::{Value, json};

use crate::environment;
use crate::log_format::LogFormat;
use crate::output;

/// Writes the events of a worker to standard error.
pub struct WorkerLog {
    /// The name of the worker.
    pub worker: String,
    pub format: LogFormat,
}

impl RunObserver for WorkerLog {
    fn on_event(&self, event: &RunEvent) {
        if let Some(line) = self.line(event, (environment::clock())()) {
            output::log_line(&line);
        }
    }

    fn ask(&self, _: &str, _: &PermissionRequest, _: &QuestionSettled) -> Option<(QuestionReply, Answerer)> {
        None
    }
}

impl WorkerLog {
    /// The line of an event; what agents print is not logged.
    fn line(&self, event: &RunEvent, now: i64) -> Option<String> {
        if matches!(event, RunEvent::Output { .. }) {
            return None;
        }
        let time = rfc3339(now);
        match self.format {
            LogFormat::Text => event.words().map(|words| format!("{time} {words}")),
            LogFormat::Json => {
                let mut line = json!({ "time": time, "level": level(event), "worker": self.worker });
                if let (Value::Object(line), Value::Object(event)) = (&mut line, json!(event)) {
                    line.extend(event);
                }
                Some(line.to_string())
            }
        }
    }
}

const fn level(event: &RunEvent) -> &'static str {
    match event {
        RunEvent::Failed { .. } => "error",
        RunEvent::Remark { .. } | RunEvent::Retrying { .. } | RunEvent::Limited { .. } => "warn",
        _ => "info",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_one_line_with_its_time() {
        let log = |format| WorkerLog { worker: "gpu-1".into(), format };
        let held = RunEvent::Held { agent: 1, todo: "T-1".into(), why: "which color?".into() };
        let line = log(LogFormat::Json).line(&held, 1_785_580_830_005).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&line).unwrap(),
            json!({
                "time": "2026-08-01T10:40:30.005Z", "level": "info", "worker": "gpu-1",
                "event": "held", "agent": 1, "todo": "T-1", "why": "which color?",
            })
        );
        let text = log(LogFormat::Text).line(&held, 1_785_580_830_005).unwrap();
        assert!(text.starts_with("2026-08-01T10:40:30.005Z ") && text.contains("which color?"), "{text}");
        let printed = RunEvent::Output { agent: 1, text: "secret".into() };
        assert_eq!(log(LogFormat::Json).line(&printed, 0), None);
        let failed = RunEvent::Failed { agent: 1, todo: "T-1".into(), why: "no".into() };
        assert!(log(LogFormat::Json).line(&failed, 0).unwrap().contains("\"level\":\"error\""));
    }
}
