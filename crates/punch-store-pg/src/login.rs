//! Finds out how to log in: from the environment, password files and service files, in the formats that libpq reads.

use std::path::{Path, PathBuf};

use tokio_postgres::Config;

/// What the caller found in the environment. Each field has the name of a variable of libpq beside it.
#[derive(Clone, Default)]
pub struct Login {
    /// `PGPASSWORD`.
    pub password: Option<String>,
    /// `PGPASSFILE`, else `.pgpass` in the home folder.
    pub passfile: Option<PathBuf>,
    /// `PGSERVICE`.
    pub service: Option<String>,
    /// `PGSERVICEFILE`, else `.pg_service.conf` in the home folder.
    pub service_file: Option<PathBuf>,
    /// `PGHOST`.
    pub host: Option<String>,
    /// `PGUSER`, else the name of the user.
    pub user: Option<String>,
    /// `PGSSLMODE`.
    pub sslmode: Option<String>,
    /// `PGSSLROOTCERT`.
    pub root_certificate: Option<PathBuf>,
}

/// One section of a service file.
#[derive(Default)]
pub(crate) struct Service {
    values: Vec<(String, String)>,
}

impl Service {
    /// Reads a section; the error says what is missing.
    pub fn read(name: &str, file: Option<&Path>) -> Result<Self, String> {
        let Some(file) = file else { return Err(format!("no service file for the service `{name}`")) };
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("cannot read the service file `{}`: {error}", file.display()))?;
        let mut values = None;
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                if values.is_some() {
                    break;
                }
                values = (section == name).then(Vec::new);
            } else if let (Some(values), Some((key, value))) = (&mut values, line.split_once('=')) {
                values.push((key.trim().to_owned(), value.trim().to_owned()));
            }
        }
        let values = values.ok_or_else(|| format!("`{}` has no service `{name}`", file.display()))?;
        Ok(Self { values })
    }

    pub fn get(&self, key: &str) -> Option<String> {
        self.values.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
    }

    /// Adds what the address leaves open.
    pub fn fill(&self, config: &mut Config) {
        if config.get_hosts().is_empty()
            && let Some(host) = self.get("host")
        {
            config.host(host);
        }
        if config.get_ports().is_empty()
            && let Some(port) = self.get("port").and_then(|port| port.parse().ok())
        {
            config.port(port);
        }
        if config.get_user().is_none()
            && let Some(user) = self.get("user")
        {
            config.user(user);
        }
        if config.get_dbname().is_none()
            && let Some(name) = self.get("dbname")
        {
            config.dbname(name);
        }
    }
}

/// The password for host, port, database and user; `None` if the file has none. The error says why a file does not count.
pub(crate) fn password_from_file(file: &Path, wanted: &[String; 4]) -> Result<Option<String>, String> {
    let Ok(found) = file.metadata() else { return Ok(None) };
    if punch_store::platform::mode(&found).is_some_and(|mode| mode & 0o077 != 0) {
        let file = file.display();
        return Err(format!("the password file `{file}` is ignored, because others can read it: `chmod 600 '{file}'`"));
    }
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("cannot read the password file `{}`: {error}", file.display()))?;
    let line = text.lines().filter(|line| !line.starts_with('#')).find_map(|line| password_in(line, wanted));
    Ok(line)
}

fn password_in(line: &str, wanted: &[String; 4]) -> Option<String> {
    let fields = fields(line);
    let [parts @ .., password] = &fields[..] else { return None };
    let fits = |(part, wanted): (&String, &String)| part == "*" || part == wanted;
    (parts.len() == wanted.len() && parts.iter().zip(wanted).all(fits)).then(|| password.clone())
}

/// Fields between colons; a backslash takes the next character as it is.
fn fields(line: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.last_mut().into_iter().for_each(|field| field.extend(chars.next())),
            ':' if out.len() < 5 => out.push(String::new()),
            c => out.last_mut().into_iter().for_each(|field| field.push(c)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;

    #[test]
    fn a_password_file_is_read_as_libpq_reads_it() {
        let wanted = ["db", "5432", "plans", "ann"].map(str::to_owned);
        let of = |line: &str| password_in(line, &wanted);
        assert_eq!(of("db:5432:plans:ann:pass").as_deref(), Some("pass"));
        assert_eq!(of("*:*:*:ann:a\\:b:c").as_deref(), Some("a:b:c"));
        assert_eq!(of("db:5432:plans:bob:pass"), None);
        assert_eq!(of("db:5432:plans"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn service_and_password_files_fill_in_what_an_address_leaves_out() {
        let folder = tempfile::tempdir().unwrap();
        let (services, passwords) = (folder.path().join("services"), folder.path().join("pgpass"));
        std::fs::write(&services, "# ours\n[other]\nhost=x\n[team]\nhost=db\nport = 6000\nuser=ann\ndbname=plans\n")
            .unwrap();
        std::fs::write(&passwords, "db:6000:plans:ann:hidden\n").unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&passwords, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let login = Login { service_file: Some(services), passfile: Some(passwords.clone()), ..Login::default() };
        let address = Address::parse("postgres://?service=team", &login).unwrap();
        assert_eq!(address.label.to_string(), "postgres://ann@db:6000/plans");
        assert_eq!(address.config.get_password(), Some(&b"hidden"[..]));
        let Err(error) = Address::parse("postgres://?service=nobody", &login) else {
            panic!("there is no such service")
        };
        assert!(error.message().contains("`nobody`"), "{error}");
        #[cfg(unix)]
        {
            std::fs::set_permissions(&passwords, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
            let address = Address::parse("postgres://?service=team", &login).unwrap();
            assert!(address.config.get_password().is_none() && address.password_note.is_some());
        }
    }
}
