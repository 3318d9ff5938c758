//! Agents of a run: each can write its own lane, and call `punch`.

use super::Cell;
use super::world::EscapeWorld;
use crate::TaskResult;

const WHO: &str = "agent in its lane";

/// Puts a configuration that leaves the canary into the git folder `$1`.
const HOSTILE: &str = r#"
hostile() {
  for hook in pre-commit post-commit post-checkout post-merge reference-transaction post-index-change; do
    mkdir -p "$1/hooks"; printf '#!/bin/sh\ntouch %s\n' "$CANARY" > "$1/hooks/$hook"; chmod +x "$1/hooks/$hook"
  done
  printf '[filter "e"]\n\tclean = touch %s && cat\n\tsmudge = touch %s && cat\n[core]\n\tfsmonitor = touch %s\n' \
    "$CANARY" "$CANARY" "$CANARY" >> "$1/config"
  printf '[merge "e"]\n\tdriver = touch %s\n' "$CANARY" >> "$1/config"
}
echo '* filter=e merge=e' > .gitattributes
echo work > work
"#;

/// What an agent does to its lane before it reports success.
const TRICKS: &[(&str, &str)] = &[
    (".git names the user's git folder", r#"echo "gitdir: $MAIN/.git" > .git"#),
    (
        ".git names another repository",
        r#"git init --quiet "$PLACE/other"; hostile "$PLACE/other/.git"; echo "gitdir: $PLACE/other/.git" > .git"#,
    ),
    (
        ".git names a copy with filters, hooks and a monitor",
        r#"branch=$(git symbolic-ref HEAD); cp -R "$MAIN/.git" .copy; hostile .copy
           echo "ref: $branch" > .copy/HEAD; echo "gitdir: $PWD/.copy" > .git"#,
    ),
    (".git is a copy with filters, hooks and a monitor", r#"rm .git; cp -R "$MAIN/.git" .git; hostile .git"#),
    (".git is a symbolic link", r#"rm .git; ln -s "$MAIN/.git" .git"#),
    (".git is a pipe", "rm .git; mkfifo .git"),
    (
        "commondir of the lane names a copy",
        r#"own=$(git rev-parse --absolute-git-dir); cp -R "$MAIN/.git" .copy; hostile .copy
           echo "$PWD/.copy" > "$own/commondir""#,
    ),
    (
        "attributes, .gitconfig, .gitmodules and hooks in the lane",
        r#"hostile .githooks; cp .githooks/config .gitconfig; mkdir hooks; cp .githooks/hooks/* hooks
           printf '[submodule "x"]\n\tpath = x\n\turl = .\n\tupdate = !touch %s\n' "$CANARY" > .gitmodules"#,
    ),
];

/// What an agent asks `punch` to do.
const CALLS: &[(&str, &str)] = &[
    ("approves a command that it wrote", r#""$PUNCH" edit T-1 --verify "touch $CANARY"; "$PUNCH" verify --allow T-1"#),
    (
        "starts a run of its own",
        r#""$PUNCH" plan new mine; "$PUNCH" --plan mine add x
        "$PUNCH" --plan mine run --agent "exec:touch $CANARY""#,
    ),
    ("sets run.agent for the user", r#""$PUNCH" config set run.agent "exec:touch $CANARY""#),
    ("sets run.agent in the user's own file", r#""$PUNCH" config set --user run.agent "exec:touch $CANARY""#),
];

/// All cells of this kind.
pub fn cells() -> Vec<Cell> {
    let mut cells = vec![Cell::runs("control", "an agent of a run does its work", |world| {
        work(world, "echo work > work; touch $CANARY")
    })];
    for (what, trick) in TRICKS {
        cells.push(Cell::held(WHO, *what, move |world| {
            work(world, &format!("{HOSTILE}\n{trick}"))?;
            // The user continues: another run, what is left, a look around.
            world.punch("repo", &["run", "--agent", "exec:true", "--worktrees", "--max-turns", "4"])?;
            world.punch("repo", &["runs"])?;
            world.ok("repo", &["list"]).map(drop)
        }));
    }
    for (what, call) in CALLS {
        cells.push(Cell::held("agent of a run", *what, move |world| {
            work(world, &format!("set +e\n{call}\ntrue"))?;
            world.punch("repo", &["verify", "T-1"])?;
            world.ok("repo", &["add", "More"])?;
            world.punch("repo", &["run"])?;
            Ok(())
        }));
    }
    cells
}

/// A run with one todo, whose agent runs this script in its lane and reports success.
fn work(world: &EscapeWorld, script: &str) -> TaskResult {
    world.write("agent.sh", script)?;
    world.ok("repo", &["add", "Do it"])?;
    let agent = format!("exec:sh -e {}", world.path("agent.sh").display());
    let ran = world.punch("repo", &["run", "--agent", &agent, "--worktrees", "--max-turns", "2"])?;
    match ran.exit {
        Some(0 | 1 | 4) => Ok(()),
        exit => Err(format!("the run ended with {exit:?}: {}{}", ran.out, ran.err)),
    }
}
