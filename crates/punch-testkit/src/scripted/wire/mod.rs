//! The four wire formats: each reads a request into [`ModelRequest`] and writes a [`ModelTurn`] as a stream or as a whole.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::Value;

use super::{ModelRequest, ModelTurn};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelApi {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
    /// Gemini generateContent.
    Gemini,
}

/// One event of a stream: its name, where the format has names, and its data.
pub type StreamEvent = (Option<&'static str>, Value);

impl ModelApi {
    /// The format that is spoken at a path, if any.
    pub fn at(path: &str) -> Option<Self> {
        match path {
            _ if path.ends_with("/messages") => Some(Self::Anthropic),
            _ if path.ends_with("/responses") => Some(Self::Responses),
            _ if path.ends_with("/chat/completions") => Some(Self::Chat),
            _ if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") => Some(Self::Gemini),
            _ => None,
        }
    }

    /// Its name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Gemini => "gemini",
        }
    }

    /// What a request says. Missing and misshapen parts read as empty.
    pub fn read(self, path: &str, body: &Value) -> ModelRequest {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::Responses => responses::read(body),
            Self::Chat => chat::read(body),
            Self::Gemini => gemini::read(path, body),
        }
    }

    /// The answer as events of a stream.
    pub fn events(self, answer: &ModelTurn) -> Vec<StreamEvent> {
        match self {
            Self::Anthropic => anthropic::events(answer),
            Self::Responses => responses::events(answer),
            Self::Chat => chat::events(answer),
            Self::Gemini => vec![(None, gemini::whole(answer))],
        }
    }

    /// The answer as one document.
    pub fn whole(self, answer: &ModelTurn) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(answer),
            Self::Responses => responses::whole(answer),
            Self::Chat => chat::whole(answer),
            Self::Gemini => gemini::whole(answer),
        }
    }

    /// What ends a stream, beside the end of the connection.
    pub fn farewell(self) -> &'static str {
        if self == Self::Chat { "data: [DONE]\n\n" } else { "" }
    }
}

/// A field as text; empty if it is none.
fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The items of a field; none if it is no list.
fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
