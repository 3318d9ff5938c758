//! The address of a server, and how to log in there. An address never contains a password; passwords come from the
//! environment, a password file or a service file.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use punch_store::{StoreError, StoreLabel, StoreObstacle, has_password, percent_decoded, split_query};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::login::{Login, Service, password_from_file};

/// The schema that holds the tables unless the address names another.
pub(crate) const SCHEMA: &str = "punch";

const PASSWORD: &str = "an address must not contain a password";

/// Notices a dead server within half a minute: a partitioned client must not wait for ever.
const KEEPALIVE: Duration = Duration::from_secs(5);

/// How certificates of the server are judged, as libpq's `sslmode` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CertificateCheck {
    /// Any certificate will do: `prefer` and `require`.
    Nothing,
    /// The certificate comes from a known authority: `verify-ca`.
    Authority,
    /// The certificate also names the host: `verify-full`.
    Full,
}

/// An address that can be connected to.
#[derive(Clone)]
pub(crate) struct Address {
    pub config: Config,
    pub label: StoreLabel,
    pub schema: String,
    pub verify: CertificateCheck,
    pub root_certificate: Option<PathBuf>,
    /// Why a password may be missing.
    pub password_note: Option<String>,
}

impl Address {
    pub fn parse(text: &str, login: &Login) -> Result<Self, StoreError> {
        let refused = |why: String| refuse(&StoreLabel::server(without_password(text)), why);
        if has_password(text) {
            return Err(refused(PASSWORD.into()));
        }
        let (base, query) = split_query(text);
        let mut own = OwnParameters::default();
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value_text = percent_decoded(value).ok_or_else(|| refused(format!("`{name}` is not valid UTF-8")))?;
            match name {
                "schema" => own.schema = Some(value_text),
                "sslmode" => own.sslmode = Some(value_text),
                "sslrootcert" => own.sslrootcert = Some(value_text),
                "passfile" => own.passfile = Some(value_text),
                "service" => own.service = Some(value_text),
                _ => rest.push(pair),
            }
        }
        let service = own.service.clone().or_else(|| login.service.clone());
        let service = match service {
            Some(name) => Service::read(&name, login.service_file.as_deref()).map_err(refused)?,
            None => Service::default(),
        };
        let joined = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        let mut config = Config::from_str(&joined).map_err(|error| refused(error.to_string()))?;
        // Whatever form it has: what connects must not find one there.
        if config.get_password().is_some() {
            return Err(refused(PASSWORD.into()));
        }
        service.fill(&mut config);
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host(login.host.as_deref().unwrap_or(default_host()));
        }
        if config.get_user().is_none()
            && let Some(user) = &login.user
        {
            config.user(user);
        }
        if config.get_dbname().is_none()
            && let Some(name) = config.get_user().map(str::to_owned)
        {
            config.dbname(name);
        }
        let sslmode = own.sslmode.or_else(|| service.get("sslmode")).or_else(|| login.sslmode.clone());
        let (mode, verify) = ssl(&config, sslmode.as_deref())
            .ok_or_else(|| refused(format!("unknown sslmode `{}`", sslmode.unwrap_or_default())))?;
        config.ssl_mode(mode).application_name("punch");
        config.keepalives_idle(KEEPALIVE).keepalives_interval(KEEPALIVE).keepalives_retries(3);
        config.tcp_user_timeout(KEEPALIVE * 4);
        let schema = own.schema.unwrap_or_else(|| SCHEMA.to_owned());
        if !is_schema(&schema) {
            return Err(refused(format!("invalid schema `{schema}`: use lower case letters, digits and _")));
        }
        let root = own.sslrootcert.or_else(|| service.get("sslrootcert")).map(PathBuf::from);
        let label = StoreLabel::server(shown(&config, &schema));
        let mut password_note = None;
        let passfile = own.passfile.or_else(|| service.get("passfile")).map(PathBuf::from);
        if let Some(password) = login.password.clone().or_else(|| service.get("password")) {
            config.password(password);
        } else if let Some(file) = passfile.as_deref().or(login.passfile.as_deref()) {
            match password_from_file(file, &wanted(&config)) {
                Ok(Some(password)) => drop(config.password(password)),
                Ok(None) => {}
                Err(note) => password_note = Some(note),
            }
        }
        let root_certificate = root.or_else(|| login.root_certificate.clone());
        Ok(Self { config, label, schema, verify, root_certificate, password_note })
    }
}

#[derive(Default)]
struct OwnParameters {
    schema: Option<String>,
    sslmode: Option<String>,
    sslrootcert: Option<String>,
    passfile: Option<String>,
    service: Option<String>,
}

pub(crate) fn refuse(store: &StoreLabel, why: String) -> StoreError {
    StoreError::Unavailable { store: store.clone(), reason: StoreObstacle::Address, why }
}

/// The address for a message about itself, without its parameters; nothing of it if it contains a password.
fn without_password(text: &str) -> &str {
    if text.contains("://") && !has_password(text) { split_query(text).0 } else { "postgres://…" }
}

fn shown(config: &Config, schema: &str) -> String {
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let (mut host, mut query) = (String::new(), Vec::new());
    match config.get_hosts().first() {
        Some(Host::Tcp(name)) if name.contains(':') => host = format!("[{name}]"),
        Some(Host::Tcp(name)) => host.clone_from(name),
        #[cfg(unix)]
        Some(Host::Unix(folder)) => query.push(format!("host={}", folder.display())),
        None => {}
    }
    if port != 5432 && !host.is_empty() {
        host = format!("{host}:{port}");
    } else if port != 5432 {
        query.push(format!("port={port}"));
    }
    if schema != SCHEMA {
        query.push(format!("schema={schema}"));
    }
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("postgres://{user}{host}/{}{query}", config.get_dbname().unwrap_or_default())
}

/// Host, port, database and user, as a line of a password file names them.
fn wanted(config: &Config) -> [String; 4] {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(_)) => "localhost".to_owned(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    [host, port, text(config.get_dbname()), text(config.get_user())]
}

fn ssl(config: &Config, mode: Option<&str>) -> Option<(SslMode, CertificateCheck)> {
    let local = !config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(_)));
    match mode {
        Some("disable") => Some((SslMode::Disable, CertificateCheck::Nothing)),
        Some("allow" | "prefer" | "") | None if local => Some((SslMode::Disable, CertificateCheck::Nothing)),
        Some("allow" | "prefer" | "") | None => Some((SslMode::Prefer, CertificateCheck::Nothing)),
        Some("require") => Some((SslMode::Require, CertificateCheck::Nothing)),
        Some("verify-ca") => Some((SslMode::Require, CertificateCheck::Authority)),
        Some("verify-full") => Some((SslMode::Require, CertificateCheck::Full)),
        Some(_) => None,
    }
}

/// Goes into statements as it is, so it is a plain name.
fn is_schema(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (1..=63).contains(&name.len()) && name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit())
}

fn default_host() -> &'static str {
    if cfg!(unix) && Path::new("/var/run/postgresql").is_dir() { "/var/run/postgresql" } else { "localhost" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_address(text: &str) -> Result<StoreLabel, StoreError> {
        Address::parse(text, &Login::default()).map(|address| address.label)
    }

    fn label(text: &str) -> String {
        Address::parse(text, &Login { user: Some("me".into()), ..Login::default() }).unwrap().label.to_string()
    }

    #[test]
    fn an_address_is_shown_without_what_is_usual() {
        assert_eq!(label("postgres://ann@db.example:5432/plans"), "postgres://ann@db.example/plans");
        assert_eq!(label("postgresql://db:6000/plans?sslmode=require"), "postgres://me@db:6000/plans");
        assert_eq!(label("postgres:///plans?host=/run/pg&port=5433"), "postgres://me@/plans?host=/run/pg&port=5433");
        assert_eq!(label("postgres://db/plans?schema=team_a"), "postgres://me@db/plans?schema=team_a");
        assert_eq!(label("postgres://db"), "postgres://me@db/me");
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        for text in [
            "postgres://ann:secret@db/plans",
            "postgres://ann:sec:ret@db/plans?schema=x",
            "postgres://ann:sec/ret@db/plans",
            "postgres://ann:sec?ret@db/plans",
            "postgres://ann:sec@ret@db/plans",
            "postgres://db/plans?password=secret",
            "postgres://db/plans?pass%77ord=secret",
            "host=db user=ann password=secret",
        ] {
            let error = check_address(text).unwrap_err();
            assert_eq!(error.code(), "store_address");
            let said = format!("{} {} {error:?}", error.message(), error.hint());
            assert!(!said.contains("secret") && !said.contains("ret@"), "{said}");
        }
    }

    #[test]
    fn no_address_that_is_accepted_leads_to_a_password_however_it_is_put_together() {
        const PARTS: [&str; 10] = ["ann", ":", "hush", "/", "?", "@", "db", "&", "password=", "x=1"];
        let with = |texts: &[String]| -> Vec<String> {
            texts.iter().flat_map(|text| PARTS.iter().map(move |part| format!("{text}{part}"))).collect()
        };
        let mut texts = vec!["postgres://".to_owned()];
        for _ in 0..5 {
            texts = with(&texts);
            for text in &texts {
                let found = Config::from_str(text).is_ok_and(|config| config.get_password().is_some());
                assert!(!found || has_password(text), "{text}");
                match Address::parse(text, &Login::default()) {
                    Ok(address) => assert_eq!(address.config.get_password(), None, "{text}"),
                    Err(error) if found => assert!(!format!("{error:?}").contains("hush"), "{text}"),
                    Err(_) => {}
                }
            }
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in [
            "postgres://db/plans?schema=Bad\"name",
            "postgres://db/plans?sslmode=maybe",
            "postgres://db/plans?nonsense=1",
            "postgres://db:port/plans",
            "postgres://db/plans?schema=%f",
        ] {
            assert_eq!(check_address(text).unwrap_err().code(), "store_address", "{text}");
        }
    }

    #[test]
    fn certificates_are_judged_as_sslmode_says() {
        let of = |text: &str| Address::parse(text, &Login::default()).unwrap();
        assert_eq!(of("postgres://db/x").config.get_ssl_mode(), SslMode::Prefer);
        assert_eq!(of("postgres:///x?host=/run").config.get_ssl_mode(), SslMode::Disable);
        let full = of("postgres://db/x?sslmode=verify-full&sslrootcert=/etc/ca.pem");
        assert_eq!((full.config.get_ssl_mode(), full.verify), (SslMode::Require, CertificateCheck::Full));
        assert_eq!(full.root_certificate.as_deref(), Some(Path::new("/etc/ca.pem")));
    }
}
