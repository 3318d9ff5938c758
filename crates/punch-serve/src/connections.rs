//! Accepts connections and serves them, within limits. axum's own loop knows neither a limit on connections nor one on the
//! time that a request's head may take, nor one on a client that stops reading.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use crate::http_limits::HttpLimits;
use crate::write_timeout::WriteTimeout;

/// The pause after a connection could not be accepted, for example because all file descriptors are in use.
const PAUSE: Duration = Duration::from_millis(100);

/// The address of the client of a request, as the connection has it.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// Serves connections until `end`, then lets open ones finish the request they are in.
pub(crate) async fn serve(listener: TcpListener, router: Router, limits: &HttpLimits, end: &CancellationToken) {
    serve_with(listener, router, limits, end, |stream| ready(Some(stream))).await;
}

/// Serves connections as `serve` does, over what `secure` makes of each, such as TLS. A connection for which it makes
/// nothing ends; it has as much time as the head of a request.
pub async fn serve_with<S, F>(
    listener: TcpListener,
    router: Router,
    limits: &HttpLimits,
    end: &CancellationToken,
    secure: impl Fn(TcpStream) -> F,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    F: Future<Output = Option<S>> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(limits.connections));
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(limits.head);
    let (head, stall) = (limits.head, limits.stall);
    loop {
        let accepted = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, stream) = tokio::select! {
            () = end.cancelled() => break,
            accepted = accepted => accepted,
        };
        match stream {
            Ok((stream, peer)) => {
                // Small answers are sent at once: without this every call would take 40 ms.
                let _ = stream.set_nodelay(true);
                let (protocol, router, end, secured) = (protocol.clone(), router.clone(), end.clone(), secure(stream));
                tokio::spawn(async move {
                    if let Ok(Some(stream)) = tokio::time::timeout(head, secured).await {
                        connection(protocol, WriteTimeout::new(stream, stall), Peer(peer), router, end).await;
                    }
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
    // Every connection gives its place back when it ends.
    let _ = room.acquire_many(u32::try_from(limits.connections).unwrap_or(u32::MAX)).await;
}

/// Serves the requests of one connection.
async fn connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    protocol: http1::Builder,
    stream: S,
    peer: Peer,
    router: Router,
    end: CancellationToken,
) {
    let answer = service_fn(move |mut request: Request<Incoming>| {
        let mut router = router.clone();
        request.extensions_mut().insert(peer);
        async move { Ok::<Response<Body>, Infallible>(unfailing(router.call(request.map(Body::new)).await)) }
    });
    let mut served = std::pin::pin!(protocol.serve_connection(TokioIo::new(stream), answer));
    // How a connection broke off does not matter: its client is gone.
    tokio::select! {
        _ = served.as_mut() => return,
        () = end.cancelled() => served.as_mut().graceful_shutdown(),
    }
    let _ = served.await;
}

fn unfailing<T>(result: Result<T, Infallible>) -> T {
    match result {
        Ok(value) => value,
        Err(never) => match never {},
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::post;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// Runs `body` against a server with small limits that reads what it is sent, and ends the server.
    fn against<F: Future<Output = ()>>(limits: HttpLimits, body: impl FnOnce(std::net::SocketAddr) -> F) {
        let read = move |request: axum::extract::Request| async move {
            let (head, body) = request.into_parts();
            match limits.read(&head, body).await {
                Ok(body) => format!("{} bytes", body.len()),
                Err(denial) => format!("{denial:?}"),
            }
        };
        routed(limits, Router::new().route("/", post(read)), body);
    }

    /// Runs `body` against a server with these routes, and ends the server.
    fn routed<F: Future<Output = ()>>(
        limits: HttpLimits,
        router: Router,
        body: impl FnOnce(std::net::SocketAddr) -> F,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let end = CancellationToken::new();
            let server = async { serve(listener, router, &limits, &end).await };
            let client = async {
                body(address).await;
                end.cancel();
            };
            tokio::join!(server, client);
        });
    }

    async fn sent(address: std::net::SocketAddr, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    async fn answer(mut stream: TcpStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    const SMALL: HttpLimits = HttpLimits {
        connections: 4,
        sessions: 1,
        bytes: 100,
        head: Duration::from_millis(200),
        body: Duration::from_millis(200),
        stall: Duration::from_millis(200),
    };

    #[test]
    fn connections_that_never_finish_their_head_make_room_for_others() {
        against(SMALL, |address| async move {
            let mut half = Vec::new();
            for _ in 0..20 {
                half.push(sent(address, "POST / HTTP/1.1\r\nHost: x\r\n").await);
            }
            let whole = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
            let text = answer(sent(address, whole).await).await;
            assert!(text.ends_with("2 bytes"), "{text}");
        });
    }

    /// How many requests are being answered, have been at most, and have been answered.
    #[derive(Default)]
    struct Busy {
        now: usize,
        most: usize,
        answered: usize,
    }

    #[test]
    fn connections_beyond_the_limit_wait_until_another_one_ends() {
        const CLIENTS: usize = 12;
        assert_eq!(HttpLimits::new(1).connections, 256);
        let (busy, changes) = tokio::sync::watch::channel(Busy::default());
        let (busy, done) = (Arc::new(busy), Arc::new(Semaphore::new(0)));
        let (counted, waits) = (Arc::clone(&busy), Arc::clone(&done));
        let hold = move || {
            let (counted, waits) = (Arc::clone(&counted), Arc::clone(&waits));
            async move {
                counted.send_modify(|busy| {
                    busy.now += 1;
                    busy.most = busy.most.max(busy.now);
                });
                let place = waits.acquire().await;
                counted.send_modify(|busy| {
                    busy.now -= 1;
                    busy.answered += 1;
                });
                place.map(|place| place.forget()).map_or("closed", |()| "answered")
            }
        };
        // Nothing here may end because of its time.
        let long = Duration::from_secs(600);
        let limits = HttpLimits { head: long, body: long, stall: long, ..SMALL };
        routed(limits, Router::new().route("/", post(hold)), |address| async move {
            let mut clients = Vec::new();
            for _ in 0..CLIENTS {
                let request = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                clients.push(sent(address, request).await);
            }
            let mut changes = changes;
            for answered in 0..CLIENTS {
                // Each that ends lets another one in.
                let open = limits.connections.min(CLIENTS - answered);
                changes.wait_for(|busy| busy.answered == answered && busy.now >= open).await.unwrap();
                done.add_permits(1);
            }
            for client in clients {
                assert!(answer(client).await.ends_with("answered"));
            }
            assert_eq!(busy.borrow().most, limits.connections);
        });
    }

    #[test]
    fn a_body_that_is_too_large_or_too_slow_is_answered() {
        against(SMALL, |address| async move {
            for (rest, expected) in [
                ("Content-Length: 99999999999999\r\n\r\n", "TooLarge"),
                ("Content-Length: 50\r\n\r\nhalf", "TooSlow"),
                ("Transfer-Encoding: chunked\r\n\r\n5\r\nhalf!\r\n", "TooSlow"),
            ] {
                let text = answer(sent(address, &format!("POST / HTTP/1.1\r\nHost: x\r\n{rest}")).await).await;
                assert!(text.ends_with(expected), "{rest}: {text}");
            }
            let chunks = format!("Transfer-Encoding: chunked\r\n\r\nff\r\n{}\r\n0\r\n\r\n", "x".repeat(255));
            let text = answer(sent(address, &format!("POST / HTTP/1.1\r\nHost: x\r\n{chunks}")).await).await;
            assert!(text.ends_with("TooLarge"), "{text}");
        });
    }

    #[test]
    fn only_a_new_session_counts_against_the_limit() {
        assert!(SMALL.opens_session(br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#));
        for other in [&br#"{"method":"tools/call"}"#[..], b"", b"[]", br#"{"params":{"method":"initialize"}}"#] {
            assert!(!SMALL.opens_session(other));
        }
        assert!(SMALL.room_for_session(0).is_ok() && SMALL.room_for_session(1).is_err());
    }
}
