//! `punch completions`: a script that lets a shell complete verbs and flags.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::failure::{Exit, Failure};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  punch completions bash > ~/.local/share/bash-completion/completions/punch
  punch completions zsh > \"${fpath[1]}/_punch\"
  punch completions fish > ~/.config/fish/completions/punch.fish";

/// The arguments of `punch completions`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    /// Runs the verb. The script is data as it is; `--json` changes nothing.
    pub fn run(self) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Arguments::command(), "punch", &mut script);
        output::document(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Ok)
    }
}
