//! A host for `cargo xtask bench library`: nothing but JSON without the feature `with`, one session of every kind of call with
//! it. Prints the microseconds of a call on a list of 20 todos.

#[cfg(not(feature = "with"))]
fn main() {
    let given = std::env::args().nth(1).unwrap_or_else(|| "{}".to_owned());
    let value: serde_json::Value = serde_json::from_str(&given).unwrap_or_default();
    println!("{value}");
}

#[cfg(feature = "with")]
fn main() -> Result<(), punchlist::Error> {
    use punchlist::{Dialect, Finish, Op, Options, Session, Shape, View};
    use serde_json::{Value, json};

    let list = |running: usize| -> Value {
        let status = |n: usize| if n == running { "in_progress" } else { "pending" };
        let todo = |n| json!({"content": format!("Do step {n}"), "activeForm": "Doing it", "status": status(n)});
        json!({"todos": (0..20).map(todo).collect::<Vec<_>>()})
    };
    let session = Session::in_memory(Options::new("host").dialect(Dialect::Todowrite))?;
    let _ = (session.tools(Shape::OpenAi), session.instructions(), session.turn_started()?);
    (0..20).try_for_each(|n| session.call("TodoWrite", &list(n)).map(drop))?;
    let _ = (session.view(View::Panel)?, session.turn_ended(Finish::EndTurn)?);
    let calls: Vec<Value> = (0..2_000).map(|n| list(n % 20)).collect();
    let begin = std::time::Instant::now();
    calls.iter().try_for_each(|call| session.call("TodoWrite", call).map(drop))?;
    let whole_list = begin.elapsed() / 2_000;
    let native = Session::in_memory(Options::new("host"))?;
    (0..20).try_for_each(|n| native.apply(&[Op::add(format!("Do step {n}"))]).map(drop))?;
    let calls: Vec<Value> =
        (0..2_000).map(|n| json!({"ops": [{"op": "edit", "id": format!("T-{}", n % 20 + 1), "content": format!("{n}")}]})).collect();
    let begin = std::time::Instant::now();
    calls.iter().try_for_each(|call| native.call("todo_write", call).map(drop))?;
    println!("{} {}", whole_list.as_micros(), (begin.elapsed() / 2_000).as_micros());
    Ok(())
}
