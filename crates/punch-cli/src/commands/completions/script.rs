//! What the scripts of shells get besides verbs and flags: words that only the project knows.

use clap_complete::Shell;

/// Verbs that take ids.
const TAKE_IDS: &str = "show|start|done|finish|cancel|drop|fail|reopen|hold|unhold|release|rm|edit|note|move|claim|\
                        unclaim|renew|why|verify|assign";

/// The script with ids, plans and owners, for shells that we know how to tell.
pub fn with_words(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}\n{}", bash()),
        Shell::Zsh => format!("{script}\n{}", zsh()),
        Shell::Fish => format!("{script}\n{}", fish()),
        _ => script.to_owned(),
    }
}

fn bash() -> String {
    format!(
        r#"_punch_words() {{
    punch completions --list "$1" 2>/dev/null | cut -f1
}}

_punch_with_words() {{
    _punch "$@"
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} what=
    case $prev in
        --plan) what=plans ;;
        --owner) what=owners ;;
        --needs|--add-needs|--drop-needs|--blocks|--before|--after|--todo) what=ids ;;
    esac
    if [[ -z $what && $cur != -* && $COMP_CWORD -ge 2 ]]; then
        case ${{COMP_WORDS[1]}} in
            {TAKE_IDS}) what=ids ;;
        esac
    fi
    if [[ -n $what ]]; then
        local IFS=$'\n'
        COMPREPLY=($(compgen -W "$(_punch_words "$what")" -- "$cur"))
    fi
}}

complete -F _punch_with_words -o nosort -o bashdefault -o default punch 2>/dev/null ||
    complete -F _punch_with_words -o bashdefault -o default punch
"#
    )
}

fn zsh() -> String {
    format!(
        r#"_punch_with_words() {{
    local what=
    case ${{words[CURRENT-1]}} in
        --plan) what=plans ;;
        --owner) what=owners ;;
        --needs|--add-needs|--drop-needs|--blocks|--before|--after|--todo) what=ids ;;
    esac
    if [[ -z $what && ${{words[CURRENT]}} != -* && $CURRENT -ge 3 ]]; then
        case ${{words[2]}} in
            {TAKE_IDS}) what=ids ;;
        esac
    fi
    if [[ -z $what ]]; then
        _punch "$@"
        return
    fi
    local -a lines
    lines=(${{(f)"$(punch completions --list $what 2>/dev/null)"}})
    lines=(${{lines//:/\\:}})
    lines=(${{lines/$'\t'/:}})
    _describe -t $what $what lines
}}

compdef _punch_with_words punch
"#
    )
}

fn fish() -> String {
    let verbs = TAKE_IDS.replace('|', " ");
    format!(
        r#"complete -c punch -n "__fish_seen_subcommand_from {verbs}" -f -a "(punch completions --list ids 2>/dev/null)"
complete -c punch -l plan -x -a "(punch completions --list plans 2>/dev/null)"
complete -c punch -l owner -x -a "(punch completions --list owners 2>/dev/null)"
complete -c punch -l needs -x -a "(punch completions --list ids 2>/dev/null)"
"#
    )
}
