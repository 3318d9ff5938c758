//! Errors of lanes. None of them leaves a change in the files or branches of the user.

use std::path::PathBuf;

punch_core::errors! {
    /// Why an operation on lanes failed.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum WorktreeError {
        /// The project is not in a git worktree.
        NoRepository { root: PathBuf }: "no_repository",
            ("`{root}` is not in a git worktree"),
            ("run `git init` and commit something, or run without `--worktrees`");
        /// The repository has no commit that a lane could begin from.
        NoCommit { root: PathBuf }: "no_commit",
            ("the repository of `{root}` has no commit yet"),
            ("commit something first, for example `git commit --allow-empty -m start`");
        /// git cannot be started.
        NoGit { cause: String }: "no_git",
            ("cannot start `git`: {cause}"),
            ("install git, or run without `--worktrees`");
        /// git is too old: it cannot merge without a worktree.
        TooOld { version: String }: "git_too_old",
            ("{version} is too old: it cannot merge without a worktree"),
            ("install git 2.38 or newer, or run without `--worktrees`");
        /// A branch with the name of the result branch or of a lane exists, and punch did not create it.
        BranchTaken { branch: String }: "branch_taken",
            ("a branch `{branch}` already exists, and punch did not create it"),
            ("rename it with `git branch -m {branch} another-name`; punch has not touched it");
        /// The folder for lanes cannot be created or cleaned up.
        Folder { path: PathBuf, cause: String }: "lane_folder",
            ("cannot create the folder `{path}`: {cause}"),
            ("free some space or fix the permissions, or set XDG_STATE_HOME to another folder");
        /// The worktree of a lane is gone, and punch did not remove it.
        Gone { path: PathBuf, branch: String }: "lane_gone",
            ("the worktree `{path}` was removed"),
            ("its commits are on `{branch}`; the todo can be started again");
        /// `.git` in the worktree of a lane leads somewhere else than it did when the lane was made, or is not a link.
        Relinked { path: PathBuf, now: Option<PathBuf>, recorded: PathBuf }: "lane_relinked",
            ("`.git` in the worktree `{path}` was {}", match now.as_str() {
                "" => format!("replaced: it should be a file that points to `{recorded}`"),
                now => format!("changed: it points to `{now}` instead of `{recorded}`"),
            }),
            ("check what is in that folder, then delete `{path}/.git` and run `git worktree repair` in the repository, \
              or delete the whole folder");
        /// A file cannot be copied into the worktree of a lane.
        Copy { path: PathBuf, cause: String }: "lane_copy",
            ("cannot copy `{path}` into the worktree: {cause}"),
            ("change `run.copy`, or remove what is in the way");
        /// The repository has no remote that a fleet could share.
        NoRemote { remote: String }: "no_remote",
            ("the repository has no remote `{remote}`"),
            ("add it with `git remote add {remote} URL`, or choose another one with `worker.remote`");
        /// The git remote cannot be reached.
        Remote { what: String, remote: String, said: String }: "remote_failed",
            ("git could not {what} `{remote}`: {said}"),
            ("check the network and the address of the remote; the work stays on its branch");
        /// The git remote refuses what was pushed, is full, or does not let this machine fetch.
        Refused { what: String, remote: String, said: String }: "remote_refused",
            ("`{remote}` refused {}: {said}", match what.as_str() {
                "push to" => "what was pushed",
                _ => "the fetch",
            }),
            ("check that this machine may fetch and push branches `punch/*` of `{remote}`, and that the remote has space; \
              the work stays on its branch");
        /// A branch of the remote has a name that branches of the run would have to be below.
        RemoteBranchTaken { branch: String, remote: String }: "remote_branch_taken",
            ("`{remote}` has a branch `{branch}`, so git cannot create branches `{branch}/*` there"),
            ("rename it on `{remote}`: `git push {remote} {remote}/{branch}:refs/heads/another-name`, then \
              `git push {remote} --delete {branch}`");
        /// A branch of the remote no longer contains what it contained.
        Rewritten { branch: String, remote: String }: "remote_rewritten",
            ("`{branch}` on `{remote}` was rewritten or deleted"),
            ("push what it contained from another clone, for example `git push {remote} COMMIT:refs/heads/{branch}`");
        /// The coordinator has not made the result branch of the run yet.
        NoResult { branch: String, remote: String }: "no_result",
            ("`{remote}` has no branch `{branch}` yet"),
            ("the coordinator of the plan creates it");
        /// A git command failed.
        Git { what: String, said: String }: "git_failed",
            ("git could not {what}: {said}"),
            ("`punch run list` shows the branches and folders that remain");
    }
}
