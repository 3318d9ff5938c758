//! The agents that a conversation can be started with: what they are called and how they are told.

use std::ffi::OsString;
use std::process::{Command, ExitStatus, Stdio};

use clap::ValueEnum;
use punch_engine::Assignment;

use crate::failure::Failure;
use crate::project::Open;
use crate::{environment, output};

/// Who gets the todos.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Agent {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// OpenCode
    Opencode,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// Nobody: the text for a conversation of your own
    Print,
}

impl Agent {
    /// The program, and what comes before the text; `None` if nobody is started.
    const fn program(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Claude => Some(("claude", "-p")),
            Self::Codex => Some(("codex", "exec")),
            Self::Opencode => Some(("opencode", "run")),
            Self::Gemini => Some(("gemini", "-p")),
            Self::Qwen => Some(("qwen", "-p")),
            Self::Print => None,
        }
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self.program() {
            Some((program, _)) => program,
            None => "print",
        }
    }

    /// Starts it and waits for its end; `None` if there is nobody to start. What it says goes to standard error:
    /// standard output is for the outcome.
    pub fn run(self, open: &Open, given: &Assignment, more: &[OsString]) -> Result<Option<ExitStatus>, Failure> {
        self.say(open, given, &given.prompt, more)
    }

    /// Goes on with a conversation whose process ends with its turn, so that no hook can keep it going; `None` for
    /// those that a hook keeps going.
    pub fn go_on(
        self,
        open: &Open,
        given: &Assignment,
        (conversation, text): (&str, &str),
        more: &[OsString],
    ) -> Result<Option<ExitStatus>, Failure> {
        if self != Self::Opencode {
            return Ok(None);
        }
        let again = ["--session".into(), conversation.into()];
        let more: Vec<OsString> = again.into_iter().chain(more.iter().cloned()).collect();
        self.say(open, given, text, &more)
    }

    fn say(
        self,
        open: &Open,
        given: &Assignment,
        text: &str,
        more: &[OsString],
    ) -> Result<Option<ExitStatus>, Failure> {
        let Some((program, told)) = self.program() else { return Ok(None) };
        let mut command = Command::new(program);
        command.arg(told).arg(text).args(more);
        command.env(environment::ASSIGNED, given.key.session_id());
        for name in environment::FOREIGN {
            command.env_remove(name);
        }
        if let Some(plan) = open.engine.plans()?.into_iter().find(|plan| plan.id == open.plan) {
            command.env("PUNCH_PLAN", plan.name);
        }
        command.stdin(Stdio::null()).stdout(output::aside());
        let ended = command.status().map_err(|cause| {
            let message = format!("cannot start `{program}`: {cause}");
            let hint = "install it or put it on PATH; `--to print` gives the text for any other agent";
            Failure::refused("no_agent", message, hint)
        })?;
        Ok(Some(ended))
    }
}
