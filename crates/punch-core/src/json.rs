//! JSON objects that keep the order of their keys if the program asks for it (`serde_json/preserve_order`). The rules
//! do not depend on that order: a program that does not ask gets sorted keys.

use serde_json::{Map, Value};

/// An object of values that are made already: `json!` would copy each of them.
pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Removes a key and returns its value. The other keys keep their order, which `Map::remove` does not promise.
pub fn take(map: &mut Map<String, Value>, key: &str) -> Option<Value> {
    let mut found = None;
    if map.contains_key(key) {
        map.retain(|name, value| {
            let keep = name != key;
            if !keep {
                found = Some(value.take());
            }
            keep
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_other_keys_keep_their_order() {
        let Value::Object(mut map) = json!({"c": 1, "b": 2, "a": 3, "d": 4}) else { unreachable!() };
        let before: Vec<String> = map.keys().filter(|key| *key != "b").cloned().collect();
        assert_eq!(take(&mut map, "b"), Some(json!(2)));
        assert_eq!(take(&mut map, "b"), None);
        assert_eq!(map.keys().cloned().collect::<Vec<_>>(), before);
    }
}
