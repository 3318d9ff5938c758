//! What the scripts of shells get besides verbs and flags: words that only the project knows. Scripts ask this program for
//! them with every press of TAB, so that a new verb needs no change here.

use std::collections::BTreeSet;

use clap::{Arg, Command};
use clap_complete::Shell;

use super::ProjectWords;

/// The words that fit what is typed: `typed` is everything after `punch`, and its last word is the one to complete.
/// `None` where the shell knows best, such as for verbs, flags and files.
pub fn expected(program: &Command, typed: &[String]) -> Option<ProjectWords> {
    let (last, before) = typed.split_last()?;
    let (mut verb, mut values, mut words) = (program, 0, before.iter());
    while let Some(word) = words.next() {
        match (word.strip_prefix('-'), verb.find_subcommand(word)) {
            (Some(flag), _) => {
                let Some(option) = option(verb, flag).or_else(|| option(program, flag)) else { continue };
                if option.get_action().takes_values() && !word.contains('=') && words.next().is_none() {
                    return kind(option);
                }
            }
            (None, Some(below)) => (verb, values) = (below, 0),
            (None, None) => values += 1,
        }
    }
    if last.starts_with('-') {
        return None;
    }
    let arguments: Vec<&Arg> = verb.get_positionals().collect();
    let repeated = arguments.last().filter(|last| last.get_num_args().is_some_and(|range| range.max_values() > 1));
    let repeated =
        repeated.or_else(|| arguments.last().filter(|last| matches!(last.get_action(), clap::ArgAction::Append)));
    kind(arguments.get(values).or(repeated)?)
}

/// The option of `-n`, `-n5`, `--needs` or `--needs=T-1`, given without its first dash.
fn option<'a>(verb: &'a Command, flag: &str) -> Option<&'a Arg> {
    let long = flag.strip_prefix('-').map(|long| long.split('=').next().unwrap_or(long));
    verb.get_opts().find(|option| match long {
        Some(long) => option.get_long_and_visible_aliases().is_some_and(|names| names.contains(&long)),
        None => option.get_short() == flag.chars().next(),
    })
}

/// What the value of an argument names.
fn kind(argument: &Arg) -> Option<ProjectWords> {
    let value = argument.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
    match (argument.get_id().as_str(), value) {
        ("plan", _) | (_, Some("PLAN")) => Some(ProjectWords::Plans),
        ("owner", _) => Some(ProjectWords::Owners),
        ("before" | "after", _) | (_, Some("TODO")) => Some(ProjectWords::Ids),
        _ => None,
    }
}

/// The script with ids, plans and owners, for shells that we know how to ask. The others complete verbs and flags.
pub fn with_words(shell: Shell, script: &str, program: &Command) -> String {
    match shell {
        Shell::Bash => format!("{script}\n{BASH}"),
        // A shell that loads the script as a function runs it to its end at the first press of TAB, and the end answers.
        Shell::Zsh => {
            let own = script.split_once("if [ \"$funcstack[1]\"").map_or(script, |(own, _)| own);
            format!("{own}{ZSH}")
        }
        Shell::Fish => format!("{script}\n{}", fish(program)),
        _ => script.to_owned(),
    }
}

/// `compgen -W` would run what stands in an id as a command, so words are compared here and quoted.
const BASH: &str = r#"_punch_with_words() {
    local cur=${COMP_WORDS[COMP_CWORD]} words word
    words=$(punch completions --words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)
    if [[ -z $words ]]; then
        _punch "$@"
        return
    fi
    COMPREPLY=()
    while IFS= read -r word; do
        printf -v word %q "$word"
        [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
    done <<< "$words"
}

complete -F _punch_with_words -o nosort -o bashdefault -o default punch 2>/dev/null ||
    complete -F _punch_with_words -o bashdefault -o default punch
"#;

const ZSH: &str = r#"_punch_with_words() {
    local -a lines
    lines=(${(f)"$(punch completions --words "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( ! $#lines )); then
        _punch "$@"
        return
    fi
    lines=(${lines//:/\\:})
    lines=(${lines/$'\t'/:})
    _describe -t words word lines
}

compdef _punch_with_words punch
if [ "$funcstack[1]" = "_punch" ]; then
    _punch_with_words "$@"
fi
"#;

/// Fish completes options apart from everything else.
fn fish(program: &Command) -> String {
    let mut options = BTreeSet::new();
    let mut open = vec![program];
    while let Some(verb) = open.pop() {
        options.extend(verb.get_opts().filter(|option| kind(option).is_some()).filter_map(Arg::get_long));
        open.extend(verb.get_subcommands());
    }
    let option = |name: &&str| format!("complete -c punch -l {name} -x -a \"(__punch_words)\"\n");
    format!(
        r#"function __punch_words
    set -l typed (commandline -opc) (commandline -ct | string collect -a)
    punch completions --words $typed[2..-1] 2>/dev/null
end
complete -c punch -n "count (__punch_words) >/dev/null" -f -a "(__punch_words)"
{}"#,
        options.iter().map(option).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_argument_that_names_a_todo_a_plan_or_an_owner_is_known() {
        let mut program = crate::Arguments::command();
        program.build();
        let expected = |line: &str| expected(&program, &line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for line in [
            "show ",
            "show T",
            "done T-1 ",
            "log ",
            "stats record ",
            "cancel T-1 T-",
            "why ",
            "add x --needs ",
            "note ",
            "move T-1 --before ",
            "edit T-1 --add-needs ",
            "edit T-1 --priority 2 --drop-needs T-",
            "finish ",
            "assign ",
        ] {
            assert_eq!(expected(line), Some(ProjectWords::Ids), "{line:?}");
        }
        for line in ["plan use ", "plan rename ", "plan archive ", "list --plan ", "--plan ", "--json --plan m"] {
            assert_eq!(expected(line), Some(ProjectWords::Plans), "{line:?}");
        }
        assert_eq!(expected("claim --owner "), Some(ProjectWords::Owners));
        for line in ["", "sh", "show --", "plan ", "plan new ", "plan rename old ", "add ", "note T-1 ", "export --to "]
        {
            assert_eq!(expected(line), None, "{line:?}");
        }
    }
}
