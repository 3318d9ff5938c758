//! What writes cost on a server: every round trip keeps a plan locked for as long as the network takes. One locks and
//! reads, one writes and commits; the announcements of the engine have to name all that is read.
#![cfg(all(unix, feature = "postgres"))]

use std::sync::Arc;

use punch_core::{Actor, Add, Edit, Footprint, Keep, Op, Plan, Ref, Todo, Uid, WorkerId};
use punch_engine::call::{Dialect, Tool, ToolCaller};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{Engine, HandedIn, PlanChoice, RunHolder, RunStart, WorkerBody, WriteRequest};
use punch_store::{OpenMode, PlanId, SessionKey, StoreAdmin};
use punch_store_pg::{PgOptions, PgStore};
use punch_testkit::postgres;
use serde_json::{Value, json};

/// An engine on a server, with a plan: `b` needs `a`, `c` needs `a` and `b`, `d` to `h` need nothing.
struct Stage {
    engine: Engine,
    store: Arc<PgStore>,
    plan: PlanId,
}

impl Stage {
    fn new(schema: &str) -> Option<Self> {
        let address = format!("{}&schema={schema}", postgres::shared()?.address("postgres"));
        let options = PgOptions { address, project: "p".into(), ..PgOptions::default() };
        let store = Arc::new(PgStore::open(options, OpenMode::Create).unwrap());
        let engine = Engine::new(Box::new(Arc::clone(&store)), Box::new(|| 0));
        let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
        let todo = |(id, needs): (&str, &[&str])| {
            let needs = needs.iter().map(|id| Ref::Id((*id).to_owned())).collect();
            let edit = Edit { content: Keep::Set(id.to_owned()), depends_on: Keep::Set(needs), ..Edit::default() };
            Op::Add(Add { id: Some(id.to_owned()), edit, ..Add::default() })
        };
        let todos: [(&str, &[&str]); 8] =
            [("a", &[]), ("b", &["a"]), ("c", &["a", "b"]), ("d", &[]), ("e", &[]), ("f", &[]), ("g", &[]), ("h", &[])];
        engine.submit(plan, &WriteRequest::by("user", None), &todos.map(todo)).unwrap();
        Some(Self { engine, store, plan })
    }

    /// The round trips of an action.
    fn cost(&self, action: impl FnOnce()) -> u64 {
        let before = self.store.round_trips();
        action();
        self.store.round_trips() - before
    }
}

fn done(id: &str) -> Op {
    Op::Done { target: Ref::Id(id.to_owned()), evidence: None, fence: None }
}

#[test]
fn commands_that_claim_and_complete_take_two_round_trips() {
    let Some(stage) = Stage::new("trips_commands") else { return };
    let Stage { engine, plan, .. } = &stage;
    let request = WriteRequest::by("claude", Some("one"));
    let lease = request.lease();
    let claimed = |uid| engine.claim(*plan, &request, uid, lease).unwrap();
    assert_eq!(stage.cost(|| drop(engine.claim_next(*plan, &request, lease).unwrap().unwrap())), 2, "claim the next");
    assert_eq!(stage.cost(|| drop(engine.submit(*plan, &request, &[done("a")]).unwrap())), 2, "complete it");
    let whole = engine.whole(*plan).unwrap();
    let uid = |id: &str| whole.by_id(id).unwrap().uid;
    assert_eq!(stage.cost(|| drop(claimed(uid("b")))), 2, "claim another");
    let first = Footprint::of(&[done("b")]);
    let with = || engine.submit_with(*plan, &request, &first, &mut |_, _| Ok(vec![done("b")]));
    assert_eq!(stage.cost(|| drop(with().unwrap())), 2, "complete it with ops that are made in the transaction");
    claimed(uid("c"));
    let first = Footprint::of(&[done("c")]);
    let mut make = |_: &Plan, _: i64| Ok(vec![done("c")]);
    let mut once = || engine.submit_once(*plan, &request, "key", (&first, &mut make), |_| String::new());
    assert_eq!(stage.cost(|| drop(once().unwrap())), 2, "complete one under a key");
    assert_eq!(stage.store.check().unwrap(), [""; 0]);
}

#[test]
fn writes_of_workers_and_coordinators_take_few_round_trips_however_many_claims_they_renew() {
    let Some(stage) = Stage::new("trips_fleet") else { return };
    let Stage { engine, plan, .. } = &stage;
    let (plan, lease) = (*plan, 30_000);
    let folder = std::path::Path::new("/w");
    let body = WorkerBody::this_process(folder, "1");
    let worker = engine.register_worker("w", &body, lease).unwrap();
    let options = json!({"fleet": true, "agents": 0});
    let run = engine.begin_run(plan, &RunStart { options, ..RunStart::default() }).unwrap();
    let whole = engine.whole(plan).unwrap();
    let claim = |id: &str| {
        let (uid, fleet) = (whole.by_id(id).unwrap().uid, Some(worker.name.clone()));
        let owner = WorkerId { run: run.id, epoch: worker.epoch, number: uid.0, fleet }.to_string();
        let request = WriteRequest::of(Actor::runner(run.id, Some(&owner)));
        let key = SessionKey::new(format!("s-{owner}"), None);
        (engine.claim_for_worker(plan, &request, &key, uid, lease).unwrap(), owner)
    };
    let claims: Vec<(Todo, String)> = ["a", "d", "e", "f", "g"].into_iter().map(claim).collect();
    let named: Vec<(Uid, String)> = claims.iter().map(|(todo, owner)| (todo.uid, owner.clone())).collect();
    for claims in [&named[..1], &named[..]] {
        let renew = || engine.renew_worker(plan, &worker, &body, lease, (run.id, claims, lease)).unwrap();
        // The record of the worker has an answer of its own.
        assert_eq!(stage.cost(renew), 3, "renew {} claims", claims.len());
    }
    let (todo, owner) = &claims[0];
    let (commit, branch) = ("c".to_owned(), "punch/1/a".to_owned());
    let work = HandedIn { uid: todo.uid, fence: todo.fence, commit, branch, proof: None };
    assert_eq!(stage.cost(|| assert!(engine.hand_in(plan, run.id, owner, &work).unwrap())), 2, "hand in");
    engine.take_run(plan, &RunHolder::this_process(folder)).unwrap();
    let adopt = || engine.adopt_handed_in(plan, run.id, todo.uid, todo.fence).unwrap();
    assert_eq!(stage.cost(adopt), 2, "adopt what was handed in, as the coordinator");
    assert_eq!(stage.cost(|| engine.renew_run(plan).unwrap()), 2, "renew the lease of the coordinator");
    assert_eq!(stage.cost(|| drop(engine.submit(plan, &WriteRequest::by("u", None), &[done("h")]).unwrap())), 2);
    assert_eq!(stage.store.check().unwrap(), [""; 0]);
}

#[test]
fn tools_of_agents_take_few_round_trips() {
    let Some(stage) = Stage::new("trips_tools") else { return };
    let settings = Config::load(&ConfigInputs::default()).unwrap().settings;
    let call = |session: &str, tool: Tool, arguments: Value, key: Option<&str>| {
        let caller = ToolCaller::under(&settings, SessionKey::new(session, None), "claude".into());
        stage.cost(|| {
            let answer = stage.engine.call(stage.plan, &caller, Dialect::Native, tool, &arguments, key).unwrap();
            assert!(!answer.is_error, "{}", answer.text);
        })
    };
    for (n, (tool, arguments)) in [
        (Tool::Write, json!({"ops": [{"op": "start", "id": "a"}]})),
        (Tool::Write, json!({"ops": [{"op": "note", "id": "a", "text": "half way"}]})),
        (Tool::Write, json!({"ops": [{"op": "done", "id": "a"}]})),
        (Tool::Claim, json!({})),
        (Tool::Write, json!({"ops": [{"op": "done", "id": "b"}]})),
        (Tool::Claim, json!({"id": "d"})),
        (Tool::Write, json!({"ops": [{"op": "done", "id": "d"}]})),
    ]
    .into_iter()
    .enumerate()
    {
        let key = format!("call {n}");
        let cost = call("one", tool, arguments.clone(), Some(&key));
        // One more than a command, for the state of the session; a claim also looks for the best todo and shows what it blocks.
        let most = if tool == Tool::Claim { 5 } else { 3 };
        assert!(cost <= most, "{arguments}: {cost}");
    }
}
