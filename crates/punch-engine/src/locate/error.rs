//! Errors of finding or creating a store. Every message names the path, and every hint is an action that works.

use std::path::PathBuf;

punch_core::errors! {
    /// No store can be found or made; nothing was changed.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum LocateError {
        /// The worktree and the git folder hold a store each.
        TwoStores { in_tree: PathBuf, git: PathBuf }: "two_stores",
            ("two stores for one worktree: `{in_tree}` and `{git}`"),
            ("choose one with `--store '{in_tree}'` or `PUNCH_STORE='{git}'`, then move the other away");
        /// The store folder is part of the repository.
        Tracked { dir: PathBuf }: "store_tracked",
            ("`{dir}` is tracked by git, so anyone who commits could have written it"),
            ("if it is yours, run `git rm -r --cached '{dir}'` and commit; if not, delete it or choose another store \
              with `PUNCH_STORE`");
        /// A bare repository is part of another repository, which tracks it.
        Embedded { dir: PathBuf, outer: PathBuf }: "repository_embedded",
            ("`{dir}` is a bare repository tracked by `{outer}`, so anyone who commits could have written it"),
            ("change to another folder or, if you trust the store, choose it with `--store` or `PUNCH_STORE`");
        /// A link is where the store should be.
        Symlink { path: PathBuf }: "store_symlink",
            ("`{path}` is a symbolic link, not a store"),
            ("remove the link, or choose the real folder with `--store` or `PUNCH_STORE`");
        /// The store folder belongs to another user than the one this process acts as.
        OtherOwner { path: PathBuf, owner: u32, user: u32 }: "store_other_owner",
            ("`{path}` belongs to user {owner}, not to you (user {user})"),
            ("another user can put anything into it: delete it, or choose another store with `PUNCH_STORE`");
        /// Something other than a folder is where the store should be.
        NotAFolder { path: PathBuf }: "store_not_a_folder",
            ("`{path}` is not a folder"),
            ("move it away, or choose a folder with `--store` or `PUNCH_STORE`");
        /// Something other than a file is where the database should be.
        NotAFile { path: PathBuf }: "store_not_a_file",
            ("`{path}` is not a file"),
            ("move it away, or choose another store with `--store` or `PUNCH_STORE`");
        /// `.git` or `GIT_DIR` leads to no repository.
        BrokenRepository { path: PathBuf, what: String }: "repository_broken",
            ("`{path}` does not lead to a git repository: {what}"),
            ("run `git worktree repair` in the main worktree if this one was moved, or choose a store with `PUNCH_STORE`, \
              which needs no repository");
        /// The repository has no worktree to put a store into.
        NoWorkTree { git_dir: PathBuf }: "no_work_tree",
            ("the repository `{git_dir}` has no worktree"),
            ("omit `--in-tree`; the store then lives in the git folder");
        /// git could not say whether the store folder is tracked.
        GitFailed { dir: PathBuf, cause: String }: "git_failed",
            ("cannot tell whether `{dir}` is tracked by git: {cause}"),
            ("make `git` work here or, if you trust the store, choose it with `PUNCH_STORE`");
        /// The store cannot be written.
        ReadOnly { path: PathBuf, cause: String }: "store_read_only",
            ("cannot write the store `{path}`: {cause}"),
            ("change the plan with the MCP tools (the server runs outside the sandbox), or set \
              `PUNCH_STORE` to a folder you can write");
        /// The system refused to show what is there.
        Unreadable { path: PathBuf, cause: String }: "store_unreadable",
            ("cannot read `{path}`: {cause}"),
            ("fix the permissions, or choose another store with `--store` or `PUNCH_STORE`");
        /// The address of a server contains a password. It is not repeated here.
        Password: "store_address",
            ("the address of the store contains a password"),
            ("remove it, and use PGPASSWORD, a password file or a service file instead");
        /// `--store` was given an empty path.
        EmptyPath: "store_path_empty",
            ("`--store` was given an empty path"),
            ("give it a folder, or omit it");
    }
}
