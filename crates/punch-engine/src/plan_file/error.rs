//! Errors of plan files. In each case neither the file nor the plan was changed.

use std::path::PathBuf;

use punch_core::Refusal;
use punch_core::plan_file::LIMIT;
use punch_core::text::shell;

punch_core::errors! {
    /// Why a plan file cannot be used.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum FileError {
        /// The plan has none.
        NotLinked: "no_plan_file",
            ("the plan is not linked to a file"),
            ("run `punch plan link FILE` to link one");
        /// The plan has another one.
        Linked { path: PathBuf }: "plan_file_linked",
            ("the plan is linked to `{path}`"),
            ("run `punch plan unlink` first; the file is not deleted");
        /// The file belongs to another plan.
        Taken { path: PathBuf, plan: String }: "plan_file_taken",
            ("`{path}` belongs to the plan `{plan}`"),
            ("run `punch plan unlink --plan {}` first", shell(&plan));
        /// There is no such file.
        Missing { path: PathBuf }: "plan_file_missing",
            ("no file `{path}`"),
            ("run `punch export {}` to create it", shell(&path));
        /// The path leads to a link.
        Link { path: PathBuf, to: PathBuf }: "plan_file_kind",
            ("`{path}` is a symbolic link to `{to}`"),
            ("use the file itself: {}", shell(&to));
        /// A folder, a pipe, a device.
        NotFile { path: PathBuf }: "plan_file_kind",
            ("`{path}` is not a file"),
            ("choose a regular file");
        /// Larger than is read.
        TooLarge { path: PathBuf }: "too_large",
            ("`{path}` is larger than {} MiB", LIMIT / 1024 / 1024),
            ("move the text below the list to a separate file");
        /// Not UTF-8; `byte` is the first wrong one, counted from 1.
        NotText { path: PathBuf, byte: usize }: "plan_file_unclear",
            ("`{path}` is not UTF-8 text (byte {byte})"),
            ("save it as UTF-8");
        /// The content of the file is invalid.
        Unclear { path: PathBuf, what: Refusal }: "plan_file_unclear",
            ("`{path}`: {what}"),
            ("fix it and try again");
        /// The system refused access.
        System { path: PathBuf, cause: String }: "plan_file_system",
            ("cannot use `{path}`: {cause}"),
            ("check the permissions of the file and its folder");
        /// Another process is writing it, or it changes all the time.
        Busy { path: PathBuf }: "plan_file_busy",
            ("another program is changing `{path}`"),
            ("try again in a moment");
    }
}
