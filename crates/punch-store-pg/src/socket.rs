//! Reaching the server: hosts in order, TCP or a Unix socket, TLS if the address and the server want it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::address::Address;
use crate::tls::Tls;

/// Bytes in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// A connection to a server, before anything was said on it.
pub type Socket = Box<dyn Duplex>;

/// One of the hosts that an address names.
pub struct SocketTarget<'a> {
    host: Option<&'a Host>,
    ip: Option<IpAddr>,
    port: u16,
}

/// The hosts of an address, in the order in which they are tried.
pub fn targets(config: &Config) -> Vec<SocketTarget<'_>> {
    let (hosts, ips, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let target = |n: usize| SocketTarget {
        host: hosts.get(n),
        ip: ips.get(n).copied(),
        port: ports.get(n).or(ports.first()).copied().unwrap_or(5432),
    };
    (0..hosts.len().max(ips.len())).map(target).collect()
}

/// Connects to one host.
pub async fn connect(address: &Address, target: &SocketTarget<'_>) -> io::Result<Socket> {
    match (target.host, target.ip) {
        #[cfg(unix)]
        (Some(Host::Unix(folder)), None) => {
            let file = Path::new(folder).join(format!(".s.PGSQL.{}", target.port));
            // As in libpq: a local socket is never encrypted.
            Ok(Box::new(tokio::net::UnixStream::connect(file).await?))
        }
        (host, ip) => {
            let name = match host {
                Some(Host::Tcp(name)) => name.clone(),
                _ => ip.map(|ip| ip.to_string()).unwrap_or_default(),
            };
            let found = match ip {
                Some(ip) => vec![SocketAddr::new(ip, target.port)],
                None => tokio::net::lookup_host((name.as_str(), target.port)).await?.collect(),
            };
            let stream = first_of(&found).await?;
            tune(&stream, &address.config)?;
            encrypted(address, stream, name).await
        }
    }
}

async fn first_of(found: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
    for address in found {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Gives up after a time.
pub async fn within<T, E: From<io::Error>>(
    limit: Option<Duration>,
    done: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, done)
            .await
            .unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "connection timed out").into())),
        None => done.await,
    }
}

/// Notices a server that is gone without a word.
fn tune(stream: &TcpStream, config: &Config) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    if config.get_keepalives() {
        let mut keepalive = TcpKeepalive::new().with_time(config.get_keepalives_idle());
        if let Some(interval) = config.get_keepalives_interval() {
            keepalive = keepalive.with_interval(interval);
        }
        #[cfg(unix)]
        if let Some(retries) = config.get_keepalives_retries() {
            keepalive = keepalive.with_retries(retries);
        }
        socket.set_tcp_keepalive(&keepalive)?;
    }
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(config.get_tcp_user_timeout().copied())?;
    Ok(())
}

/// Asks the server for TLS, unless the address does not want it.
async fn encrypted(address: &Address, mut stream: TcpStream, host: String) -> io::Result<Socket> {
    let mode = address.config.get_ssl_mode();
    if mode == SslMode::Disable {
        return Ok(Box::new(stream));
    }
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    stream.write_all(&request).await?;
    // One byte and no more: what follows belongs to TLS, and whatever came before it was not encrypted.
    match stream.read_u8().await? {
        b'S' => {
            let tls = Tls { verify: address.verify, root_certificate: address.root_certificate.clone() };
            Ok(Box::new(tls.connect(host, stream).await?))
        }
        _ if mode == SslMode::Prefer => Ok(Box::new(stream)),
        _ => Err(io::Error::other("the server does not support TLS")),
    }
}
