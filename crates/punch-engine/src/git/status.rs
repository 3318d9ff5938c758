//! Reads `git status --porcelain=v2 --branch -z`.

/// The parsed output of `git status`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GitStatus {
    /// `None` with a detached head.
    pub branch: Option<String>,
    /// `None` before the first commit.
    pub commit: Option<String>,
    /// Tracked files that differ from the head.
    pub modified: Vec<String>,
    /// Files and folders that git does not know.
    pub untracked: Vec<String>,
}

/// Reads the answer. What it does not know is passed over.
pub(super) fn read(answer: &[u8]) -> GitStatus {
    let text = String::from_utf8_lossy(answer);
    let mut out = GitStatus::default();
    let mut entries = text.split('\0');
    while let Some(entry) = entries.next() {
        let field = |skip: usize| entry.splitn(skip + 1, ' ').nth(skip).map(str::to_owned);
        match entry.split(' ').next() {
            Some("#") => match entry.split(' ').nth(1) {
                Some("branch.oid") => out.commit = field(2).filter(|oid| oid != "(initial)"),
                Some("branch.head") => out.branch = field(2).filter(|head| head != "(detached)"),
                _ => {}
            },
            Some("1") => out.modified.extend(field(8)),
            Some("2") => {
                out.modified.extend(field(9));
                // A renamed file brings the name it had.
                entries.next();
            }
            Some("u") => out.modified.extend(field(10)),
            Some("?") => out.untracked.extend(field(1)),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_is_read() {
        let answer = "# branch.oid abc\0# branch.head main\0# branch.ab +1 -0\0\
            1 .M N... 100644 100644 100644 a b with space.txt\0\
            2 R. N... 100644 100644 100644 a b R100 new name\0old name\0\
            u UU N... 1 2 3 4 a b c both.txt\0? un tracked/\0! ignored\0nonsense\0";
        assert_eq!(
            read(answer.as_bytes()),
            GitStatus {
                branch: Some("main".into()),
                commit: Some("abc".into()),
                modified: vec!["with space.txt".into(), "new name".into(), "both.txt".into()],
                untracked: vec!["un tracked/".into()],
            }
        );
    }

    #[test]
    fn a_detached_head_and_an_unborn_branch_are_told_apart() {
        let detached = read(b"# branch.oid abc\0# branch.head (detached)\0");
        assert_eq!((detached.branch, detached.commit.as_deref()), (None, Some("abc")));
        let unborn = read(b"# branch.oid (initial)\0# branch.head main\0");
        assert_eq!((unborn.branch.as_deref(), unborn.commit), (Some("main"), None));
    }

    #[test]
    fn an_answer_cut_anywhere_is_no_panic() {
        let answer = b"# branch.oid abc\x001 .M N... 1 1 1 a b x\x002 R. N... 1 1 1 a b R100 n\0o\0? u\0\xff\xfe";
        for end in 0..answer.len() {
            read(&answer[..end]);
        }
    }
}
