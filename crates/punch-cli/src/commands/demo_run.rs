//! The run at the end of the demo: a plan of twelve todos and an agent that is one line of shell for each.

use std::fs;
use std::io;
use std::path::Path;

/// What the agent does: most todos at once; one crashes the first time, one says that it is done without doing it.
const AGENT: &str = r#"id=$PUNCH_TODO
prompt=$(cat)
case $id in
  T-5) if [ ! -e "$HOME/crashed" ]; then : > "$HOME/crashed"; kill -KILL $$; fi ;;
  T-7) case $prompt in *"<failure>"*) ;; *) echo "looks fine to me"; exit 0 ;; esac ;;
esac
echo "the work of $id" > "$id.txt"
"#;

/// How the run is called; the home folder is the demo's own.
pub const RUN: &[&str] = &["run", "--agents", "3", "--agent", "exec:sh \"$HOME/agent.sh\""];

/// Puts the agent where [`RUN`] looks for it.
pub fn put_agent(home: &Path) -> io::Result<()> {
    fs::create_dir_all(home)?;
    fs::write(home.join("agent.sh"), AGENT)
}
