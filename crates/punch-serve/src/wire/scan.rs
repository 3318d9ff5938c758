//! Finds the `id` of a JSON-RPC message without storing the message, so that a client that sent too much gets an error
//! for its request.

use serde_json::Value;

/// An id longer than this is not remembered.
const LONGEST: usize = 200;

/// Fed with the bytes of one JSON object, remembers the value of its own key `id` if it is a string or a number.
#[derive(Debug, Default)]
pub struct IdScan {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// The token that is being read at the top level: a string or a number.
    token: Vec<u8>,
    keeping: bool,
    /// A colon has been read since the last comma: what follows is a value.
    value: bool,
    at_id: bool,
    found: Option<Value>,
}

impl IdScan {
    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    /// What was found.
    pub fn id(self) -> Option<Value> {
        self.found
    }

    fn byte(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match (self.escaped, byte) {
                (true, _) => self.escaped = false,
                (false, b'\\') => self.escaped = true,
                (false, b'"') => {
                    self.in_string = false;
                    self.end();
                }
                (false, _) => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keeping = self.depth == 1 && (!self.value || self.at_id);
                self.token.clear();
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.end();
                self.depth += 1;
            }
            b'}' | b']' => {
                self.end();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => self.value = true,
            b',' if self.depth == 1 => {
                self.end();
                (self.value, self.at_id) = (false, false);
            }
            b' ' | b'\t' | b'\r' => self.end(),
            _ if self.depth == 1 && self.at_id && self.value => {
                self.keeping = true;
                self.keep(byte);
            }
            _ => {}
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.keeping && self.token.len() <= LONGEST {
            self.token.push(byte);
        }
    }

    /// A token is complete.
    fn end(&mut self) {
        if !std::mem::take(&mut self.keeping) {
            return;
        }
        let token = std::mem::take(&mut self.token);
        if !self.value {
            self.at_id = token == br#""id""#;
        } else if self.at_id && self.depth == 1 && token.len() <= LONGEST {
            let parsed: Option<Value> = serde_json::from_slice(&token).ok();
            self.found = parsed.filter(|value| value.is_string() || value.is_i64()).or(self.found.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn scan(text: &str) -> Option<Value> {
        let mut scan = IdScan::default();
        scan.feed(text.as_bytes());
        scan.id()
    }

    #[test]
    fn only_the_message_s_own_id_counts() {
        assert_eq!(scan(r#"{"jsonrpc":"2.0","id":5,"params":{"id":6}}"#), Some(json!(5)));
        assert_eq!(scan(r#"{ "params" : {"id":6,"a":["}",{"id":"x"}]} , "id" : "s\"7" }"#), Some(json!("s\"7")));
        assert_eq!(scan(r#"{"a":"id","b":1}"#), None);
        assert_eq!(scan(r#"{"id":null}"#), None);
        assert_eq!(scan(r#"{"id":{"x":1}}"#), None);
        assert_eq!(scan(r#"[{"id":1}]"#), None);
        assert_eq!(scan(r#"{"id":7"#), None);
        assert_eq!(scan("}}}]]:,\"\\"), None);
    }

    proptest! {
        #[test]
        fn ids_are_found_wherever_they_stand(id: i64, text: String, first: bool) {
            let params = json!({"id": text, "list": [text, {"id": 1}]});
            let message = match first {
                true => json!({"id": id, "method": text, "params": params}),
                false => json!({"method": text, "params": params, "id": id}),
            };
            prop_assert_eq!(scan(&message.to_string()), Some(json!(id)));
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            let mut scan = IdScan::default();
            scan.feed(&bytes);
            scan.id();
        }
    }
}
