//! Events: what changed from what to what, and the three ways to follow them.

use std::sync::mpsc::channel;
use std::time::Duration;

use punchlist::{Change, Dialect, Op, Options, Progress, Session, Status, Update};
use serde_json::json;

const SOON: Duration = Duration::from_secs(20);

fn seen(session: &Session) -> Vec<(String, Change)> {
    let mut out = Vec::new();
    let mut events = session.subscribe_since(0).unwrap();
    while let Some(Update::Events(more)) = events.wait(Duration::ZERO).unwrap() {
        out.extend(more.into_iter().map(|event| (event.todo.map(|todo| todo.id).unwrap_or_default(), event.change)));
    }
    out
}

#[test]
fn every_status_has_its_event_also_if_many_were_written_before_anyone_looked() {
    let session = Session::in_memory(Options::new("t")).unwrap();
    session.apply(&[Op::add("Docs")]).unwrap();
    session.apply(&[Op::start("T-1")]).unwrap();
    session.apply(&[Op::note("T-1", "half")]).unwrap();
    session.apply(&[Op::done("T-1")]).unwrap();
    session.apply(&[Op::remove("T-1")]).unwrap();
    let (pending, running, done) = (Status::Pending, Status::InProgress, Status::Completed);
    let status = |from, to| Change::Status { from, to };
    let changes: Vec<Change> = seen(&session).into_iter().map(|(_, change)| change).collect();
    let is_main = |change: &&Change| !matches!(change, Change::Edited { .. } | Change::Progress { .. });
    let main: Vec<&Change> = changes.iter().filter(is_main).collect();
    assert_eq!(
        main,
        [
            &Change::Added,
            &status(pending, running),
            &Change::Noted { text: "half".into() },
            &status(running, done),
            &Change::Removed
        ]
    );
}

#[test]
fn a_todo_that_comes_in_progress_is_added_and_started() {
    let session = Session::in_memory(Options::new("t").dialect(Dialect::Todowrite)).unwrap();
    let todo = json!({"content": "Docs", "status": "in_progress", "activeForm": "Writing docs"});
    session.call("TodoWrite", &json!({"todos": [todo]})).unwrap();
    let mut events = session.subscribe_since(0).unwrap();
    let Some(Update::Events(found)) = events.wait(Duration::ZERO).unwrap() else { panic!() };
    assert_eq!(found[0].change, Change::Added);
    assert!(found.iter().any(|e| e.change == Change::Status { from: Status::Pending, to: Status::InProgress }));
    assert_eq!(found[0].todo.as_ref().unwrap().active_form.as_deref(), Some("Writing docs"));
}

#[test]
fn progress_is_an_event_whenever_it_changed() {
    let session = Session::in_memory(Options::new("t")).unwrap();
    let mut events = session.subscribe().unwrap();
    let mut progress = |ops: &[Op]| -> Vec<Progress> {
        session.apply(ops).unwrap();
        let Some(Update::Events(found)) = events.wait(SOON).unwrap() else { panic!() };
        found
            .into_iter()
            .filter_map(|e| if let Change::Progress { progress } = e.change { Some(progress) } else { None })
            .collect()
    };
    assert_eq!(progress(&[Op::add("One"), Op::add("Two")]), [Progress::new(0, 2)]);
    assert_eq!(progress(&[Op::note("T-1", "half")]), []);
    assert_eq!(progress(&[Op::done("T-1")]), [Progress::new(1, 2)]);
}

#[test]
fn a_refused_call_is_an_event() {
    let session = Session::in_memory(Options::new("t")).unwrap();
    let mut events = session.subscribe().unwrap();
    assert!(session.call("todo_write", &json!({"ops": [{"op": "done", "id": "nothing"}]})).unwrap().is_error);
    let Some(Update::Events(found)) = events.wait(SOON).unwrap() else { panic!() };
    let Change::WriteFailed { message } = &found[0].change else { panic!("{found:?}") };
    assert!(message.contains("nothing"), "{message}");
    assert_eq!((found.len(), found[0].by.as_str(), found[0].kind), (1, "t", None));
    assert_eq!(events.wait(Duration::ZERO).unwrap(), None);
}

#[test]
fn a_callback_is_called_until_its_guard_is_dropped() {
    let session = Session::in_memory(Options::new("t")).unwrap();
    let (send, receive) = channel();
    let watching = session.on_change(move |event| drop(send.send(event.change.clone()))).unwrap();
    session.apply(&[Op::add("One")]).unwrap();
    assert_eq!(receive.recv_timeout(SOON).unwrap(), Change::Added);
    drop(watching);
    session.apply(&[Op::add("Two")]).unwrap();
    assert!(!receive.iter().any(|change| change == Change::Added), "the callback is gone");
}

#[test]
fn an_iterator_ends_when_it_is_closed() {
    let session = Session::in_memory(Options::new("t")).unwrap();
    let events = session.subscribe().unwrap();
    let closer = events.closer();
    let reader = std::thread::spawn(move || events.filter_map(Result::ok).count());
    session.apply(&[Op::add("One")]).unwrap();
    closer.close();
    assert!(reader.join().unwrap() <= 1);
}

#[cfg(feature = "async")]
mod streams {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread::Thread;

    use futures_core::Stream;
    use punchlist::{AsyncSession, Finish, Next, Reason};

    use super::*;

    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    fn wait<T>(future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        loop {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(done) => return done,
                Poll::Pending => std::thread::park_timeout(SOON),
            }
        }
    }

    #[test]
    fn a_stream_delivers_what_happens_under_any_runtime() {
        let session = Session::in_memory(Options::new("t")).unwrap();
        let mut stream = session.subscribe().unwrap().into_stream();
        session.apply(&[Op::add("One")]).unwrap();
        let next = std::future::poll_fn(|context| pin!(&mut stream).poll_next(context));
        let Some(Ok(Update::Events(events))) = wait(next) else { panic!() };
        assert_eq!(events[0].change, Change::Added);
    }

    #[test]
    fn calls_are_futures() {
        let session = AsyncSession::new(Session::in_memory(Options::new("t")).unwrap());
        wait(session.turn_started()).unwrap();
        let call = json!({"ops": [{"op": "add", "id": "a", "content": "Do a"}]});
        assert!(wait(session.call("todo_write", call)).unwrap().changed);
        assert!(matches!(wait(session.turn_ended(Finish::EndTurn)).unwrap(), Next::Continue { .. }));
        wait(session.run(|session| session.apply(&[Op::done("a")]))).unwrap();
        assert_eq!(wait(session.turn_ended(Finish::EndTurn)).unwrap(), Next::Stop(Reason::Finished));
    }
}
