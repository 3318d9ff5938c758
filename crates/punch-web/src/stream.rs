//! The stream of one client, as server-sent events. A client that reads slowly gets the sum of what it missed; one that
//! has left is noticed when nothing more can be sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Response};
use hyper::body::Frame as BodyFrame;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, mpsc};
use tokio::time::{Instant, interval_at};
use tokio_util::sync::CancellationToken;

use crate::ApiProblem;
use crate::feed::PlanFeed;
use crate::frame::{FrameKind, StreamFrame};

/// How often a comment keeps the connection open.
const KEEP: Duration = Duration::from_secs(15);

/// Whether the session of a stream still counts.
pub(crate) type SessionCheck = Box<dyn Fn() -> bool + Send + Sync>;

/// The body of a stream: pieces as they come.
struct Pieces(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<BodyFrame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(BodyFrame::data(piece))))
    }
}

/// One client's place in a plan.
struct StreamClient {
    feed: Arc<PlanFeed>,
    frames: broadcast::Receiver<StreamFrame>,
    pieces: mpsc::Sender<Bytes>,
    /// The revision that the client has.
    sent: u64,
}

/// The client has gone, or the plan cannot be followed any longer.
struct Over;

/// Opens a stream that begins after a revision, or with the present. It ends with the session, the plan or the server.
pub(crate) async fn open(
    feed: Arc<PlanFeed>,
    after: Option<u64>,
    place: OwnedSemaphorePermit,
    allowed: SessionCheck,
    end: CancellationToken,
) -> Result<Response<Body>, ApiProblem> {
    // Subscribed first, so that nothing falls between.
    let frames = feed.subscribe();
    let (sent, first) = caught_up(&feed, after).await?;
    let (pieces, body) = mpsc::channel(4);
    let hello = json!({
        "schema": 1, "server": feed.setup.version, "plan": feed.info.name, "revision": sent, "now": feed.engine.now(),
    });
    let mut client = StreamClient { feed, frames, pieces, sent };
    tokio::spawn(async move {
        let hello = StreamFrame::new(FrameKind::Notice, "hello", &hello);
        let served = async {
            client.send(&hello).await?;
            for frame in &first {
                client.send(frame).await?;
            }
            client.follow(&allowed).await
        };
        tokio::select! {
            Err(Over) | Ok(()) = served => {}
            () = end.cancelled() => {}
        }
        drop(place);
    });
    let mut response = Response::new(Body::new(Pieces(body)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// What a client has missed; reads the store on a thread for that.
async fn caught_up(feed: &Arc<PlanFeed>, after: Option<u64>) -> Result<(u64, Vec<StreamFrame>), ApiProblem> {
    let feed = Arc::clone(feed);
    let done = tokio::task::spawn_blocking(move || feed.catch_up(after)).await;
    Ok(done.map_err(|_| ApiProblem::bug())??)
}

impl StreamClient {
    async fn send(&self, frame: &StreamFrame) -> Result<(), Over> {
        self.pieces.send(frame.bytes.clone()).await.map_err(|_| Over)
    }

    async fn follow(&mut self, allowed: &SessionCheck) -> Result<(), Over> {
        let mut keep = interval_at(Instant::now() + KEEP, KEEP);
        loop {
            let frame = tokio::select! {
                frame = self.frames.recv() => Some(frame),
                _ = keep.tick() => None,
            };
            // Whoever is not allowed to read any longer learns nothing more, not even what comes next.
            if !allowed() {
                return Err(Over);
            }
            match frame {
                Some(Ok(frame)) => self.take(frame).await?,
                Some(Err(RecvError::Lagged(_))) => self.catch_up().await?,
                Some(Err(RecvError::Closed)) => return Err(Over),
                None => self.pieces.send(Bytes::from_static(b": keep\n\n")).await.map_err(|_| Over)?,
            }
        }
    }

    async fn take(&mut self, frame: StreamFrame) -> Result<(), Over> {
        match frame.kind {
            // The client has it already, as when it was part of what it had missed.
            FrameKind::Change { to, from } if to < self.sent || (to == self.sent && from < to) => Ok(()),
            FrameKind::Change { from, to } if from == self.sent => {
                self.sent = to;
                self.send(&frame).await
            }
            FrameKind::Change { .. } => self.catch_up().await,
            FrameKind::Notice => self.send(&frame).await,
            // Nothing that follows fits what the client has: it reads the plan anew and comes back.
            FrameKind::Reset => {
                let _ = self.send(&frame).await;
                Err(Over)
            }
            FrameKind::End => Err(Over),
        }
    }

    async fn catch_up(&mut self) -> Result<(), Over> {
        let (sent, frames) = caught_up(&self.feed, Some(self.sent)).await.map_err(|_| Over)?;
        for frame in frames {
            self.send(&frame).await?;
            if frame.kind == FrameKind::Reset {
                return Err(Over);
            }
        }
        self.sent = sent;
        Ok(())
    }
}
