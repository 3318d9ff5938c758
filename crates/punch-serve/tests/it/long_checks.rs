//! A check that takes longer than a call over MCP may: the call ends, the todo stays reported, and the check continues in a
//! process of its own, which a thread stands for here.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use punch_core::{Edit, Keep, Op, Ref, Status, Uid, Verify};
use punch_engine::call::{CallResult, Dialect, Tool};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{BackgroundChecks, CheckLocks, Consents, PlanChoice, ReportVerdict, WorkTree, WriteRequest};
use punch_serve::{CheckResult, PlanToolService, ProjectStore, ServedProject, ToolRequest, ToolService};
use punch_store::{MemoryStore, OpenMode, PlanId, SessionKey, SqliteStore};
use serde_json::{Value, json};

use crate::equals_engine::Shared;

/// Runs checks on threads.
struct Background {
    project: Shared,
    locks: CheckLocks,
    tree: WorkTree,
    started: Mutex<Vec<JoinHandle<ReportVerdict>>>,
}

impl BackgroundChecks for Background {
    fn start(&self, plan: PlanId, todo: Uid, agent: &str) -> io::Result<()> {
        let engine = self.project.open(false).unwrap().unwrap();
        let lock = self.locks.take(plan, todo)?.unwrap();
        let (tree, agent) = (self.tree.clone(), agent.to_owned());
        let check = move || {
            let stopped = || false;
            let checker = tree.checker(Duration::from_secs(60), &stopped);
            let owner = engine.whole(plan).unwrap().get(todo).unwrap().owner.clone();
            let verdict = engine.judge_report(plan, todo, &checker, &WriteRequest::by(&agent, owner.as_deref()));
            drop(lock);
            verdict.unwrap()
        };
        self.started.lock().unwrap().push(thread::spawn(check));
        Ok(())
    }

    fn locks(&self) -> &CheckLocks {
        &self.locks
    }
}

fn service(folder: &Path, background: &Arc<Background>) -> PlanToolService {
    let flags = [("policy.verify".to_owned(), "command".to_owned())].into();
    let project = &background.project;
    PlanToolService::new(ServedProject {
        project: Box::new(Shared(project.0.clone(), project.1.clone())),
        settings: Config::load(&ConfigInputs { flags, ..ConfigInputs::default() }).unwrap().settings,
        worktree: None,
        tree: Some(WorkTree { root: folder.to_owned(), ..background.tree.clone() }),
        role: None,
        assigned: None,
        is_driven: false,
        started_for: None,
        checks: Some(background.clone()),
        after_write: None,
    })
}

fn request(arguments: Value) -> ToolRequest {
    let (dialect, tool, session) = (Dialect::Native, Tool::Write, SessionKey::new("s", None));
    ToolRequest { dialect, tool, arguments, session, ..ToolRequest::reading(Value::Null) }
}

#[test]
fn a_check_that_takes_longer_than_the_call_continues_and_decides() {
    for passes in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("store.db");
        // Approvals belong to a store, whose name is in its file.
        drop(SqliteStore::open(&database, OpenMode::Create).unwrap());
        let consents = Consents::new(&folder.path().join("state"), &database, folder.path());
        let command = "while [ ! -e go ]; do sleep 0.02; done; [ -e good ]";
        consents.give(&Verify::Shell(command.into())).unwrap();
        let background = Arc::new(Background {
            project: Shared(Arc::new(MemoryStore::new()), Arc::new(AtomicI64::new(1_000))),
            locks: CheckLocks::beside(&database),
            tree: WorkTree { root: folder.path().to_owned(), git: None, consents: Some(consents) },
            started: Mutex::default(),
        });
        let service = service(folder.path(), &background);
        let add = request(json!({"ops": [{"op": "add", "id": "a", "content": "one"}, {"op": "start", "id": "a"}]}));
        assert!(matches!(service.call(&add).unwrap(), CallResult::Answered(_)));
        let engine = background.project.open(false).unwrap().unwrap();
        let plan = engine.choose(&PlanChoice::default()).unwrap().unwrap().id;
        let edit = Edit { verify: Keep::Set(Some(Verify::Shell(command.into()))), ..Edit::default() };
        let op = Op::Edit(Ref::Id("a".into()), edit);
        engine.submit(plan, &WriteRequest::by("user", None), &[op]).unwrap();

        let done = request(json!({"ops": [{"op": "done", "id": "a"}]}));
        let CallResult::Wants(id) = service.call(&done).unwrap() else { panic!("the check is wanted") };
        let limit = Duration::from_millis(200);
        let CheckResult::Answered(answer) = service.check(&done, &id, limit, &|| false).unwrap() else {
            panic!("the check takes longer")
        };
        assert!(answer.text.contains("running"), "{}", answer.text);
        let todo = || engine.whole(plan).unwrap().by_id("a").unwrap().clone();
        assert!(todo().flags.reported && background.locks.is_running(plan, todo().uid));
        assert_eq!(background.started.lock().unwrap().len(), 1);

        // The agent asks again before the check is over: no second one starts.
        let CheckResult::Answered(answer) = service.check(&done, &id, limit, &|| false).unwrap() else {
            panic!("the check still runs")
        };
        assert!(answer.text.contains("running"), "{}", answer.text);
        assert_eq!(background.started.lock().unwrap().len(), 1);

        if passes {
            fs::write(folder.path().join("good"), "").unwrap();
        }
        fs::write(folder.path().join("go"), "").unwrap();
        let verdict = background.started.lock().unwrap().pop().unwrap().join().unwrap();
        let todo = todo();
        match passes {
            true => assert_eq!((verdict, todo.status), (ReportVerdict::Completed, Status::Completed)),
            false => {
                assert_eq!((verdict, todo.status), (ReportVerdict::Refuted, Status::InProgress));
                assert_eq!((todo.flags.reported, todo.attempts), (false, 1));
            }
        }
        assert!(!background.locks.is_running(plan, todo.uid));
    }
}
