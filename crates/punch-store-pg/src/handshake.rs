//! Logging in: from a socket to a connection that takes statements.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use fallible_iterator::FallibleIterator;
use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding as Wanted, TargetSessionAttrs};

use crate::address::Address;
use crate::answer::WireError;
use crate::socket::{self, within};
use crate::wire::PgWire;

/// Connects to the first host that answers and is of the wanted kind. Each has the time that `connect_timeout` gives it, for
/// the login too.
pub async fn connect(address: &Address) -> Result<PgWire, WireError> {
    let mut failed = WireError::Login("the address has no host".into());
    for target in socket::targets(&address.config) {
        let opened = async {
            let mut wire = PgWire::new(socket::connect(address, &target).await?);
            log_in(&mut wire, &address.config).await?;
            fits(&wire, address.config.get_target_session_attrs())?;
            Ok(wire)
        };
        match within(address.config.get_connect_timeout().copied(), opened).await {
            Ok(wire) => return Ok(wire),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Whether a server takes writes, where the address asks for that.
fn fits(wire: &PgWire, wanted: TargetSessionAttrs) -> Result<(), WireError> {
    let is_on = |name| wire.parameter(name) == Some("on");
    let reads_only = is_on("in_hot_standby") || is_on("default_transaction_read_only");
    match wanted {
        TargetSessionAttrs::ReadWrite if reads_only => Err(WireError::Login("the server is read-only".into())),
        TargetSessionAttrs::ReadOnly if !reads_only => Err(WireError::Login("the server is not read-only".into())),
        _ => Ok(()),
    }
}

async fn log_in(wire: &mut PgWire, config: &Config) -> Result<(), WireError> {
    let user = config.get_user().unwrap_or_default();
    let optional = [
        ("database", config.get_dbname()),
        ("options", config.get_options()),
        ("application_name", config.get_application_name()),
    ];
    let named = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let parameters = [("client_encoding", "UTF8"), ("user", user)].into_iter().chain(named);
    frontend::startup_message(parameters, wire.outgoing())?;
    wire.flush().await?;
    let password = || config.get_password().ok_or_else(|| WireError::Login("a password is missing".into()));
    let mut scram: Option<ScramSha256> = None;
    loop {
        match wire.message().await? {
            Message::ReadyForQuery(_) => return Ok(()),
            Message::BackendKeyData(body) => wire.process = Some(body.process_id().into()),
            // A server that asked for SCRAM has to prove that it knows the password, too.
            Message::AuthenticationOk if scram.is_some() => {
                return Err(WireError::Login("the server did not prove that it knows the password".into()));
            }
            Message::AuthenticationOk => may_skip_binding(config)?,
            Message::AuthenticationCleartextPassword => {
                may_skip_binding(config)?;
                frontend::password_message(password()?, wire.outgoing())?;
                wire.flush().await?;
            }
            Message::AuthenticationMd5Password(body) => {
                may_skip_binding(config)?;
                let hash = md5_hash(user.as_bytes(), password()?, body.salt());
                frontend::password_message(hash.as_bytes(), wire.outgoing())?;
                wire.flush().await?;
            }
            Message::AuthenticationSasl(body) => {
                may_skip_binding(config)?;
                knows_scram(&body)?;
                let begun = ScramSha256::new(password()?, ChannelBinding::unsupported());
                frontend::sasl_initial_response(SCRAM_SHA_256, begun.message(), wire.outgoing())?;
                wire.flush().await?;
                scram = Some(begun);
            }
            Message::AuthenticationSaslContinue(body) => {
                let begun = scram.as_mut().ok_or_else(WireError::unexpected)?;
                begun.update(body.data())?;
                frontend::sasl_response(begun.message(), wire.outgoing())?;
                wire.flush().await?;
            }
            Message::AuthenticationSaslFinal(body) => {
                scram.take().ok_or_else(WireError::unexpected)?.finish(body.data())?;
            }
            Message::ErrorResponse(body) => return Err(WireError::server(&body)),
            _ => return Err(WireError::Login("the server requires a login method that is not supported".into())),
        }
    }
}

fn knows_scram(body: &AuthenticationSaslBody) -> Result<(), WireError> {
    let mut mechanisms = body.mechanisms();
    while let Some(mechanism) = mechanisms.next()? {
        if mechanism == SCRAM_SHA_256 {
            return Ok(());
        }
    }
    Err(WireError::Login("the server requires a login method that is not supported".into()))
}

/// Logins are not bound to the TLS connection.
fn may_skip_binding(config: &Config) -> Result<(), WireError> {
    match config.get_channel_binding() {
        Wanted::Require => Err(WireError::Login("channel_binding=require is not supported".into())),
        _ => Ok(()),
    }
}
