//! `punch completions`: a script that lets a shell complete verbs, flags, ids, plans and owners; and man pages.

mod script;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;
use punch_core::view::Plain;
use punch_store::Which;

use crate::arguments::Global;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::{files, output};

const EXAMPLES: &str = "\
Examples:
  punch completions bash > ~/.local/share/bash-completion/completions/punch
  punch completions zsh > \"${fpath[1]}/_punch\"
  punch completions fish > ~/.config/fish/completions/punch.fish
  punch completions man --dir ~/.local/share/man/man1";

/// Words that are offered at most.
const MOST: usize = 1_000;

/// The arguments of `punch completions`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// Your shell; `man` writes man pages instead
    #[arg(value_name = "SHELL", required_unless_present_any = ["list", "words"])]
    shell: Option<CompletionShell>,
    /// Where man pages are written
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print the ids, plans or owners
    #[arg(long, value_name = "WHAT", hide = true)]
    list: Option<ProjectWords>,
    /// Print what fits the last of these words; scripts pass what is typed after `punch`
    #[arg(long, value_name = "WORD", hide = true, num_args = 0.., allow_hyphen_values = true)]
    words: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompletionShell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    #[value(name = "powershell")]
    PowerShell,
    #[value(hide = true)]
    Man,
}

/// Words that only the project knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProjectWords {
    Ids,
    Plans,
    Owners,
}

impl CompletionsArgs {
    /// Runs the verb. The script is data as it is; `--json` changes nothing.
    pub fn run(self, global: Global) -> Result<Exit, Failure> {
        if let Some(typed) = &self.words {
            let mut program = crate::Arguments::command();
            program.build();
            let Some(words) = script::expected(&program, typed) else { return Ok(Exit::Ok) };
            return Self { list: Some(words), words: None, ..self }.run(global);
        }
        if let Some(words) = self.list {
            // A project that cannot be read has no words; a shell that completes must not print errors.
            let lines = words.lines(global).unwrap_or_default();
            output::document(&lines.iter().take(MOST).map(|line| format!("{line}\n")).collect::<String>())?;
            return Ok(Exit::Ok);
        }
        let shell = match self.shell.unwrap_or(CompletionShell::Man) {
            CompletionShell::Man => return man_pages(self.dir.as_deref()),
            CompletionShell::Bash => Shell::Bash,
            CompletionShell::Zsh => Shell::Zsh,
            CompletionShell::Fish => Shell::Fish,
            CompletionShell::Elvish => Shell::Elvish,
            CompletionShell::PowerShell => Shell::PowerShell,
        };
        let mut script = Vec::new();
        let mut program = crate::Arguments::command();
        clap_complete::generate(shell, &mut program, "punch", &mut script);
        output::document(&script::with_words(shell, &String::from_utf8_lossy(&script), &program))?;
        Ok(Exit::Ok)
    }
}

impl ProjectWords {
    /// Prints one word per line, followed by a tab and its description.
    fn lines(self, global: Global) -> Result<Vec<String>, Failure> {
        let Some(open) = Project::find(global)?.read()?.plan() else { return Ok(Vec::new()) };
        Ok(match self {
            Self::Plans => open.engine.plans()?.into_iter().map(|plan| Plain::id(&plan.name).to_string()).collect(),
            Self::Ids | Self::Owners => {
                let todos =
                    open.engine.read(open.plan, |snapshot| Ok(snapshot.list(Which::Unfinished, None, MOST)?))?;
                if self == Self::Owners {
                    let owners: BTreeSet<String> =
                        todos.iter().filter_map(|t| t.owner.as_deref()).map(|o| Plain::id(o).to_string()).collect();
                    return Ok(owners.into_iter().collect());
                }
                let line =
                    |todo: &punch_core::Todo| format!("{}\t{}", Plain::id(&todo.id), Plain::clipped(&todo.content, 60));
                todos.iter().map(line).collect()
            }
        })
    }
}

/// The page of `punch`, or with a folder a page for each command.
fn man_pages(folder: Option<&Path>) -> Result<Exit, Failure> {
    let mut command = crate::Arguments::command();
    command.build();
    let page = |command: &clap::Command, name: &str| -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        let man = clap_mangen::Man::new(command.clone()).title(name.to_uppercase());
        man.render(&mut out).map_err(Failure::Output)?;
        Ok(out)
    };
    let Some(folder) = folder else {
        output::document(&String::from_utf8_lossy(&page(&command, "punch")?))?;
        return Ok(Exit::Ok);
    };
    std::fs::create_dir_all(folder).map_err(|cause| files::failed(folder, cause))?;
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let mut pages = vec![("punch".to_owned(), page(&command, "punch")?)];
    for verb in verbs {
        let name = format!("punch-{}", verb.get_name());
        pages.push((name.clone(), page(verb, &name)?));
    }
    for (name, page) in &pages {
        files::replace(&folder.join(format!("{name}.1")), &String::from_utf8_lossy(page))?;
    }
    output::document(&format!(
        "Wrote {} to {}\n",
        crate::safety::count(pages.len() as u64, "man page"),
        folder.display()
    ))?;
    Ok(Exit::Ok)
}
