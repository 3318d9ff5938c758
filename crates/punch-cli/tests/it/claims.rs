//! Claims, leases and fences on the command line.

use insta::assert_snapshot;
use serde_json::json;

use crate::mcp::client::Client;
use crate::world::{World, calm, finished};

#[test]
fn claims_go_to_one_owner_and_only_that_one_finishes() {
    let world = World::new();
    world.ok(&["add", "One", "Two"]);
    assert_snapshot!(calm(&world.script(r"
        claim
        claim --owner alice --lease 30m
        claim T-1 --owner bob
        claim --owner bob
        claim --owner carol
        done T-1 --owner bob
        renew T-1 --owner bob
        renew T-1 --owner alice --lease 1h
        done T-1 --owner alice --fence 7
        done T-1 --owner alice --fence 1
        claim --owner alice --lease soon
        claim nobody --owner alice
        list --all
    ")), @r"
    $ punch claim
    2> error: a claim needs an owner
    2> hint: say who claims it: `--owner NAME` or PUNCH_OWNER
    exit 2
    $ punch claim --owner alice --lease 30m
    [>] T-1  One
    claimed by alice for 30m
    $ punch claim T-1 --owner bob
    2> error: `T-1` is claimed by `alice` until TIME
    2> hint: start another todo with `punch start T-2`, or wait until the claim ends
    exit 1
    $ punch claim --owner bob
    [>] T-2  Two
    claimed by bob for 15m
    $ punch claim --owner carol
    Nothing is ready; 2 todos are open. `punch why` shows what they are waiting for.
    $ punch done T-1 --owner bob
    2> error: `T-1` is claimed by `alice` until TIME
    2> hint: no other todo is ready; wait until the claim ends
    exit 1
    $ punch renew T-1 --owner bob
    2> error: `T-1` is claimed by `alice` until TIME
    2> hint: no other todo is ready; wait until the claim ends
    exit 1
    $ punch renew T-1 --owner alice --lease 1h
    [>] T-1  One
    lease 1h
    $ punch done T-1 --owner alice --fence 7
    2> error: the claim on `T-1` has ended: someone else claimed it since (claim 7, now 1)
    2> hint: claim it again, then report the result
    exit 1
    $ punch done T-1 --owner alice --fence 1
    [x] T-1  One
    $ punch claim --owner alice --lease soon
    2> error: invalid duration `soon`
    2> hint: write a number with ms, s, m, h or d: `90s`, `15m`, `1h30m`
    exit 2
    $ punch claim nobody --owner alice
    2> error: no todo `nobody`
    2> hint: `punch list --all` shows every todo, closed ones included; `punch log` names archived ones
    exit 1
    $ punch list --all
    [x] T-1  One
    [>] T-2  Two  (@bob)
    ");
}

#[test]
fn a_claim_answers_with_fence_and_lease() {
    let world = World::new();
    world.ok(&["add", "One"]);
    let claimed = world.json(&["claim", "--owner", "a", "--lease", "15m"]);
    assert_eq!((&claimed["todo"]["id"], &claimed["fence"]), (&"T-1".into(), &1.into()));
    let until = claimed["leaseUntil"].as_i64().unwrap();
    let renewed = world.json(&["renew", "T-1", "--owner", "a", "--lease", "30m"]);
    assert!(renewed["leaseUntil"].as_i64().unwrap() >= until + 15 * 60 * 1000);
    let nothing = world.json(&["claim", "--owner", "b"]);
    assert_eq!(nothing["todo"], serde_json::Value::Null);
    assert_eq!(nothing["fence"], serde_json::Value::Null);
}

/// The owner of the old claim is fenced off once someone else has the todo.
#[test]
fn an_expired_lease_is_free_for_others() {
    let world = World::new();
    world.ok(&["add", "One"]);
    world.ok(&["claim", "--owner", "a", "--lease", "1ms"]);
    // The next process starts later than a millisecond.
    let taken = world.json(&["claim", "--owner", "b"]);
    assert_eq!((&taken["todo"]["id"], &taken["fence"]), (&"T-1".into(), &2.into()));
    assert_eq!(world.punch(&["done", "T-1", "--owner", "a", "--fence", "1"]).exit, Some(1));
    world.ok(&["done", "T-1", "--owner", "b", "--fence", "2"]);
}

#[test]
fn you_may_end_any_claim_and_yours_has_no_end() {
    let world = World::new();
    world.ok(&["add", "One", "Two"]);
    assert_snapshot!(calm(&world.script(r"
        start T-1 --owner alice
        start T-1 --owner bob
        done T-1
        start T-1
        start T-2
        list
        claim T-2 --owner bob
    ")), @r"
    $ punch start T-1 --owner alice
    [>] T-1  One
    $ punch start T-1 --owner bob
    2> error: `T-1` is claimed by `alice` until TIME
    2> hint: start another todo with `punch start T-2`, or wait until the claim ends
    exit 1
    $ punch done T-1
    [x] T-1  One
    note: this ends the claim of `alice` on `T-1`
    $ punch start T-1
    2> error: cannot start `T-1`: it is completed
    2> hint: run `punch reopen T-1` first
    exit 1
    $ punch start T-2
    [>] T-2  Two
    $ punch list
    [>] T-2  Two  (yours)
    $ punch claim T-2 --owner bob
    2> error: `T-2` is claimed by the user
    2> hint: no other todo is ready; wait until the claim ends
    exit 1
    ");
}

/// A command in an agent's shell acts as the session that its environment names, and not as the user.
#[test]
fn an_agents_shell_acts_as_its_session() {
    let world = World::new();
    world.ok(&["add", "One", "Two"]);
    let claude = |session: &str, arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session);
        finished(command.output().unwrap())
    };
    assert_eq!(claude("s-1", &["start", "T-1"]).exit, Some(0));
    assert_eq!(world.json(&["show", "T-1"])["todo"]["owner"], "s-1");
    let refused = claude("s-2", &["reopen", "T-1"]);
    assert!(refused.exit == Some(1) && refused.stderr.contains("is claimed by `s-1`"), "{}", refused.render());
    assert_eq!(claude("s-1", &["done", "T-1"]).exit, Some(0));
    let log = world.json(&["log"]);
    let by: Vec<&str> = log["revisions"].as_array().into_iter().flatten().filter_map(|r| r["by"].as_str()).collect();
    assert!(by.contains(&"claude") && by.contains(&"user"), "{log}");
}

/// A name that an agent gives itself, by flag, variable or setting, does not get around the claims of others.
#[test]
fn an_agent_does_not_act_under_the_name_of_another() {
    let world = World::new();
    world.ok(&["add", "One", "Two"]);
    let shell = |marks: &[(&str, &str)], arguments: &[&str]| {
        let mut command = world.command(arguments);
        finished(command.envs(marks.iter().copied()).output().unwrap())
    };
    let first = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s-1")];
    assert_eq!(shell(&first, &["start", "T-1"]).exit, Some(0));
    let others: [&[(&str, &str)]; 3] = [
        &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s-2")],
        &[("CODEX_THREAD_ID", "s-3")],
        &[("GEMINI_CLI", "1")],
    ];
    for marks in others {
        let flag = shell(marks, &["done", "T-1", "--owner", "s-1"]);
        assert!(flag.exit == Some(1) && flag.stderr.contains("is claimed by `s-1`"), "{}", flag.render());
        assert!(flag.stderr.contains("warning: `--owner` is ignored in an agent's shell"), "{}", flag.stderr);
        let variable = shell(&[marks, &[("PUNCH_OWNER", "s-1")]].concat(), &["done", "T-1"]);
        assert!(variable.stderr.contains("is claimed by `s-1`"), "{}", variable.render());
        shell(marks, &["config", "set", "owner", "s-1"]);
        let setting = shell(marks, &["reopen", "T-1"]);
        assert!(setting.stderr.contains("is claimed by `s-1`"), "{}", setting.render());
    }
    assert_eq!(world.json(&["show", "T-1"])["todo"]["status"], "in_progress");
    let claimed = shell(others[0], &["claim", "--owner", "s-9"]);
    assert_eq!(claimed.exit, Some(0), "{}", claimed.render());
    assert_eq!(world.json(&["show", "T-2"])["todo"]["owner"], "s-2");
}

/// Checks cannot be loosened from an agent's shell; they can be tightened.
#[test]
fn a_variable_in_an_agents_shell_does_not_loosen_a_check() {
    let world = World::with_git();
    world.ok(&["config", "set", "policy.verify", "command"]);
    world.ok(&["add", "One", "--verify", "false"]);
    world.ok(&["verify", "--allow", "T-1"]);
    let done = |mark: &str| {
        let mut command = world.command(&["done", "T-1"]);
        finished(command.env(mark, "1").env("PUNCH_POLICY_VERIFY", "trust").output().unwrap())
    };
    let refused = done("CLAUDECODE");
    assert_eq!(refused.exit, Some(1), "{}", refused.render());
    assert!(
        refused.stderr.contains("`policy.verify` in variable `PUNCH_POLICY_VERIFY` is ignored"),
        "{}",
        refused.stderr
    );
    assert_eq!(world.json(&["show", "T-1"])["todo"]["status"], "pending");
    assert_eq!(done("NO_MARK").exit, Some(0), "the user may");
}

#[test]
fn a_claim_over_the_tool_lasts_as_long_as_the_setting_says() {
    let world = World::new();
    world.ok(&["add", "One", "Two"]);
    world.ok(&["config", "set", "lease", "2h"]);
    let mut client = Client::spawn(world.command(&["mcp", "--tools", "claim"]));
    client.begin();
    let claimed = client.call("todo_claim", json!({}));
    assert!(claimed.contains("Claimed by mcp-") && claimed.contains("for 7200 s"), "{claimed}");
    let claimed = client.call("todo_claim", json!({"id": "T-2", "leaseMs": 60_000}));
    assert!(claimed.contains("for 60 s"), "what the call says counts first: {claimed}");
    client.end();
    let todo = world.json(&["show", "T-1"])["todo"].clone();
    let time = |key: &str| todo[key].as_i64().unwrap_or_else(|| panic!("{todo}"));
    assert_eq!(time("leaseUntil") - time("startedAt"), 7_200_000);
}
