//! YAML to JSON, for front matter: one document, no aliases (they make bombs), no repeated keys, a limit to nesting
//! and to the number of nodes. The parser gives events, so nothing here recurses.

use granit_parser::{Event, Marker, Parser, ScalarStyle, options};
use serde_json::{Map, Value};

use crate::text;

/// How deep collections may nest.
pub(crate) const DEPTH: usize = 32;
/// How many nodes a document may have.
const NODES: usize = 2_000_000;

/// Why a text is not YAML that we read: line and column, counted from 1, and what is wrong.
pub(crate) type YamlError = ((usize, usize), String);

/// Reads a document; an empty one is null.
pub(crate) fn read(input: &str) -> Result<Value, YamlError> {
    let options = options! { flow_nesting_limit: DEPTH, block_nesting_limit: DEPTH };
    let mut tree = YamlTree::default();
    let mut documents = 0;
    for (nodes, next) in Parser::new_from_str_with_options(input, options).enumerate() {
        let (event, span) = next.map_err(|error| (place(error.marker()), message(&error.info())))?;
        let at = place(&span.start);
        let wrong = |what: &str| Err((at, what.to_owned()));
        if nodes > NODES {
            return wrong("too much YAML");
        }
        match event {
            Event::DocumentStart(..) => {
                documents += 1;
                if documents > 1 {
                    return wrong("only one YAML document is supported");
                }
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => return wrong("YAML aliases are not supported"),
            Event::Scalar(value, style, ..) => {
                let value = if style == ScalarStyle::Plain { plain(&value) } else { value.into_owned().into() };
                tree.value(value).map_err(|what| (at, what))?;
            }
            Event::SequenceStart(..) => tree.open(OpenCollection::List(Vec::new()), at)?,
            Event::MappingStart(..) => tree.open(OpenCollection::Map(Map::new(), None), at)?,
            Event::SequenceEnd | Event::MappingEnd => tree.close().map_err(|what| (at, what))?,
            _ => {}
        }
    }
    Ok(tree.done.unwrap_or(Value::Null))
}

#[derive(Default)]
struct YamlTree {
    open: Vec<OpenCollection>,
    done: Option<Value>,
}

enum OpenCollection {
    List(Vec<Value>),
    /// With the key whose value is awaited.
    Map(Map<String, Value>, Option<String>),
}

impl YamlTree {
    fn open(&mut self, collection: OpenCollection, at: (usize, usize)) -> Result<(), YamlError> {
        if matches!(self.open.last(), Some(OpenCollection::Map(_, None))) {
            return Err((at, "a key must be a string".to_owned()));
        }
        // The parser has a limit of each kind; mixed they would add up.
        if self.open.len() >= DEPTH {
            return Err((at, format!("nested deeper than {DEPTH}")));
        }
        self.open.push(collection);
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        match self.open.pop() {
            Some(OpenCollection::List(list)) => self.value(Value::Array(list)),
            Some(OpenCollection::Map(map, _)) => self.value(Value::Object(map)),
            None => Ok(()),
        }
    }

    fn value(&mut self, value: Value) -> Result<(), String> {
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some(OpenCollection::List(list)) => list.push(value),
            Some(OpenCollection::Map(_, key @ None)) => {
                *key = Some(match value {
                    Value::String(key) => key,
                    other => other.to_string(),
                });
            }
            Some(OpenCollection::Map(map, key @ Some(_))) => {
                let key = key.take().unwrap_or_default();
                if map.contains_key(&key) {
                    return Err(format!("the key `{}` is used twice", text::neutral(&text::clip(&key, 40))));
                }
                map.insert(key, value);
            }
        }
        Ok(())
    }
}

/// What an unquoted scalar means. Only what reads back the same is taken for a number.
fn plain(word: &str) -> Value {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => match word.parse::<i64>() {
            Ok(number) if number.to_string() == word => number.into(),
            _ => word.into(),
        },
    }
}

/// A string that reads back as it is, quoted if it must be.
pub(crate) fn quoted(value: &str) -> String {
    let word = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/' | ',' | '(' | ')' | '+' | '=');
    let plain_enough = value.chars().all(|c| word(c) && !text::is_unsafe(c))
        && value.starts_with(|c: char| c.is_alphabetic())
        && !value.ends_with(' ')
        && value.len() < 200
        && plain(value).is_string()
        // Words that YAML 1.1 readers take for truth values.
        && !["y", "n", "yes", "no", "on", "off"].contains(&value.to_ascii_lowercase().as_str());
    if plain_enough { value.to_owned() } else { flow(&value.into()) }
}

/// A value as JSON, which is YAML too once the characters that only JSON allows bare are escaped.
pub(crate) fn flow(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        match u32::from(c) {
            _ if !text::is_unsafe(c) && !matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(c),
            number @ ..=0xffff => out.push_str(&format!("\\u{number:04x}")),
            number => out.push_str(&format!("\\U{number:08x}")),
        }
    }
    out
}

fn place(marker: &Marker) -> (usize, usize) {
    (marker.line(), marker.col() + 1)
}

fn message(error: &str) -> String {
    format!("not YAML: {}", text::neutral(&text::clip(error, 200)))
}
