//! `punch token`: tokens with which other machines and programs reach the web board.

use clap::{Args, Subcommand, builder::PossibleValuesParser};
use punch_core::view::Layout;
use punch_engine::config::parse_duration;
use punch_web::{NewToken, StartedBy, StoredToken, TokenFile, TokenRole};
use serde_json::{Value, json};

use super::serve::started_by;
use crate::environment;
use crate::failure::Failure;
use crate::project::Project;
use crate::reply::VerbReply;

const EXAMPLES: &str = "\
Examples:
  punch token new phone                      # may write; expires after 30 days
  punch token new wallboard --role reader --expires 365d
  punch token new ci --role agent            # only for /mcp
  punch token list
  punch token revoke phone";

/// The arguments of `punch token`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TokenCommandArgs {
    #[command(subcommand)]
    verb: Option<TokenVerb>,
}

#[derive(Subcommand)]
enum TokenVerb {
    /// Create a token and print it once
    New(NewTokenArgs),
    /// List tokens with role and expiry
    List,
    /// Revoke a token
    Revoke(Revoke),
}

#[derive(Args)]
struct NewTokenArgs {
    /// Token name; recorded as the author of its changes
    #[arg(value_name = "NAME")]
    name: String,
    /// What the token may do: reader (read), owner (read and write), agent (/mcp only)
    #[arg(long, value_name = "ROLE", default_value = "owner", value_parser = PossibleValuesParser::new(TokenRole::ALL.map(TokenRole::name)))]
    role: String,
    /// When it expires, such as 12h or 90d, or `never`
    #[arg(long, value_name = "DURATION", default_value = "30d")]
    expires: String,
}

#[derive(Args)]
struct Revoke {
    /// The name
    #[arg(value_name = "NAME")]
    name: String,
}

impl TokenCommandArgs {
    /// Runs the verb.
    pub fn run(self, project: Project) -> Result<VerbReply, Failure> {
        let none = || Failure::usage("there is no home folder for the tokens", "set HOME or XDG_STATE_HOME");
        let file = TokenFile::in_folder(&environment::state_home().ok_or_else(none)?);
        let now = environment::clock()();
        let layout = project.layout(now);
        let wrong = |error: punch_web::TokenFileError| Failure::refused(error.code(), error.message(), &error.hint());
        match self.verb.unwrap_or(TokenVerb::List) {
            TokenVerb::New(new) => {
                let role = TokenRole::parse(&new.role).unwrap_or(TokenRole::Reader);
                let by = started_by(project.engine()?.as_ref())?;
                if matches!(by, StartedBy::Agent) && role != TokenRole::Reader {
                    let message = "an agent may create only tokens with the role `reader`";
                    return Err(Failure::refused(
                        "user_only",
                        message,
                        "add `--role reader`, or ask the user to run this command",
                    ));
                }
                let expires_at = ends(&new.expires, now)?;
                let secret = file.add(&NewToken { name: new.name.clone(), role, expires_at }, now).map_err(wrong)?;
                let json = json!({"name": new.name, "role": role.name(), "expiresAt": expires_at, "token": secret});
                Ok(VerbReply::new(secret, json))
            }
            TokenVerb::List => {
                let all = file.list().map_err(wrong)?;
                let lines: Vec<String> = all.iter().map(|token| line(token, layout)).collect();
                let text = if lines.is_empty() { "No tokens.".to_owned() } else { lines.join("\n") };
                let token = |token: &StoredToken| {
                    json!({
                        "name": token.name, "role": token.role.name(), "createdAt": token.created_at,
                        "expiresAt": token.expires_at, "ended": !token.counts(now),
                    })
                };
                Ok(VerbReply::new(text, json!({"tokens": all.iter().map(token).collect::<Vec<Value>>()})))
            }
            TokenVerb::Revoke(Revoke { name }) => {
                file.revoke(&name).map_err(wrong)?;
                Ok(VerbReply::new(format!("Revoked {name}."), json!({"revoked": name})))
            }
        }
    }
}

/// When a token ends.
fn ends(given: &str, now: i64) -> Result<Option<i64>, Failure> {
    if given == "never" {
        return Ok(None);
    }
    let wrong = || {
        let given = punch_core::text::neutral(given).into_owned();
        Failure::usage(&format!("invalid duration `{given}`"), "use a duration such as 12h or 90d, or never")
    };
    let lasts = parse_duration(given).ok_or_else(wrong)?;
    let lasts = i64::try_from(lasts.as_millis()).map_err(|_| wrong())?;
    if lasts == 0 {
        return Err(wrong());
    }
    Ok(Some(now.saturating_add(lasts)))
}

fn line(token: &StoredToken, layout: Layout) -> String {
    let end = match token.expires_at {
        None => "never expires".to_owned(),
        Some(end) if token.counts(layout.now) => format!("expires {}", layout.moment(end)),
        Some(end) => format!("expired {}", layout.moment(end)),
    };
    format!("{:<20}  {:<6}  {end}", token.name, token.role.name())
}
