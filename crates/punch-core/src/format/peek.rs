//! A quick look at JSON: which keys there are and what types they hold, without building the value. Bounded for any
//! input.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Keys and items that are looked at.
const WIDTH: usize = 100;
/// The depth to which values are looked at.
const DEPTH: usize = 4;

/// What a value looks like.
#[derive(Debug)]
pub(super) enum ValueShape {
    /// Keys with their values.
    Map(Vec<(String, ValueShape)>),
    /// The first items.
    List(Vec<ValueShape>),
    /// A text, cut.
    Text(String),
    /// Anything else.
    Other,
}

/// The shape of a text that is JSON as a whole.
pub(super) fn peek(text: &str) -> Option<ValueShape> {
    let mut json = serde_json::Deserializer::from_str(text);
    let shape = Seed(DEPTH).deserialize(&mut json).ok()?;
    json.end().ok().map(|()| shape)
}

impl ValueShape {
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(map) => map.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The items of the list under a key.
    pub(super) fn list(&self, key: &str) -> Option<&[Self]> {
        if let Self::List(items) = self.get(key)? { Some(items) } else { None }
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Self> {
        let map = if let Self::Map(map) = self { map.as_slice() } else { &[] };
        map.iter().map(|(_, value)| value)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        let map = if let Self::Map(map) = self { map.as_slice() } else { &[] };
        map.iter().map(|(key, _)| key.as_str())
    }
}

struct Seed(usize);

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = ValueShape;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<ValueShape, D::Error> {
        if self.0 == 0 {
            return from.deserialize_ignored_any(IgnoredAny).map(|_| ValueShape::Other);
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = ValueShape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ValueShape, A::Error> {
        let mut out = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if out.len() < WIDTH {
                let value = map.next_value_seed(Self(self.0 - 1))?;
                out.push((key, value));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(ValueShape::Map(out))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ValueShape, A::Error> {
        let mut out = Vec::new();
        while out.len() < WIDTH {
            match list.next_element_seed(Self(self.0 - 1))? {
                Some(item) => out.push(item),
                None => return Ok(ValueShape::List(out)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(ValueShape::List(out))
    }

    fn visit_str<E>(self, text: &str) -> Result<ValueShape, E> {
        Ok(ValueShape::Text(text.chars().take(40).collect()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<ValueShape, E> {
        Ok(ValueShape::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<ValueShape, E> {
        Ok(ValueShape::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<ValueShape, E> {
        Ok(ValueShape::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<ValueShape, E> {
        Ok(ValueShape::Other)
    }

    fn visit_unit<E>(self) -> Result<ValueShape, E> {
        Ok(ValueShape::Other)
    }
}
