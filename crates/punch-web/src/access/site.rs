//! The names under which the server is reached, and which requests come from its own pages. The host is checked before
//! anything else: a name that someone else's DNS pointed at this machine is not ours.

use std::net::SocketAddr;

use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderName, Method};
use punch_serve::only_value;

use crate::ApiProblem;

/// Tells where a request of a browser comes from.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Names and origins of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// What `Host` may be, in lower case.
    hosts: Vec<String>,
    /// `http` or `https`, as browsers see it.
    scheme: &'static str,
    /// Only this machine reaches it: then sessions live in no cookie, because cookies ignore ports.
    pub is_loopback: bool,
}

impl Site {
    /// A server on a loopback address.
    pub fn loopback(address: SocketAddr) -> Self {
        let port = address.port();
        let mut hosts: Vec<String> = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")).into();
        hosts.push(address.to_string());
        hosts.sort();
        hosts.dedup();
        Self { hosts, scheme: "http", is_loopback: true }
    }

    /// A server that other machines reach over TLS, its own or that of a proxy. Without names the address counts.
    pub fn public(address: SocketAddr, names: &[String], behind_proxy: bool) -> Self {
        let mut hosts = Vec::new();
        for name in names.iter().map(|name| name.to_ascii_lowercase()) {
            let has_port = name.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
            if !behind_proxy && !has_port {
                hosts.push(format!("{name}:{}", address.port()));
            }
            hosts.push(name);
        }
        if names.is_empty() {
            hosts.push(address.to_string());
            if address.port() == 443 {
                hosts.push(address.ip().to_string());
            }
        }
        Self { hosts, scheme: "https", is_loopback: false }
    }

    /// The address to open in a browser.
    pub fn url(&self) -> String {
        let host = self.hosts.iter().find(|host| host.starts_with("127.0.0.1")).or_else(|| self.hosts.last());
        format!("{}://{}/", self.scheme, host.map_or("localhost", String::as_str))
    }

    /// The first host and its origin, for the protocol's own check.
    pub fn public_name(&self) -> Option<(String, String)> {
        let host = self.hosts.first().filter(|_| !self.is_loopback)?;
        Some((host.clone(), format!("{}://{host}", self.scheme)))
    }

    fn is_ours(&self, host: &str) -> bool {
        self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
    }

    /// Refuses a request that names another host.
    pub fn judge_host(&self, head: &Parts) -> Result<(), ApiProblem> {
        let foreign =
            || ApiProblem::forbidden("the host is not this server", "use the address that `punch serve` printed");
        // A request may name its host in its first line too, and then both must be ours.
        let target = head.uri.authority().map(axum::http::uri::Authority::as_str);
        let named = only_value(head, &HOST).map_err(|_| foreign())?;
        let given = [target, named];
        if given == [None, None] || !given.into_iter().flatten().all(|host| self.is_ours(host)) {
            return Err(foreign());
        }
        Ok(())
    }

    /// Refuses a request that a foreign page makes. A write that carries a cookie must show that it comes from here.
    pub fn judge_origin(&self, head: &Parts, by_cookie: bool) -> Result<(), ApiProblem> {
        let foreign = || ApiProblem::forbidden("the request comes from another page", "use the page of this server");
        let origin = only_value(head, &ORIGIN).map_err(|_| foreign())?;
        let site = only_value(head, &FETCH_SITE).map_err(|_| foreign())?;
        let own = |origin: &str| {
            let rest = origin.strip_prefix(self.scheme).and_then(|rest| rest.strip_prefix("://"));
            rest.is_some_and(|host| self.is_ours(host))
        };
        if origin.is_some_and(|origin| !own(origin)) {
            return Err(foreign());
        }
        // `none` is an address that the user typed.
        if site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
            return Err(foreign());
        }
        let reads = matches!(head.method, Method::GET | Method::HEAD);
        // Every browser since 2023 sends both.
        if !reads && by_cookie && (origin.is_none() || site != Some("same-origin")) {
            return Err(foreign());
        }
        Ok(())
    }
}
