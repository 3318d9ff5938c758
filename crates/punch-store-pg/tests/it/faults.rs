//! What can go wrong with a server, and what becomes of it: nothing is lost, nothing is done twice.

use std::time::{Duration, Instant};

use punch_core::Policy;
use punch_store::{
    Durability, MemoryStore, OpenMode, PlanId, SessionKey, SessionRow, SqliteStore, Store, StoreAdmin, WorkerRecord,
    copy_store,
};
use punch_store_pg::{PgOptions, PgStore};
use punch_testkit::postgres::{self, Cluster, Disk};
use punch_testkit::postgres_proxy::{Cut, Proxy};

use crate::contract::submit::{add, add_as, context, done, look, must, submit, whole};
use crate::{create, options, options_on};

fn shared() -> Option<(&'static Cluster, PgOptions)> {
    Some((postgres::shared()?, options()?))
}

fn schema(options: &PgOptions) -> String {
    options.address.rsplit_once('=').unwrap().1.to_owned()
}

fn open_error(options: &PgOptions, mode: OpenMode) -> String {
    PgStore::open(options.clone(), mode).err().unwrap().code().to_owned()
}

#[test]
fn what_is_not_there_is_missing_until_it_is_made() {
    let Some((cluster, options)) = shared() else { return };
    assert_eq!(open_error(&options, OpenMode::Existing), "store_missing");
    create(&options);
    create(&options);
    let other = PgOptions { project: "other".into(), ..options.clone() };
    assert_eq!(open_error(&other, OpenMode::Existing), "store_missing");
    let nowhere = PgOptions { address: cluster.address("nowhere"), ..options.clone() };
    assert_eq!(open_error(&nowhere, OpenMode::Create), "store_missing");
    let away = PgOptions { address: "postgres://x@/x?host=/nonexistent".into(), ..options.clone() };
    assert_eq!(open_error(&away, OpenMode::Create), "store_unavailable");
    let schema = schema(&options);
    cluster.sql("postgres", &format!("UPDATE {schema}.meta SET major = 99")).unwrap();
    assert_eq!(open_error(&options, OpenMode::Existing), "store_too_new");
    cluster.sql("postgres", "CREATE SCHEMA foreign_one; CREATE TABLE foreign_one.todo (x int)").unwrap();
    let foreign = PgOptions { address: format!("{}&schema=foreign_one", cluster.address("postgres")), ..options };
    assert_eq!(open_error(&foreign, OpenMode::Create), "store_foreign");
}

#[test]
fn many_make_the_schema_at_once_and_projects_do_not_mix() {
    let Some((_, options)) = shared() else { return };
    let identities: Vec<String> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..6).map(|_| scope.spawn(|| create(&options).identity().unwrap())).collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    });
    assert!(identities.iter().all(|identity| *identity == identities[0]), "{identities:?}");
    let here = create(&options);
    let there = create(&PgOptions { project: "other".into(), ..options });
    assert_ne!(here.identity().unwrap(), there.identity().unwrap());
    let (a, b) = (here.create_plan("main", 1).unwrap(), there.create_plan("main", 1).unwrap());
    must(&here, a, 1, &[add("a")]);
    let session = SessionRow { key: SessionKey::new("s", None), plan: Some(a), seen_at: 1, body: "{}".into() };
    here.write(a, Durability::Full, &mut |tx| tx.put_session(&session)).unwrap();
    assert_eq!(there.read(a, &mut |_| Ok(())).unwrap_err().code(), "unknown_plan");
    assert_eq!(there.write(a, Durability::Full, &mut |_| Ok(())).unwrap_err().code(), "unknown_plan");
    assert_eq!(look(&there, b, |s| s.session(&session.key)), None);
    assert_eq!((here.info().unwrap().todos, there.info().unwrap().todos), (1, 0));
}

#[test]
fn writers_lose_nothing_and_others_are_woken() {
    const WRITERS: usize = 4;
    const EACH: usize = 15;
    let Some((_, options)) = shared() else { return };
    let store = create(&options);
    let plan = store.create_plan("main", 0).unwrap();
    let mut changes = store.changes();
    while changes.wait(Duration::from_millis(50)).unwrap() {}
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let options = &options;
            scope.spawn(move || {
                let store = create(options);
                for n in 0..EACH {
                    must(&store, plan, n as i64, &[add(&format!("{writer}/{n}"))]);
                }
            });
        }
        assert!(changes.wait(Duration::from_secs(20)).unwrap(), "another handle has written");
    });
    let stored = whole(&store, plan);
    assert_eq!((stored.row.revision as usize, stored.all().count()), (WRITERS * EACH, WRITERS * EACH));
    assert_eq!(store.check().unwrap(), [""; 0]);
}

#[test]
fn a_writer_gives_up_at_its_deadline_and_readers_do_not_wait() {
    let Some((_, options)) = shared() else { return };
    let holder = create(&options);
    let plan = holder.create_plan("main", 0).unwrap();
    let waiter = create(&PgOptions { wait: Some(Duration::from_millis(200)), ..options });
    // Once its session is known to be its own, the deadline belongs to the session.
    for _ in 0..4 {
        must(&waiter, plan, 1, &[add("b")]);
    }
    holder
        .write(plan, Durability::Full, &mut |_| {
            let refused = waiter.write(plan, Durability::Full, &mut |_| Ok(())).unwrap_err();
            assert_eq!(refused.code(), "store_busy");
            waiter.read(plan, &mut |s| s.row().map(|_| ()))
        })
        .unwrap();
    must(&waiter, plan, 1, &[add("a")]);
}

/// Waits until this many sessions wait for each kind of lock: those of the queue, and those of rows.
fn await_waiters(cluster: &Cluster, queue: usize, rows: usize) {
    let waiting = "SELECT count(*) FILTER (WHERE locktype = 'advisory'), count(*) FILTER (WHERE locktype <> 'advisory') \
                   FROM pg_locks WHERE NOT granted";
    let begun = Instant::now();
    loop {
        let found = cluster.sql("postgres", waiting).unwrap();
        if found.trim() == format!("{queue}|{rows}") {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(8), "waiting for the queue and for rows: {found}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn writers_of_one_plan_queue_up_so_that_a_commit_wakes_one_of_them() {
    const WRITERS: usize = 5;
    if postgres::shared().is_none() {
        return;
    }
    // A server of its own: its locks are counted.
    let cluster = Cluster::start(Disk::Fast).unwrap();
    let options = options_on(&cluster);
    let holder = create(&options);
    let (plan, other) = (holder.create_plan("main", 0).unwrap(), holder.create_plan("other", 0).unwrap());
    let write = |n: usize| {
        must(&create(&options), plan, 1, &[add(&format!("{n}"))]);
    };
    std::thread::scope(|scope| {
        holder
            .write(plan, Durability::Full, &mut |_| {
                (0..WRITERS).for_each(|n| drop(scope.spawn(move || write(n))));
                await_waiters(&cluster, WRITERS, 0);
                // Other plans have queues of their own.
                must(&create(&options), other, 1, &[add("a")]);
                Ok(())
            })
            .unwrap();
    });
    assert_eq!(whole(&holder, plan).all().count(), WRITERS);
    // A program that does not know the queue has locked the row: one writer waits for it, the others queue up.
    let schema = schema(&options);
    let earlier = format!(
        "BEGIN; SELECT 1 FROM {schema}.plan WHERE id = {plan} FOR UPDATE; SELECT pg_sleep(60); COMMIT",
        plan = plan.0
    );
    let sleeping = "FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    std::thread::scope(|scope| {
        scope.spawn(|| drop(cluster.sql("postgres", &earlier)));
        while cluster.sql("postgres", &format!("SELECT count(*) {sleeping}")).unwrap().trim() != "1" {
            std::thread::sleep(Duration::from_millis(20));
        }
        (0..WRITERS).for_each(|n| drop(scope.spawn(move || write(WRITERS + n))));
        await_waiters(&cluster, WRITERS - 1, 1);
        cluster.sql("postgres", &format!("SELECT count(pg_cancel_backend(pid)) {sleeping}")).unwrap();
    });
    let stored = whole(&holder, plan);
    assert_eq!((stored.row.revision as usize, stored.all().count()), (WRITERS * 2, WRITERS * 2));
    assert_eq!(holder.check().unwrap(), [""; 0]);
}

#[test]
fn a_connection_that_was_ended_is_replaced_and_a_transaction_on_it_leaves_no_trace() {
    let Some((cluster, options)) = shared() else { return };
    let store = create(&options);
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add("a")]);
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'punch' AND \
               position('SCHEMA.' in query) > 0";
    let end = end.replace("SCHEMA", &schema(&options));
    cluster.sql("postgres", &end).unwrap();
    must(&store, plan, 2, &[add("b")]);
    let failed = store.write(plan, Durability::Full, &mut |tx| {
        tx.put_plan_file(Some("x"))?;
        let outcome =
            punch_core::apply(&whole(&create(&options), plan), &[add("c")], &context(3, None, Policy::default()));
        tx.put(&outcome.unwrap())?;
        tx.find("nothing")?;
        cluster.sql("postgres", &end).unwrap();
        tx.find("a").map(|_| ())
    });
    assert_eq!(failed.unwrap_err().code(), "store_unavailable");
    assert_eq!(whole(&store, plan).row.revision, 2);
    must(&store, plan, 3, &[add("c")]);
}

#[test]
fn a_commit_whose_answer_is_lost_is_found_out_about() {
    let Some((cluster, options)) = shared() else { return };
    let proxy = Proxy::start(cluster.socket_folder()).unwrap();
    let direct = create(&options);
    let folder = |address: &str, from: &std::path::Path, to: &std::path::Path| {
        address.replace(&from.display().to_string(), &to.display().to_string())
    };
    let through = folder(&options.address, cluster.socket_folder(), proxy.socket_folder());
    let store = create(&PgOptions { address: through, wait: Some(Duration::from_secs(5)), ..options });
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add("a")]);
    proxy.cut(Cut::After);
    must(&store, plan, 2, &[add("b")]);
    proxy.cut(Cut::Before);
    let refused = submit(&store, plan, Durability::Full, &[add("c")], &context(3, None, Policy::default()));
    assert_eq!(refused.unwrap_err().code(), "store_unavailable", "nothing was stored, and that is known");
    assert_eq!(proxy.cuts(), 2);
    must(&store, plan, 4, &[add("d")]);
    proxy.cut(Cut::After);
    let other = store.create_plan("other", 5).unwrap();
    assert!(proxy.cuts() == 3 && whole(&direct, other).row.revision == 0);
    let contents: Vec<String> = whole(&direct, plan).all().map(|todo| todo.content.clone()).collect();
    assert_eq!(contents, ["a", "b", "d"]);
}

#[test]
fn a_database_that_only_reads_says_so() {
    let Some((_, options)) = shared() else { return };
    let store = create(&options);
    let plan = store.create_plan("main", 0).unwrap();
    let address = format!("{}&options=-c%20default_transaction_read_only%3Don", options.address);
    let reader = PgStore::open(PgOptions { address, ..options }, OpenMode::Existing).unwrap();
    reader.read(plan, &mut |s| s.row().map(|_| ())).unwrap();
    let refused = reader.write(plan, Durability::Full, &mut |_| Ok(())).unwrap_err();
    assert_eq!((refused.code(), refused.hint().contains("primary")), ("store_read_only", true));
}

#[test]
fn what_a_newer_program_wrote_is_kept() {
    let Some((cluster, options)) = shared() else { return };
    let store = create(&options);
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add_as("a", &[]), add_as("b", &[])]);
    let schema = schema(&options);
    let newer = format!(
        "UPDATE {schema}.meta SET minor = 99; UPDATE {schema}.todo SET body = '{{\"future\":1,' || substr(body, 2); \
         UPDATE {schema}.plan SET body = '{{\"future\":2,' || substr(body, 2)"
    );
    cluster.sql("postgres", &newer).unwrap();
    must(&create(&options), plan, 2, &[done("a")]);
    let kept = format!("SELECT count(*) FROM {schema}.todo WHERE body LIKE '%\"future\":1%'");
    assert_eq!(cluster.sql("postgres", &kept).unwrap().trim(), "2");
    let kept = format!("SELECT count(*) FROM {schema}.plan WHERE body LIKE '%\"future\":2%'");
    assert_eq!(cluster.sql("postgres", &kept).unwrap().trim(), "1");
}

/// A schema as an earlier version of the program has made it: the first migrations, one for each minor version.
fn make_earlier(cluster: &Cluster, schema: &str, minor: usize) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let steps = files.iter().take(minor + 1).map(|file| std::fs::read_to_string(file).unwrap());
    let steps = steps.collect::<String>().replace("punch.", &format!("{schema}."));
    let meta = format!("INSERT INTO {schema}.meta (store, created_at, major, minor) VALUES ('x', 1, 1, {minor})");
    cluster.sql("postgres", &format!("CREATE SCHEMA {schema}; {steps}; {meta}")).unwrap();
}

#[test]
fn a_schema_of_an_earlier_version_is_brought_up_to_date_and_takes_writes() {
    let Some((_, newest)) = shared() else { return };
    let now = create(&newest).info().unwrap().schema;
    for minor in 0..now.minor {
        let Some((cluster, options)) = shared() else { return };
        make_earlier(cluster, &schema(&options), minor as usize);
        // Several programs of the new version open it at once; one of them changes the schema.
        let stores: Vec<PgStore> = std::thread::scope(|scope| {
            let openers: Vec<_> = (0..4).map(|_| scope.spawn(|| create(&options))).collect();
            openers.into_iter().map(|opener| opener.join().unwrap()).collect()
        });
        let upgrades: Vec<_> = stores.iter().filter_map(|store| store.upgrade()).collect();
        assert_eq!(upgrades.len(), 1, "1.{minor}");
        assert_eq!((upgrades[0].from.minor, upgrades[0].to), (minor, now));
        let store = create(&options);
        assert!(store.upgrade().is_none() && store.info().unwrap().schema == now);
        let plan = store.create_plan("main", 0).unwrap();
        must(&store, plan, 1, &[add_as("a", &[]), add_as("b", &["a"])]);
        must(&stores[0], plan, 2, &[done("a")]);
        let worker = WorkerRecord { name: "w".into(), epoch: 1, seen_at: 1, until: None, body: "{}".into() };
        store.write(plan, Durability::Full, &mut |tx| tx.put_worker(&worker).map(|_| ())).unwrap();
        assert_eq!(store.check().unwrap(), [""; 0]);
    }
}

#[test]
fn columns_that_were_changed_by_hand_are_found_and_rebuilt() {
    let Some((cluster, options)) = shared() else { return };
    let store = create(&options);
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add_as("a", &[]), add_as("b", &["a"])]);
    let schema = schema(&options);
    cluster.sql("postgres", &format!("UPDATE {schema}.todo SET queue = 3; DELETE FROM {schema}.edge")).unwrap();
    assert_eq!(store.check().unwrap().len(), 3);
    store.rebuild().unwrap();
    assert_eq!(store.check().unwrap(), [""; 0]);
    assert_eq!(look(&store, plan, |s| Ok(s.ready(9, None, 9)?.len())), 1);
}

#[test]
fn plans_are_copied_both_ways_with_their_history() {
    let Some((_, options)) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = SqliteStore::open(&folder.path().join("store.db"), OpenMode::Create).unwrap();
    let (old, plan) = (file.create_plan("old", 1).unwrap(), file.create_plan("main", 2).unwrap());
    must(&file, old, 1, &[add("x")]);
    file.write(old, Durability::Full, &mut |tx| tx.archive(Some(9))).unwrap();
    must(&file, plan, 1, &[add_as("a", &[]), add_as("d\0", &["a"])]);
    must(&file, plan, 2, &[done("a")]);
    file.write(plan, Durability::Full, &mut |tx| tx.prune(2, &mut Vec::new()).map(|_| ())).unwrap();
    must(&file, plan, 4, &[add("e")]);
    let session = SessionRow { key: SessionKey::new("s", None), plan: Some(plan), seen_at: 1, body: "{}".into() };
    file.write(plan, Durability::Full, &mut |tx| tx.put_session(&session)).unwrap();
    let server = create(&options);
    let report = copy_store(&file, &server).unwrap();
    assert_eq!((report.plans, report.todos, report.sessions), (2, 4, 1));
    assert_eq!(copy_store(&file, &server).unwrap_err().code(), "store_conflict");
    let back = MemoryStore::new();
    assert_eq!(copy_store(&server, &back).unwrap(), report);
    let copied = folder.path().join("copy.db");
    server.backup_to(&copied).unwrap();
    let again = SqliteStore::open(&copied, OpenMode::Existing).unwrap();
    let find = |store: &dyn Store| {
        let mut found = None;
        store
            .browse(&mut |c| {
                found = c.plans()?.into_iter().find(|plan| plan.name == "main").map(|plan| plan.id);
                Ok(())
            })
            .unwrap();
        found.unwrap()
    };
    let content = |store: &dyn Store, plan: PlanId| {
        look(store, plan, |s| Ok((s.events(0, usize::MAX)?, s.info()?.pruned, s.info()?.revision, whole(store, plan))))
    };
    let expected = content(&file, plan);
    for store in [&server as &dyn Store, &back, &again] {
        assert_eq!(content(store, find(store)), expected);
        must(store, find(store), 9, &[done("d\0")]);
    }
    assert_eq!(server.check().unwrap(), [""; 0]);
}

#[test]
fn a_store_can_be_used_and_dropped_inside_another_runtime() {
    let Some((_, options)) = shared() else { return };
    let store = create(&options);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let plan = store.create_plan("main", 0).unwrap();
        must(&store, plan, 1, &[add("a")]);
        assert_eq!(whole(&store, plan).row.revision, 1);
        drop(store);
    });
}
