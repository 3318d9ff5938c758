//! The events of a plan as `punch store prune` exports them, reduced to what the checker needs.

use serde_json::Value;

/// One event.
#[derive(Clone, Debug, Default)]
pub struct HistoryEvent {
    /// The write it belongs to.
    pub revision: u64,
    /// Its place in the write.
    pub seq: u64,
    /// What happened.
    pub kind: String,
    /// When, in milliseconds.
    pub at: i64,
    /// Who.
    pub by: String,
    /// The revision that the write undid.
    pub undoes: Option<u64>,
    /// The number of the todo; `None` for changes of the plan itself.
    pub todo: Option<u64>,
    /// Fields with their new values; lists are left out.
    pub fields: Vec<(String, Value)>,
}

impl HistoryEvent {
    /// The new value of a field.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// The new status, if it changed.
    pub fn status(&self) -> Option<&str> {
        self.field("status").and_then(Value::as_str)
    }
}

/// Reads the lines of an export.
pub fn read(lines: &str) -> Result<Vec<HistoryEvent>, String> {
    let event = |line: &str| {
        let json: Value = serde_json::from_str(line).map_err(|cause| format!("not an event ({cause}): {line}"))?;
        parse(&json).ok_or_else(|| format!("not an event: {line}"))
    };
    lines.lines().map(event).collect()
}

fn parse(json: &Value) -> Option<HistoryEvent> {
    let text = |name: &str| json[name].as_str().map(str::to_owned);
    let patch = json["patch"]["todo"].as_array();
    let mut fields = Vec::new();
    for change in patch.and_then(|patch| patch.get(1)).and_then(Value::as_array).into_iter().flatten() {
        for (field, delta) in change.as_object()? {
            fields.extend(delta.get("after").map(|after| (field.clone(), after.clone())));
        }
    }
    Some(HistoryEvent {
        revision: json["revision"].as_u64()?,
        seq: json["seq"].as_u64()?,
        kind: text("kind")?,
        at: json["at"].as_i64()?,
        // Sessions of one agent sign alike; the name under which they claim tells them apart.
        by: text("owner").or_else(|| text("by"))?,
        undoes: json["undoes"].as_u64(),
        todo: patch.and_then(|patch| patch.first()).and_then(Value::as_u64),
        fields,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exported_event_is_read() {
        let line = r#"{"revision":2,"seq":0,"kind":"claimed","at":5,"by":"w1","patch":{"todo":[7,[{"status":{"before":"pending","after":"in_progress"}},{"fence":{"before":0,"after":3}},{"notes":{"at":0,"removed":[],"added":[]}}]]}}"#;
        let events = read(line).unwrap_or_else(|error| panic!("{error}"));
        let event = &events[0];
        assert_eq!((event.revision, event.todo, event.status()), (2, Some(7), Some("in_progress")));
        assert_eq!(event.field("fence"), Some(&3.into()));
        assert_eq!((event.fields.len(), event.undoes), (2, None));
        assert!(read("{}").is_err());
    }
}
