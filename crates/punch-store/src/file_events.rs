//! Wake-ups by the operating system when a file in a folder is written. Only Linux has them here; elsewhere, and where the
//! system has no watch left, there are none and callers look from time to time instead.

pub(crate) use system::FileEvents;

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::OsString;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};

    /// Waits for writes to one file, which may not exist yet.
    pub struct FileEvents {
        inotify: OwnedFd,
        name: OsString,
    }

    impl FileEvents {
        /// Begins to watch; `None` if the system refuses.
        pub fn of(path: &Path) -> Option<Self> {
            let (folder, name) = (path.parent()?, path.file_name()?);
            let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            // The folder, because SQLite removes its log and creates it again.
            inotify::add_watch(&inotify, folder, WatchFlags::MODIFY).ok()?;
            Some(Self { inotify, name: name.to_owned() })
        }

        /// Waits until something in the folder is written, at most `timeout`. Returns true if it was the file.
        pub fn wait(&self, timeout: Duration) -> bool {
            let timeout = Timespec {
                tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(timeout.subsec_nanos()),
            };
            let mut waited = [PollFd::new(&self.inotify, PollFlags::IN)];
            matches!(poll(&mut waited, Some(&timeout)), Ok(n) if n > 0) && self.drain()
        }

        /// Takes all events; true if one was about the file, or if some were lost.
        fn drain(&self) -> bool {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = Reader::new(&self.inotify, &mut buffer);
            let mut found = false;
            while let Ok(event) = reader.next() {
                found |= event.file_name().is_none_or(|name| name.to_bytes() == self.name.as_bytes());
            }
            found
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::Path;
    use std::time::Duration;

    /// Never waits: it cannot be made.
    pub struct FileEvents(std::convert::Infallible);

    impl FileEvents {
        pub fn of(_path: &Path) -> Option<Self> {
            None
        }

        pub fn wait(&self, _timeout: Duration) -> bool {
            match self.0 {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::Duration;

    use super::FileEvents;

    #[test]
    fn only_writes_to_the_file_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let events = FileEvents::of(&path).unwrap();
        assert!(!events.wait(Duration::ZERO));
        std::fs::write(folder.path().join("other"), "x").unwrap();
        assert!(!events.wait(Duration::from_secs(5)), "another file");
        std::fs::write(&path, "x").unwrap();
        assert!(events.wait(Duration::from_secs(5)));
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "y").unwrap();
        assert!(events.wait(Duration::from_secs(5)), "made again");
        assert!(FileEvents::of(&folder.path().join("no/such/folder")).is_none());
    }
}
