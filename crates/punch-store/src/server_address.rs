//! What an address of a server says about passwords. Addresses end up in messages, logs, settings and the environment of
//! agents, so none may contain one. The parts are found as tokio-postgres finds them, which connects in the end:
//! everything up to the first `@` is user and password, even `/` and `?`.

/// Returns true if an address such as `postgres://…` contains a password: after the user, or as a parameter.
pub fn has_password(address: &str) -> bool {
    let (base, query) = split_query(address);
    let rest = base.split_once("://").map_or(base, |(_, rest)| rest);
    let has_after_user = rest.split_once('@').is_some_and(|(credentials, _)| credentials.contains(':'));
    let names = query.split('&').map(|pair| pair.split('=').next().unwrap_or(pair));
    has_after_user || names.filter_map(percent_decoded).any(|name| name == "password")
}

/// Returns an address without its parameters, and the parameters.
pub fn split_query(address: &str) -> (&str, &str) {
    let host = address.find('@').map_or(0, |at| at + 1);
    match address.get(host..).and_then(|rest| rest.find('?')) {
        Some(at) => (&address[..host + at], &address[host + at + 1..]),
        None => (address, ""),
    }
}

/// Replaces `%2F` by `/` and so on; `None` if an escape is cut off or the result is not valid UTF-8.
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        out.push(digit(bytes.next()?)? * 16 + digit(bytes.next()?)?);
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_found_wherever_the_server_would_look_for_it() {
        for address in [
            "postgres://ann:hush@db/plans",
            "postgres://ann:hu/sh@db/plans",
            "postgres://ann:hu?sh@db/plans",
            "postgres://ann:hu@sh@db/plans",
            "postgres://ann:@db/plans",
            "postgres://:hush@db",
            "postgres://db:5432/plans@hush",
            "postgres://db/plans?password=hush",
            "postgres://an?n@db/plans?schema=x&pass%77ord=hush",
        ] {
            assert!(has_password(address), "{address}");
        }
        for address in [
            "postgres://ann@[::1]:5432/a?host=/run",
            "postgres://db:5432/plans?passfile=/x",
            "postgres:///plans?host=/run&user=password",
            "postgres://db",
            "",
        ] {
            assert!(!has_password(address), "{address}");
        }
    }

    #[test]
    fn parameters_begin_after_the_host() {
        assert_eq!(split_query("postgres://an?n@db/a?x=1?2"), ("postgres://an?n@db/a", "x=1?2"));
        assert_eq!(split_query("postgres://db/a"), ("postgres://db/a", ""));
    }
}
