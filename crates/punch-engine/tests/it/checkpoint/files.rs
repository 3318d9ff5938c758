//! What the files of a todo held decides beside its commit: on histories that were reverted, amended, rebased, reset.

use std::fs;

use punch_core::{Add, Edit, Keep, Op};

use super::{ANYWAY, GENTLY, World, verdicts};

/// A world with todos that name their files; `T-1` is done as the closure says.
fn world(files: &[&[&str]]) -> World {
    let world = World::new();
    for files in files {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        let edit = Edit { content: Keep::Set("work".into()), files: Keep::Set(files), ..Edit::default() };
        world.submit(&[Op::Add(Add { edit, ..Add::default() })]).unwrap();
    }
    world
}

impl World {
    fn write(&self, file: &str, text: &str) {
        let path = self.sandbox.path("p").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit_all(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn judged(&self, id: &str) -> Vec<String> {
        verdicts(&self.restore(id, ANYWAY).unwrap())
    }
}

#[test]
fn a_reverted_commit_is_behind_the_head_and_what_it_brought_is_not() {
    let world = world(&[&["src/*.rs"], &["docs/**"]]);
    world.write("src/a.rs", "one\n");
    world.commit_all("one");
    world.done("T-1");
    world.write("docs/a.md", "two\n");
    world.commit_all("two");
    world.done("T-2");
    let saved = world.save();
    assert_eq!(verdicts(&world.restore(&saved.id, GENTLY).unwrap()), ["T-1 valid", "T-2 valid"]);
    world.git(&["revert", "--no-edit", "HEAD~1"]);
    let restored = world.restore(&saved.id, GENTLY).unwrap();
    assert_eq!(verdicts(&restored), ["T-1 stale", "T-2 valid"]);
    assert_eq!(restored.reopened, ["T-1"]);
    let lost: Vec<bool> = restored.judged.iter().map(|judged| judged.files_lost).collect();
    assert_eq!(lost, [true, false], "the commit does not speak against it");
    // Restoring twice is restoring once.
    assert_eq!(world.restore(&saved.id, GENTLY).unwrap().reopened, [""; 0]);
}

/// The configuration of a repository may come with an archive. It names the program that verifies signatures.
#[cfg(unix)]
#[test]
fn a_restore_verifies_no_signatures() {
    let world = world(&[&["a.txt"]]);
    world.write("a.txt", "one\n");
    world.commit_all("one");
    world.done("T-1");
    let saved = world.save();
    world.git(&["revert", "--no-edit", "HEAD"]);
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n";
    let signed = world.git(&["cat-file", "commit", "HEAD"]).replacen("\n\n", &format!("\n{signature}"), 1);
    let path = |name: &str| world.sandbox.path("p").join(".git").join(name);
    fs::write(path("signed"), format!("{signed}\n")).unwrap();
    let commit = world.git(&["hash-object", "-t", "commit", "-w", ".git/signed"]);
    world.git(&["reset", "-q", "--soft", &commit]);
    let canary = path("canary");
    fs::write(path("verifier"), format!("#!/bin/sh\ntouch '{}'\n", canary.display())).unwrap();
    fs::set_permissions(path("verifier"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.git(&["config", "gpg.program", &path("verifier").display().to_string()]);
    world.git(&["config", "log.showSignature", "true"]);
    world.git(&["log", "-1"]);
    assert!(canary.exists(), "git itself runs the program here");
    fs::remove_file(&canary).unwrap();
    assert_eq!(world.judged(&saved.id), ["T-1 stale"], "the history was read");
    assert!(!canary.exists(), "a program ran");
}

#[test]
fn a_revert_that_was_reverted_holds() {
    let world = world(&[&["a.txt"]]);
    world.write("a.txt", "one\n");
    world.commit_all("one");
    world.done("T-1");
    let saved = world.save();
    world.git(&["revert", "--no-edit", "HEAD"]);
    world.git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(world.judged(&saved.id), ["T-1 valid"]);
}

#[test]
fn later_work_on_the_same_files_takes_nothing_away() {
    let world = world(&[&["a.txt"], &["a.txt"]]);
    world.write("a.txt", "one\n");
    world.commit_all("one");
    world.done("T-1");
    world.write("a.txt", "one\ntwo\n");
    world.commit_all("two");
    world.done("T-2");
    let saved = world.save();
    world.write("a.txt", "one\ntwo\nthree\n");
    world.commit_all("by hand");
    assert_eq!(world.judged(&saved.id), ["T-1 valid", "T-2 valid"]);
    world.git(&["mv", "a.txt", "b.txt"]);
    world.commit_all("moved");
    world.git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(world.judged(&saved.id), ["T-1 valid", "T-2 valid"]);
}

#[test]
fn a_file_that_only_moved_is_still_there() {
    let world = world(&[&["a.txt"]]);
    world.write("a.txt", "one\n");
    world.commit_all("one");
    world.done("T-1");
    let saved = world.save();
    world.git(&["mv", "a.txt", "b.txt"]);
    world.commit_all("moved");
    assert_eq!(world.judged(&saved.id), ["T-1 valid"]);
    world.git(&["rm", "-q", "b.txt"]);
    world.commit_all("removed");
    assert_eq!(world.judged(&saved.id), ["T-1 stale"]);
}

#[test]
fn work_that_is_committed_after_done_is_vouched_for_by_its_files() {
    let world = world(&[&["a.txt", "new/*"]]);
    world.write("a.txt", "one\n");
    world.commit_all("begin");
    world.write("a.txt", "one, better\n");
    world.write("new/file", "new\n");
    world.done("T-1");
    let saved = world.save();
    assert_eq!(world.judged(&saved.id), ["T-1 valid"], "not committed yet, and there");
    world.commit_all("work");
    assert_eq!(world.judged(&saved.id), ["T-1 valid"]);
    // The commit that was recorded is the one before: it stays behind the head.
    world.git(&["commit", "-q", "--amend", "-m", "other words"]);
    assert_eq!(world.judged(&saved.id), ["T-1 valid"], "amended in words alone");
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(world.judged(&saved.id), ["T-1 stale"], "reset to before the work");
}

#[test]
fn an_amend_that_changes_the_work_and_a_rebase_that_keeps_it_are_told_apart() {
    let world = world(&[&["a.txt"]]);
    world.write("a.txt", "one\n");
    world.done("T-1");
    let saved = world.save();
    world.commit_all("work");
    world.git(&["branch", "side", "HEAD~1"]);
    world.git(&["checkout", "-q", "side"]);
    world.write("other.txt", "other\n");
    world.commit_all("other");
    world.git(&["checkout", "-q", "-"]);
    world.git(&["rebase", "-q", "side"]);
    assert_eq!(world.judged(&saved.id), ["T-1 valid"], "the recorded commit and the contents are there");
    world.write("a.txt", "something else\n");
    world.git(&["commit", "-q", "-a", "--amend", "-m", "rewritten"]);
    assert_eq!(world.judged(&saved.id), ["T-1 stale"]);
}

#[test]
fn work_that_was_merged_and_built_on_counts() {
    let world = world(&[&["a.txt"]]);
    world.write("base.txt", "base\n");
    world.commit_all("base");
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("a.txt", "one\n");
    world.commit_all("work");
    world.done("T-1");
    world.write("a.txt", "one\ntwo\n");
    world.commit_all("more");
    world.git(&["checkout", "-q", "-"]);
    let saved = world.save();
    world.git(&["merge", "-q", "--no-ff", "--no-edit", "side"]);
    assert_eq!(world.judged(&saved.id), ["T-1 valid"]);
}

#[test]
fn strange_globs_and_strange_files_are_no_trouble() {
    let world = world(&[&["../outside", "/etc/passwd", ":(exclude)x", "-x", "", "*.bin", "with space.txt", "none/**"]]);
    world.write("with space.txt", "spaced\n");
    world.write("big.bin", &"x".repeat(100_000));
    world.write("-x", "dash\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("/dev/zero", world.sandbox.path("p").join("zero.bin")).unwrap();
    world.commit_all("all");
    world.done("T-1");
    let saved = world.save();
    assert_eq!(world.judged(&saved.id), ["T-1 valid"]);
    world.git(&["rm", "-q", "--", "with space.txt"]);
    world.commit_all("removed");
    assert_eq!(world.judged(&saved.id), ["T-1 stale"]);
}
