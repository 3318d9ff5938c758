//! Servers as they are met: behind a pooler, under TLS, full, slow, restarted, too old, or another database altogether. Each
//! has a defined outcome.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use punch_core::{Footprint, Plan, Policy, apply};
use punch_store::{Durability, OpenMode, PlanId, Store, StoreAdmin, StoreError, Tx};
use punch_store_pg::{Login, PgOptions, PgStore};
use punch_testkit::postgres::{self, Cluster, Disk};
use punch_testkit::postgres_pooler::Pooler;
use punch_testkit::postgres_proxy::Proxy;

use crate::contract::submit::{add, context, look, must, submit, whole};
use crate::{create, options, options_on};

/// The address with another folder for the socket.
fn through(options: &PgOptions, cluster: &Cluster, folder: &Path) -> PgOptions {
    let address =
        options.address.replace(&cluster.socket_folder().display().to_string(), &folder.display().to_string());
    PgOptions { address, ..options.clone() }
}

/// A missing program skips a test; where `CI` is set, that is a failure.
fn skips(error: &std::io::Error) -> bool {
    assert!(std::env::var_os("CI").is_none(), "{error}");
    error.kind() == std::io::ErrorKind::NotFound
}

#[test]
fn a_pooler_in_transaction_mode_mixes_nothing_up() {
    const WRITERS: usize = 6;
    const EACH: usize = 12;
    let Some(options) = options() else { return };
    let cluster = postgres::shared().unwrap();
    let pooler = match Pooler::start(cluster) {
        Ok(pooler) => pooler,
        Err(error) if skips(&error) => return,
        Err(error) => panic!("{error}"),
    };
    let options = through(&options, cluster, pooler.socket_folder());
    let store = create(&options);
    let plans: Vec<PlanId> = (0..3).map(|n| store.create_plan(&format!("p{n}"), 0).unwrap()).collect();
    let mut changes = store.changes();
    while changes.wait(Duration::from_millis(50)).unwrap() {}
    // Every client does other things first, so that the same name stands for another statement in each of them.
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (options, plans) = (&options, &plans);
            scope.spawn(move || {
                let store = create(options);
                let plan = plans[writer % plans.len()];
                for n in 0..EACH {
                    match writer % 3 {
                        0 => drop(look(&store, plan, |s| s.ready(9, None, 3))),
                        1 => drop(look(&store, plan, |s| s.find("nothing"))),
                        _ => drop(look(&store, plan, |s| s.events(0, 3))),
                    }
                    must(&store, plan, n as i64, &[add(&format!("{writer}/{n}"))]);
                }
            });
        }
        assert!(changes.wait(Duration::from_secs(20)).unwrap(), "changes are found without notifications");
    });
    for plan in plans {
        let stored = whole(&store, plan);
        assert_eq!((stored.row.revision as usize, stored.all().count()), (WRITERS / 3 * EACH, WRITERS / 3 * EACH));
    }
    let folder = pooler.socket_folder().display().to_string();
    let psql = ["-XqAt", "-h", &folder, "-U", "punch", "-d", "postgres", "-c", "SHOW lock_timeout"];
    assert_eq!(cluster.run("psql", &psql).unwrap().trim(), "0", "sessions that others use are left as they were");
    assert_eq!(store.check().unwrap(), [""; 0]);
}

/// A certificate that the server signed itself.
const SELF_SIGNED: &str = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout key.pem -out cert.pem -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost && cp cert.pem root.pem";

/// A certificate that an authority signed.
const SIGNED: &str = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout ca.key -out root.pem -subj /CN=authority && \
    openssl req -newkey rsa:2048 -nodes -keyout key.pem -out asked.pem -subj /CN=localhost && \
    echo subjectAltName=DNS:localhost > names && \
    openssl x509 -req -in asked.pem -CA root.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out cert.pem";

/// A server under TLS on a port of the loopback; its root certificate lies in its folder.
fn encrypted(certificate: &str, port: u16) -> std::io::Result<Cluster> {
    Cluster::start_with(Disk::Fast, |folder| {
        let mut openssl = Command::new("sh");
        openssl.args(["-c", certificate]).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        if !openssl.status()?.success() {
            return Err(std::io::Error::new(std::io::ErrorKind::NotFound, "openssl is not installed"));
        }
        std::fs::set_permissions(folder.join("key.pem"), std::fs::Permissions::from_mode(0o600))?;
        postgres::give_to_server(&folder.join("key.pem"))?;
        let folder = folder.display();
        Ok(format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nssl = on\nssl_cert_file = '{folder}/cert.pem'\n\
             ssl_key_file = '{folder}/key.pem'\n"
        ))
    })
}

#[test]
fn certificates_are_judged_as_sslmode_says() {
    for certificate in [SELF_SIGNED, SIGNED] {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let cluster = match encrypted(certificate, port) {
            Ok(cluster) => cluster,
            Err(error) if skips(&error) => return,
            Err(error) => panic!("{error}"),
        };
        let open = |host: &str, query: &str| {
            let address = format!("postgres://punch@{host}:{port}/postgres?schema=tls&{query}");
            PgStore::open(PgOptions { address, project: "p".into(), ..PgOptions::default() }, OpenMode::Create)
        };
        let folder = cluster.socket_folder().display().to_string();
        let trusted = format!("sslrootcert={folder}/root.pem");
        for (host, query) in [
            ("localhost", "sslmode=disable".to_owned()),
            ("127.0.0.1", "sslmode=require".to_owned()),
            ("127.0.0.1", format!("sslmode=verify-ca&{trusted}")),
            ("localhost", format!("sslmode=verify-full&{trusted}")),
        ] {
            let store = open(host, &query).unwrap_or_else(|error| panic!("{host} {query}: {error}"));
            store.browse(&mut |catalogue| catalogue.plans().map(|_| ())).unwrap();
            let sql = "SELECT bool_or(s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) \
                       WHERE a.application_name = 'punch'";
            let port = port.to_string();
            let psql = ["-XqAt", "-h", &folder, "-p", &port, "-U", "punch", "-d", "postgres", "-c", sql];
            let encrypted = cluster.run("psql", &psql).unwrap();
            assert_eq!(encrypted.trim() == "t", query != "sslmode=disable", "{host} {query}: {encrypted}");
        }
        for (host, query) in [
            ("127.0.0.1", format!("sslmode=verify-full&{trusted}")),
            ("localhost", "sslmode=verify-full".to_owned()),
            ("localhost", "sslmode=verify-full&sslrootcert=/nonexistent".to_owned()),
        ] {
            let refused = open(host, &query).err().unwrap_or_else(|| panic!("{host} {query} is accepted"));
            assert_eq!(refused.code(), "store_unavailable", "{refused}");
            assert!(
                refused.message().contains("certificate") || refused.message().contains("/nonexistent"),
                "{refused}"
            );
        }
    }
}

#[test]
fn a_full_disk_stores_nothing_and_says_so() {
    let Some(options) = options() else { return };
    let (cluster, store) = (postgres::shared().unwrap(), create(&options));
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add("a")]);
    let schema = options.address.rsplit_once('=').unwrap().1;
    // The server reports a full disk with this code, wherever it meets it.
    let full = format!(
        "CREATE FUNCTION {schema}.disk_full() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$; \
         CREATE TRIGGER disk_full BEFORE INSERT ON {schema}.event EXECUTE FUNCTION {schema}.disk_full()"
    );
    cluster.sql("postgres", &full).unwrap();
    let refused =
        submit(&store, plan, Durability::Full, &[add("b")], &context(2, None, Policy::default())).unwrap_err();
    assert_eq!(refused.code(), "store_full", "{refused}");
    cluster.sql("postgres", &format!("DROP TRIGGER disk_full ON {schema}.event")).unwrap();
    must(&store, plan, 3, &[add("c")]);
    assert_eq!(whole(&store, plan).row.revision, 2);
}

#[test]
fn a_slow_network_costs_time_and_a_dead_one_ends_at_the_deadline() {
    let Some(options) = options() else { return };
    let cluster = postgres::shared().unwrap();
    let proxy = Proxy::start(cluster.socket_folder()).unwrap();
    let options = through(&options, cluster, proxy.socket_folder());
    let store = create(&PgOptions { wait: Some(Duration::from_millis(200)), ..options });
    let plan = store.create_plan("main", 0).unwrap();
    proxy.slow_down(Duration::from_millis(100));
    must(&store, plan, 1, &[add("a")]);
    proxy.slow_down(Duration::from_secs(60));
    let refused = store.write(plan, Durability::Full, &mut |_| Ok(())).unwrap_err();
    assert_eq!(refused.code(), "store_busy", "{refused}");
    proxy.slow_down(Duration::ZERO);
    must(&store, plan, 2, &[add("b")]);
}

#[test]
fn a_restart_in_mid_transaction_leaves_no_trace_of_it() {
    if postgres::programs().is_none() {
        return;
    }
    let cluster = Cluster::start(Disk::Durable).unwrap();
    let store = create(&options_on(&cluster));
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add("a")]);
    for mode in ["fast", "immediate"] {
        let failed = store.write(plan, Durability::Full, &mut |tx| {
            let outcome = apply(&everything(tx)?, &[add("lost")], &context(2, None, Policy::default()));
            tx.put(&outcome.unwrap())?;
            cluster.stop(mode).unwrap();
            cluster.resume().unwrap();
            Ok(())
        });
        assert_eq!(failed.unwrap_err().code(), "store_unavailable", "{mode}: nothing was stored, and that is known");
        must(&store, plan, 3, &[add(mode)]);
    }
    let contents: Vec<String> = whole(&store, plan).all().map(|todo| todo.content.clone()).collect();
    assert_eq!(contents, ["a", "fast", "immediate"]);
    assert_eq!(store.check().unwrap(), [""; 0]);
}

fn everything(tx: &dyn Tx) -> Result<Plan, StoreError> {
    let mut plan = Plan::slice(tx.row()?);
    tx.load(&Footprint::everything(), &mut plan)?;
    Ok(plan)
}

/// Speaks as much of the protocol as it takes to say which release it is.
fn pretend(folder: &Path, parameters: &'static [(&'static str, &'static str)]) {
    let listener = UnixListener::bind(folder.join(".s.PGSQL.5432")).unwrap();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut length = [0; 4];
            client.read_exact(&mut length).unwrap();
            let mut startup = vec![0; u32::from_be_bytes(length) as usize - 4];
            client.read_exact(&mut startup).unwrap();
            let mut out = b"R\0\0\0\x08\0\0\0\0".to_vec();
            for (name, value) in parameters {
                let text = format!("{name}\0{value}\0");
                out.push(b'S');
                out.extend(u32::try_from(text.len() + 4).unwrap().to_be_bytes());
                out.extend(text.bytes());
            }
            out.extend(b"Z\0\0\0\x05I");
            let _ = client.write_all(&out);
            // Until the client has read it and leaves.
            let _ = client.read(&mut [0; 64]);
        }
    });
}

#[test]
fn servers_that_are_too_old_or_something_else_are_refused() {
    for (parameters, words) in [
        (&[("server_version", "13.14")][..], "PostgreSQL 13.14, but 14 or newer is needed"),
        (&[("server_version", "13.0.0"), ("crdb_version", "CockroachDB CCL v24.1")], "a different database"),
        (&[("server_version", "15.2-YB-2.25.1.0-b0")], "a different database"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        pretend(folder.path(), parameters);
        let address = format!("postgres://x@/x?host={}", folder.path().display());
        let options = PgOptions { address, project: "p".into(), login: Login::default(), ..PgOptions::default() };
        let refused = PgStore::open(options, OpenMode::Create).err().unwrap();
        assert_eq!(refused.code(), "store_foreign", "{refused}");
        assert!(refused.message().contains(words), "{refused}");
    }
}

/// The block of SQL in the documentation that begins with these words.
fn documented_sql(begin: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/postgres.md");
    let text = std::fs::read_to_string(file).unwrap();
    let block = text.split("```sql\n").skip(1).find(|block| block.starts_with(begin));
    block.and_then(|block| block.split("```").next()).unwrap().to_owned()
}

#[test]
fn the_role_of_the_documentation_can_do_all_that_punch_does_and_not_more() {
    let Some(options) = options() else { return };
    let (cluster, owner) = (postgres::shared().unwrap(), create(&options));
    let schema = options.address.rsplit_once('=').unwrap().1;
    let role = format!("{schema}_writer");
    let script = documented_sql("CREATE ROLE").replace("punch_writer", &role);
    let script = script.replace("SCHEMA punch", &format!("SCHEMA {schema}"));
    cluster.sql("postgres", &script).unwrap();
    let address = options.address.replace("punch@", &format!("{role}@"));
    let store = create(&PgOptions { address, project: "of the role".into(), ..options.clone() });
    let plan = store.create_plan("main", 0).unwrap();
    must(&store, plan, 1, &[add("a"), add("b")]);
    // Also in tables that a later version makes.
    cluster.sql("postgres", &format!("CREATE TABLE {schema}.later (x int)")).unwrap();
    let as_role =
        |sql: &str| cluster.sql("postgres", &format!("SET ROLE {role}; {}", sql.replace("SCHEMA", schema))).map(|_| ());
    let lacking = "SELECT tablename FROM pg_tables WHERE schemaname = 'SCHEMA' AND NOT (SELECT bool_and(has_table_privilege(\
                   'ROLE', schemaname || '.' || tablename, p)) FROM unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) p)";
    let lacking = lacking.replace("SCHEMA", schema).replace("ROLE", &role);
    assert_eq!(cluster.sql("postgres", &lacking).unwrap().trim(), "");
    for refused in [
        "CREATE TABLE SCHEMA.own ()",
        "DROP TABLE SCHEMA.todo",
        "ALTER TABLE SCHEMA.todo ADD COLUMN x int",
        "TRUNCATE SCHEMA.todo",
    ] {
        assert!(as_role(refused).is_err(), "{refused} is allowed");
    }
    cluster.sql("postgres", &format!("UPDATE {schema}.meta SET minor = 0")).unwrap();
    let role = PgOptions { address: options.address.replace("punch@", &format!("{role}@")), ..options };
    let refused = PgStore::open(role, OpenMode::Create).err().unwrap();
    assert!(refused.message().contains("permission denied"), "{refused}");
    assert_eq!(owner.check().unwrap(), [""; 0]);
}

#[test]
fn an_address_says_how_long_a_login_may_take() {
    let Some(options) = options() else { return };
    let cluster = postgres::shared().unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Takes connections, and never says a word.
    let _silent = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
    let (server, silent) = (cluster.socket_folder().display().to_string(), folder.path().display().to_string());
    let address = options.address.replace(&format!("host={server}"), &format!("host={silent}&host={server}"));
    let address = format!("{address}&connect_timeout=1");
    // The next host has its turn once the time of the first one is over.
    create(&PgOptions { address, ..options });
}
