//! Runs the binary.

use std::{
    io::Write,
    process::{Child, Command, Stdio},
    thread,
};

/// What a run left behind.
pub struct Run {
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// All three in one text, for snapshots. Spaces at line ends, which help texts have, would not survive editors.
    pub fn render(&self) -> String {
        let exit = self.exit.map_or("killed".to_owned(), |code| code.to_string());
        let all = format!("exit {exit}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr);
        all.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
    }
}

/// Runs `punch` to its end.
pub fn punch(arguments: &[&str], input: impl AsRef<[u8]>) -> Run {
    let mut child = start(arguments);
    let stdin = child.stdin.take();
    let input = input.as_ref();
    let output = thread::scope(|scope| {
        // Written beside the reading: large input and large output would wait for each other.
        scope.spawn(|| stdin.map(|mut stdin| stdin.write_all(input)));
        child.wait_with_output().unwrap()
    });
    Run {
        exit: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Starts `punch` with pipes on all sides and nothing of the tester's environment, such as forced colors.
pub fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_punch"))
        .args(arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}
