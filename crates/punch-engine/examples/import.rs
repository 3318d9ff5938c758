//! Imports a file of the extended format into the default plan of a store: `import STORE.db FILE.json`.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use punch_engine::{Choice, Engine, Format, How, Request};
use punch_store::{OpenMode, SqliteStore};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [store, file] = arguments.as_slice() else { return Err("import STORE.db FILE.json".into()) };
    let text = std::fs::read_to_string(file)?;
    let clock = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    };
    let engine = Engine::new(Box::new(SqliteStore::open(Path::new(store), OpenMode::Create)?), Box::new(clock));
    let plan = engine.choose_or_create(&Choice::default())?;
    let imported = engine
        .import(plan, &Request::by("user", None), Format::Extended, &text, How::default())
        .map_err(|error| error.message())?;
    if imported.ignored.is_empty() { Ok(()) } else { Err(format!("not understood: {:?}", imported.ignored).into()) }
}
