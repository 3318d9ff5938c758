//! Who calls: the host's session where anything names it, else one of our own making.
//!
//! A server that `punch run` started for one worker has one session, whatever a call says. Any other goes in this order:
//! the argument `session`, the call's `_meta` (`threadId`, `sessionId`), the session file. A call that none of these
//! names is left to the tool service, which knows what hooks reported, what the process was started with, and the key
//! that only this server has.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use punch_core::hash::fnv1a;
use punch_store::SessionKey;
use serde_json::{Map, Value};

/// The maximum length of an identifier from outside; longer ones are ignored.
const LONGEST: usize = 200;

/// Bytes of a session file.
const LARGEST: u64 = 64 * 1024;

/// The value that distinguishes the conversations of one server process if no host does.
#[derive(Clone, Debug)]
pub struct ConversationTag {
    base: Arc<str>,
    next: Arc<AtomicU64>,
}

impl ConversationTag {
    /// `base` is unique among processes: a number of the process and its start.
    pub fn new(base: &str) -> Self {
        Self { base: base.into(), next: Arc::default() }
    }

    /// The key of the process itself.
    pub fn own(&self) -> SessionKey {
        SessionKey::provisional(&self.base)
    }

    /// A key for one more connection.
    pub fn connection(&self) -> SessionKey {
        match self.next.fetch_add(1, Ordering::Relaxed) {
            0 => self.own(),
            n => SessionKey::provisional(format_args!("{}-{n}", self.base)),
        }
    }
}

/// The name of the token that a request carries. Whatever the client calls itself, its changes are signed with this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenName(pub String);

/// What is known about the caller before the call.
#[derive(Clone, Debug, Default)]
pub struct CallerIdentity {
    /// The one session that this server works for; nothing in a call changes it.
    pub fixed: Option<String>,
    /// What the host started us with.
    pub session: Option<String>,
    /// A file whose first line is the session; read at every call, because it may change.
    pub file: Option<PathBuf>,
}

/// What one call says about its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// The conversation, if the call or a file names it.
    pub session: Option<SessionKey>,
    /// The conversation that the process was started for.
    pub started_for: Option<SessionKey>,
    /// The plan that the call names.
    pub plan: Option<String>,
    /// The key that distinguishes a repeated call from a new one.
    pub call: Option<String>,
}

impl CallerIdentity {
    /// Takes `session`, `subagent` and `plan` out of the arguments and looks at everything else that names a caller.
    pub fn who(&self, arguments: &mut Map<String, Value>, meta: &Map<String, Value>) -> Who {
        let mut take = |key: &str| arguments.remove(key).and_then(|value| value.as_str().and_then(name));
        let (given, subagent, plan) = (take("session"), take("subagent"), take("plan"));
        let noted = |key: &str| meta.get(key).and_then(Value::as_str).and_then(name);
        let conversation =
            || given.or_else(|| noted("threadId")).or_else(|| noted("sessionId")).or_else(|| self.in_file());
        let key = |host: String| SessionKey::new(host, subagent.as_deref());
        let session = match &self.fixed {
            // A subagent has no todos of its own: naming one would be a way out of the role as well.
            Some(fixed) => Some(SessionKey::new(fixed.clone(), None)),
            None => conversation().map(key),
        };
        Who {
            session,
            started_for: self.session.as_deref().and_then(name).map(key),
            plan,
            call: noted("claudecode/toolUseId").or_else(|| noted("callId")),
        }
    }

    /// What the file says now.
    pub fn in_file(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        // A pipe would be waited for, and a file may be of any size.
        std::fs::metadata(file).ok().filter(|found| found.is_file() && found.len() < LARGEST)?;
        let mut text = Vec::new();
        File::open(file).ok()?.take(LARGEST).read_to_end(&mut text).ok()?;
        name(std::str::from_utf8(&text).ok()?.lines().next()?)
    }
}

/// An identifier of sensible shape: it is shown to people and stored.
fn name(given: &str) -> Option<String> {
    let given = given.trim();
    let good = !given.is_empty() && given.len() <= LONGEST && !given.chars().any(char::is_control);
    good.then(|| given.to_owned())
}

/// The key under which the answer to a call is stored. The content is part of it, because a host that counts its calls
/// from 1 in every conversation must not get the answer to another call.
pub fn idempotency(session: &SessionKey, tool: &str, call: &str, arguments: &Value) -> String {
    let hash = fnv1a(tool.bytes().chain([0]).chain(arguments.to_string().bytes()));
    format!("mcp:{}:{}:{call}:{hash:016x}", session.session_id(), session.subagent().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn who(identity: &CallerIdentity, arguments: Value, meta: Value) -> (Who, Value) {
        let (Value::Object(mut arguments), Value::Object(meta)) = (arguments, meta) else { panic!("objects") };
        let who = identity.who(&mut arguments, &meta);
        (who, Value::Object(arguments))
    }

    fn host(who: &Who) -> Option<&str> {
        who.session.as_ref().or(who.started_for.as_ref()).map(SessionKey::session_id)
    }

    #[test]
    fn the_nearest_source_wins() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("session");
        let mut identity = CallerIdentity { fixed: None, session: Some("env".into()), file: Some(file.clone()) };
        let meta = json!({"threadId": "thread", "sessionId": "other", "callId": "c1"});
        let (found, left) = who(&identity, json!({"session": "given", "view": "plan"}), meta.clone());
        assert_eq!((host(&found), found.call.as_deref()), (Some("given"), Some("c1")));
        assert_eq!(left, json!({"view": "plan"}));
        assert_eq!(host(&who(&identity, json!({}), meta).0), Some("thread"));
        assert_eq!(host(&who(&identity, json!({}), json!({})).0), Some("env"));
        std::fs::write(&file, "from-file\nmore\n").unwrap();
        assert_eq!(host(&who(&identity, json!({}), json!({})).0), Some("from-file"));
        for not_one in ["\n".to_owned(), format!("from-file\n{}", "x".repeat(64 * 1024))] {
            std::fs::write(&file, not_one).unwrap();
            assert_eq!(host(&who(&identity, json!({}), json!({})).0), Some("env"));
        }
        identity.session = Some(String::new());
        assert_eq!(host(&who(&identity, json!({}), json!({})).0), None);
    }

    #[test]
    fn nothing_in_a_call_changes_a_fixed_session() {
        let identity = CallerIdentity { fixed: Some("worker".into()), session: Some("env".into()), file: None };
        let meta = json!({"threadId": "thread", "sessionId": "other"});
        for (arguments, meta) in [
            (json!({}), json!({})),
            (json!({"session": "zz"}), json!({})),
            (json!({"session": "zz", "subagent": "s"}), meta.clone()),
            (json!({"subagent": "s"}), json!({})),
            (json!({}), meta),
        ] {
            let (found, left) = who(&identity, arguments, meta);
            assert_eq!(found.session, Some(SessionKey::new("worker", None)));
            assert_eq!(left, json!({}));
        }
    }

    #[test]
    fn names_without_a_sensible_shape_name_nobody() {
        let identity = CallerIdentity::default();
        for bad in [json!(""), json!(" "), json!("a\u{1b}[31m"), json!("x".repeat(300)), json!(7), json!(null)] {
            assert_eq!(host(&who(&identity, json!({"session": bad}), json!({"sessionId": bad})).0), None, "{bad}");
        }
    }

    #[test]
    fn a_key_changes_with_everything_that_makes_a_call_another_one() {
        let session = SessionKey::new("s", None);
        let key = |tool: &str, call: &str, arguments: Value| idempotency(&session, tool, call, &arguments);
        let first = key("todo_write", "c1", json!({"ops": []}));
        assert_eq!(first, key("todo_write", "c1", json!({"ops": []})));
        assert_ne!(first, key("todo_write", "c2", json!({"ops": []})));
        assert_ne!(first, key("todo_write", "c1", json!({"ops": [1]})));
        assert_ne!(first, key("todo_read", "c1", json!({"ops": []})));
    }

    #[test]
    fn connections_get_keys_of_their_own() {
        let tag = ConversationTag::new("42-1");
        assert_eq!(tag.connection(), tag.own());
        assert_ne!(tag.connection(), tag.own());
    }
}
