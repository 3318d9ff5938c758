//! Arguments of tools with a few fields of their own, such as the one that reads the plan.

use serde_json::{Map, Value};

use super::input;
use crate::Refusal;

/// The arguments of one call. A field that a tool does not know, or one of another type, is refused: to ignore it would give
/// an answer to another question than the one that was asked.
#[derive(Clone, Copy, Debug)]
pub struct ToolArguments<'a>(Option<&'a Map<String, Value>>);

impl<'a> ToolArguments<'a> {
    /// Takes the arguments of a tool that has these fields; null is the same as none at all.
    pub fn of(arguments: &'a Value, known: &[&str]) -> Result<Self, Refusal> {
        if arguments.is_null() {
            return Ok(Self(None));
        }
        let map = input::object(arguments, "arguments")?;
        input::known_keys(map.keys(), "", known)?;
        Ok(Self(Some(map)))
    }

    /// A string that may be absent.
    pub fn text(self, key: &str) -> Result<Option<&'a str>, Refusal> {
        self.0.map_or(Ok(None), |map| input::text(map, key, ""))
    }

    /// A whole number of at least 0 that may be absent.
    pub fn number(self, key: &str) -> Result<Option<u64>, Refusal> {
        self.0.map_or(Ok(None), |map| input::number(map, key, ""))
    }

    /// True or false; false if it is absent.
    pub fn flag(self, key: &str) -> Result<bool, Refusal> {
        match self.0.and_then(|map| map.get(key)) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(input::invalid(key, format!("expected true or false, got {}", input::kind(other)))),
        }
    }
}
