//! A whole plan in exchange form: the live todos in list order and the ordered phases, without loss.

use std::collections::{BTreeSet, HashMap};

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use super::{Record, ignore, make};
use crate::{Plan, Refusal};

/// The version of the JSON form.
const SCHEMA: u64 = 1;

/// The live todos of a plan in list order, and its phases.
///
/// Names of phases may repeat; a record then says which one by its `phase_index`, and only then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Every phase, empty ones too, in order.
    pub phases: Vec<String>,
    /// Every live todo, in list order.
    pub records: Vec<Record>,
    /// Further dependencies, for formats in which todos have no ids: the first waits for the second, both as indexes
    /// into `records`. Empty in the document of a plan.
    pub edges: Vec<(usize, usize)>,
}

/// What was read, and what was not understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedDocument {
    /// The plan.
    pub document: Document,
    /// Keys or lines that were skipped, for a warning.
    pub ignored: BTreeSet<String>,
}

impl Document {
    /// The exchange form of a whole plan.
    pub fn of(plan: &Plan) -> Self {
        let places = make::places(&plan.row.phases);
        let record =
            |todo: &crate::Todo| Record::with_phase(plan, todo, todo.phase.and_then(|uid| places.get(&uid)).copied());
        Self {
            phases: plan.row.phases.iter().map(|phase| phase.name.clone()).collect(),
            records: plan.live().into_iter().map(record).collect(),
            edges: Vec::new(),
        }
    }

    /// JSON: `{"schema":1,"phases":[…],"todos":[…]}`, one todo a line so that versions of it compare well.
    pub fn to_json(&self) -> String {
        let phases: Vec<Value> = self.phases.iter().map(|name| Value::from(name.as_str())).collect();
        let mut out = format!("{{\n  \"schema\": {SCHEMA},\n  \"phases\": {},\n  \"todos\": [", Value::from(phases));
        for (at, record) in self.records.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            out.push_str(&format!("{comma}\n    {}", Value::from(record.to_map())));
        }
        out.push_str(if self.records.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        out
    }

    /// Reads that object, one with only `todos`, the bare list of todos, or a single todo. Unknown keys are reported, not
    /// refused.
    pub fn from_json(text: &str) -> Result<ParsedDocument, Refusal> {
        let value = serde_json::from_str(text).map_err(|error| invalid("", format!("not JSON: {error}")))?;
        Self::from_value(value)
    }

    /// Reads a document from JSON that is already parsed.
    pub fn from_value(value: Value) -> Result<ParsedDocument, Refusal> {
        let mut ignored = BTreeSet::new();
        let mut map = match value {
            Value::Array(todos) => Map::from_iter([("todos".to_owned(), Value::Array(todos))]),
            Value::Object(todo)
                if !todo.contains_key("todos") && ["title", "content"].iter().any(|key| todo.contains_key(*key)) =>
            {
                Map::from_iter([("todos".to_owned(), Value::Array(vec![Value::Object(todo)]))])
            }
            Value::Object(map) => map,
            _ => return Err(invalid("", "must be an object with `todos`, or a list of todos")),
        };
        match crate::json::take(&mut map, "schema") {
            None | Some(Value::Null) => {}
            Some(schema) if schema.as_u64().is_some_and(|version| (1..=SCHEMA).contains(&version)) => {}
            Some(schema) => {
                return Err(invalid("schema", format!("{schema} is unknown; this version reads {SCHEMA}")));
            }
        }
        let phases = match crate::json::take(&mut map, "phases") {
            None | Some(Value::Null) => Vec::new(),
            Some(value) => serde_json::from_value(value).map_err(|_| invalid("phases", "must be a list of strings"))?,
        };
        let Some(Value::Array(todos)) = crate::json::take(&mut map, "todos") else {
            return Err(invalid("todos", "must be a list"));
        };
        map.keys().for_each(|key| ignore(&mut ignored, key));
        let mut records = Vec::with_capacity(todos.len());
        for (at, todo) in todos.into_iter().enumerate() {
            let Value::Object(todo) = todo else { return Err(invalid(format!("todos[{at}]"), "must be an object")) };
            let record = Record::from_map(todo, &mut ignored)
                .map_err(|(key, what)| invalid(format!("todos[{at}].{key}"), what))?;
            records.push(record);
        }
        let mut document = Self { phases, records, edges: Vec::new() };
        document.settle()?;
        Ok(ParsedDocument { document, ignored })
    }

    /// The position of each id; the first one if an id repeats.
    pub(crate) fn places_of_ids(&self) -> HashMap<&str, usize> {
        let mut out = HashMap::with_capacity(self.records.len());
        for (at, record) in self.records.iter().enumerate() {
            if let Some(id) = record.id.as_deref() {
                out.entry(id).or_insert(at);
            }
        }
        out
    }

    /// Which phase a record belongs to, by name or index, for all records at once.
    pub(crate) fn phase_places(&self) -> impl Fn(&Record) -> Option<usize> + '_ {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (at, name) in self.phases.iter().enumerate() {
            first.entry(name).or_insert(at);
        }
        move |record| match (record.phase_index, &record.phase) {
            (Some(at), _) => usize::try_from(at).ok().filter(|at| *at < self.phases.len()),
            (None, Some(name)) => first.get(name.as_str()).copied(),
            (None, None) => None,
        }
    }

    /// Makes names and indexes of phases agree, adding phases that only a todo names.
    pub(crate) fn settle(&mut self) -> Result<(), Refusal> {
        let mut known: HashMap<String, (usize, usize)> = HashMap::new();
        for (at, name) in self.phases.iter().enumerate() {
            known.entry(name.clone()).or_insert((at, 0)).1 += 1;
        }
        for (at, record) in self.records.iter_mut().enumerate() {
            let wrong = |what: &str| invalid(format!("todos[{at}].phaseIndex"), what);
            let place = match (record.phase_index, &record.phase) {
                (None, None) => continue,
                (None, Some(name)) => {
                    if !known.contains_key(name) {
                        known.insert(name.clone(), (self.phases.len(), 1));
                        self.phases.push(name.clone());
                    }
                    known[name].0
                }
                (Some(index), name) => {
                    let place = usize::try_from(index).unwrap_or(usize::MAX);
                    let found = self.phases.get(place).ok_or_else(|| wrong("no such phase"))?;
                    if name.as_ref().is_some_and(|name| name != found) {
                        return Err(wrong("is not the phase named in `phase`"));
                    }
                    place
                }
            };
            let name = &self.phases[place];
            record.phase_index = known.get(name).filter(|(_, times)| *times > 1).map(|_| place as u64);
            record.phase = Some(name.clone());
        }
        Ok(())
    }
}

fn invalid(at: impl Into<String>, what: impl Into<String>) -> Refusal {
    Refusal::Invalid { at: at.into(), what: what.into() }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("schema", &SCHEMA)?;
        map.serialize_entry("phases", &self.phases)?;
        map.serialize_entry("todos", &self.records)?;
        map.end()
    }
}
