//! Where users look for servers: `server.json` for the MCP registry, and the links that install the server in Cursor and
//! VS Code. All follow from one entry, and tests compare what is checked in with it.

use serde_json::{Value, json};

/// The name in the MCP registry. The npm package must repeat it, to show that both have one owner.
pub const SERVER_NAME: &str = "io.github.punchlist/punch";

/// The npm package that holds the server.
const PACKAGE: &str = "punchlist";

/// The edition of the registry's format that `server.json` follows.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// Describes the server to the MCP registry.
pub fn server_json(version: &str) -> Value {
    json!({
        "$schema": SCHEMA,
        "name": SERVER_NAME,
        "title": "Punchlist",
        "description": "A durable todo list for coding agents: dependencies, proof, undo; sends early quitters back",
        "version": version,
        "packages": [{
            "registryType": "npm",
            "identifier": PACKAGE,
            "version": version,
            "transport": {"type": "stdio"},
            "packageArguments": [{"type": "positional", "value": "mcp"}],
        }],
    })
}

/// The server as both editors have it in their settings.
fn entry() -> Value {
    json!({"command": "punch", "args": ["mcp"]})
}

/// The links for `docs/agents.md`.
pub fn links() -> Result<String, String> {
    let named = percent(&entry().to_string());
    let config = percent(&base64(entry().to_string().as_bytes()));
    // Pages on the web show only links to the web, so each editor has a page that leads to it.
    let cursor = format!("https://cursor.com/en/install-mcp?name=punch&config={config}");
    let vs_code = format!("https://insiders.vscode.dev/redirect/mcp/install?name=punch&config={named}");
    Ok(format!(
        "- [Install in Cursor]({cursor}), or open `{}`\n- [Install in VS Code]({vs_code}), or open `{}`\n",
        cursor_link(),
        vs_code_link()
    ))
}

/// The link that adds the server to Cursor.
fn cursor_link() -> String {
    format!(
        "cursor://anysphere.cursor-deeplink/mcp/install?name=punch&config={}",
        base64(entry().to_string().as_bytes())
    )
}

/// The link that adds the server to VS Code.
fn vs_code_link() -> String {
    let mut named = json!({"name": "punch"});
    for (key, value) in entry().as_object().into_iter().flatten() {
        named[key] = value.clone();
    }
    format!("vscode:mcp/install?{}", percent(&named.to_string()))
}

fn percent(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    text.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let number = group.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * place) & 63) as usize];
            out.push(if place > group.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

/// The part of the registry's format that `server.json` uses, written by hand from its public reference: the schema itself has an
/// address that the gate must not need. It is stricter than the schema, because it refuses every field that we do not use.
/// `mcp-publisher validate` applies the whole schema before a release.
#[cfg(test)]
fn schema() -> Value {
    let text = |most: u32| json!({"type": "string", "minLength": 1, "maxLength": most});
    json!({
        "type": "object",
        "required": ["name", "description", "version"],
        "properties": {
            "$schema": {"const": SCHEMA},
            "name": text(200),
            "title": text(100),
            "description": text(100),
            "version": text(255),
            "packages": {"type": "array", "items": {
                "type": "object",
                "required": ["registryType", "identifier", "transport"],
                "properties": {
                    "registryType": {"enum": ["npm", "pypi", "cargo", "oci", "nuget", "mcpb"]},
                    "identifier": text(255),
                    "version": text(255),
                    "transport": {"type": "object", "required": ["type"], "properties": {"type": {"const": "stdio"}}},
                    "packageArguments": {"type": "array", "items": {
                        "type": "object",
                        "required": ["type", "value"],
                        "properties": {"type": {"const": "positional"}, "value": {"type": "string"}},
                    }},
                },
            }},
        },
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use punch_testkit::schema::wrong;

    use super::*;
    use crate::process;

    fn checked_in(path: &str) -> String {
        fs::read_to_string(process::root().join(path)).unwrap_or_else(|cause| panic!("{path}: {cause}"))
    }

    #[test]
    fn server_json_is_made_from_the_entry_and_fits_the_registry() {
        let made = server_json(env!("CARGO_PKG_VERSION"));
        let found: Value = serde_json::from_str(&checked_in("server.json")).unwrap_or_else(|cause| panic!("{cause}"));
        assert_eq!(found, made, "server.json should hold\n{made:#}");
        assert_eq!(wrong(&schema(), &made), [""; 0]);
    }

    #[test]
    fn the_name_is_a_reversed_host_and_a_word() {
        let (host, word) = SERVER_NAME.split_once('/').unwrap_or_else(|| panic!("no slash"));
        assert!(host.split('.').count() >= 2 && host.split('.').all(|part| !part.is_empty()));
        assert!(!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)));
    }

    #[test]
    fn versions_are_exact() {
        // The registry refuses ranges in its code, not in its schema.
        let is_exact = |version: &Value| {
            let parts: Vec<&str> = version.as_str().unwrap_or_default().split('.').collect();
            parts.len() == 3 && parts.iter().all(|part| part.parse::<u32>().is_ok())
        };
        let made = server_json(env!("CARGO_PKG_VERSION"));
        assert!(is_exact(&made["version"]) && is_exact(&made["packages"][0]["version"]), "{made:#}");
        for range in ["^1.0.0", "1.x", "1.*.0", ">=1.0.0", "latest", "1.0"] {
            assert!(!is_exact(&json!(range)), "{range}");
        }
    }

    #[test]
    fn unknown_fields_and_texts_that_are_too_long_are_noticed() {
        let mut long = server_json("1.0.0");
        long["description"] = json!("x".repeat(101));
        assert_eq!(wrong(&schema(), &long).len(), 1);
        let mut unknown = server_json("1.0.0");
        unknown["packages"][0]["registry_name"] = json!("npm");
        assert_eq!(wrong(&schema(), &unknown).len(), 1);
    }

    #[test]
    fn links_carry_the_entry_of_the_plugins() {
        let shipped: Value = serde_json::from_str(&checked_in("plugins/gemini/gemini-extension.json"))
            .unwrap_or_else(|cause| panic!("{cause}"));
        assert_eq!(shipped["mcpServers"]["punch"], entry());
        assert_eq!(base64(b"any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
        assert_eq!(base64(b"any carnal pleasu"), "YW55IGNhcm5hbCBwbGVhc3U=");
        assert_eq!(base64(b"any carnal pleasur"), "YW55IGNhcm5hbCBwbGVhc3Vy");
        assert_eq!(percent(r#"{"a b":1}"#), "%7B%22a%20b%22%3A1%7D");
        // Nothing in a link may end it in Markdown or be read as another part of the address.
        for link in links().unwrap_or_default().split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
            let (link, query) = (link.0, link.0.split_once("&config=").map_or("", |(_, config)| config));
            assert!(link.starts_with("https://") && !query.contains(['=', '&', '"', ' ', '(']), "{link}");
        }
    }
}
