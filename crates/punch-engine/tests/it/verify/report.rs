//! Todos that an agent reported as done, and what their checks lead to.

use std::fs;
use std::time::Duration;

use punch_core::{Footprint, Op, Ref, Status, Todo, Uid};
use punch_engine::{Git, ReportVerdict, VerifyError, WriteRequest};

use super::{NEVER, World};

impl World {
    fn uid(&self) -> Uid {
        self.engine.whole(self.plan).unwrap().live()[0].uid
    }

    fn reported(line: &str) -> Self {
        let world = Self::with(line);
        world.report();
        world
    }

    fn report(&self) {
        let target = Ref::Uid(self.uid());
        let request = WriteRequest::by("claude", Some("s"));
        let ops = [Op::Start(target.clone()), Op::Report { target, evidence: None, fence: None }];
        self.engine.submit(self.plan, &request, &ops).unwrap();
    }

    fn judge(&self) -> ReportVerdict {
        let checker = self.checker(Duration::from_secs(60), NEVER);
        self.engine.judge_report(self.plan, self.uid(), &checker, &WriteRequest::by("claude", Some("s"))).unwrap()
    }

    fn now(&self) -> Todo {
        let uid = self.uid();
        let part = Footprint { todos: [uid].into(), ..Footprint::default() };
        self.engine.slice(self.plan, &part).unwrap().get(uid).unwrap().clone()
    }
}

#[test]
fn a_check_that_passes_completes_what_was_reported() {
    let world = World::reported("echo fine");
    assert_eq!(world.judge(), ReportVerdict::Completed);
    let todo = world.now();
    assert_eq!((todo.status, todo.attempts, todo.flags.reported), (Status::Completed, 0, false));
    let evidence = todo.evidence.last().unwrap();
    assert_eq!((evidence.exit_code, evidence.text.as_deref()), (Some(0), Some("fine")));
    assert!(evidence.tree.is_some() && evidence.commit.is_some());
    assert_eq!(world.judge(), ReportVerdict::Moot);
}

#[test]
fn a_check_that_fails_ends_the_report_and_counts_an_attempt() {
    let world = World::reported("echo x >> ../runs; exit 3");
    assert_eq!(world.judge(), ReportVerdict::Refuted);
    let todo = world.now();
    assert_eq!((todo.status, todo.attempts, todo.flags.reported), (Status::InProgress, 1, false));
    assert_eq!(todo.failed_check().unwrap().exit_code, Some(3));
    let runs = || fs::read_to_string(world.sandbox.path("runs")).unwrap().lines().count();
    world.report();
    assert_eq!((world.judge(), runs()), (ReportVerdict::Refuted, 1), "the same files say the same");
    assert_eq!((world.now().attempts, world.now().evidence.len()), (2, 1));
    fs::write(world.root.join("new"), "1").unwrap();
    world.report();
    assert_eq!((world.judge(), runs()), (ReportVerdict::Refuted, 2), "other files are checked again");
}

#[test]
fn what_does_not_run_to_its_end_decides_nothing() {
    let world = World::reported("true");
    let stopped = world.checker(Duration::from_secs(60), &|| true);
    let request = WriteRequest::by("claude", Some("s"));
    world.consents().withdraw(&super::shell("true")).unwrap();
    assert!(matches!(world.judge(), ReportVerdict::NotRun(VerifyError::Consent { .. })));
    world.consents().give(&super::shell("true")).unwrap();
    let slow = World::reported("sleep 1000");
    let stopped = punch_engine::Checker { root: slow.root.clone(), consents: Some(slow.consents()), ..stopped };
    let verdict = slow.engine.judge_report(slow.plan, slow.uid(), &stopped, &request).unwrap();
    assert!(matches!(verdict, ReportVerdict::NotRun(VerifyError::Stopped { .. })), "{verdict:?}");
    for world in [world, slow] {
        let todo = world.now();
        assert_eq!((todo.status, todo.flags.reported, todo.evidence.len()), (Status::InProgress, true, 0));
    }
}

#[test]
fn a_result_for_a_todo_that_is_no_longer_reported_is_stored_and_nothing_else() {
    let world = World::with("true");
    assert_eq!(world.judge(), ReportVerdict::Stored);
    let todo = world.now();
    assert_eq!((todo.status, todo.evidence.len()), (Status::Pending, 1));
    world.report();
    assert_eq!(world.judge(), ReportVerdict::Completed);
}

#[test]
fn the_hash_of_a_worktree_changes_with_its_files_and_with_nothing_else() {
    let world = World::new();
    let git = |arguments: &[&str]| world.sandbox.git("p", arguments);
    let hash = || Git::at(&world.root).unwrap().tree_hash().unwrap();
    let clean = hash();
    assert_eq!(hash(), clean);
    fs::write(world.root.join("one"), "1").unwrap();
    let one = hash();
    assert_ne!(one, clean);
    git(&["add", "one"]);
    assert_eq!(hash(), one, "what is staged is the same file");
    fs::write(world.root.join("one"), "2").unwrap();
    assert_ne!(hash(), one);
    fs::write(world.root.join("one"), "1").unwrap();
    assert_eq!(hash(), one);
    fs::write(world.root.join(".git/info/exclude"), "ignored\n").unwrap();
    fs::write(world.root.join("ignored"), "x").unwrap();
    assert_eq!(hash(), one, "ignored files do not count");
    fs::rename(world.root.join("one"), world.root.join("two")).unwrap();
    assert_ne!(hash(), one);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "two"]);
    assert!(![clean, one].contains(&hash()), "another commit");
}
