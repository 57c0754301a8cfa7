//! `OpenCode`, which keeps all conversations in one database: what is kept of them beside it, and how
//! they come back.

use super::Real;
use super::cast::{NAME, OPENCODE_HEADLESS, Play, step, text, times};
use crate::support::house::Outcome;
use glis_stub_model::installed::OPENCODE;
use glis_stub_model::{Voice, prompt};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A session with a history of all kinds, at rest.
fn with_a_history() -> Outcome<Option<Play>> {
    let Some(play) = Play::with(OPENCODE_HEADLESS, &[])? else { return Ok(None) };
    let todos = json!({"todos": [{"content": "paint", "status": "pending", "priority": "high"}]});
    let missing = play.house().file(NAME, "missing.txt")?;
    let steps = [
        play.run("echo \"\u{e9}\"; false"),
        step(("todowrite", todos)),
        step(("read", json!({"filePath": missing}))),
        text("it is \"blue\",\n\u{e9}\u{1f6aa}"),
    ];
    play.turn(&prompt("remember the blue door", &steps))?;
    play.turn("and the red one")?;
    play.pause()?;
    Ok(Some(play))
}

fn copy(play: &Play) -> Outcome<PathBuf> {
    Ok(play.vault()?.join(format!("{}.jsonl", play.conversation()?)))
}

/// The same whole numbers, however they are written.
fn plain(value: &mut Value) {
    match value {
        Value::Number(number) => *value = json!(number.as_f64()),
        Value::Array(values) => values.iter_mut().for_each(plain),
        Value::Object(fields) => fields.values_mut().for_each(plain),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// What the copy holds is what the agent's own program says about the conversation: so it can be
/// taken back by it.
#[test]
fn the_copy_is_what_it_would_export() -> Outcome {
    let Some(play) = with_a_history()? else { return Ok(()) };
    let exported =
        play.real.bare(&play.house().repo()).args(["export", &play.conversation()?]).output()?;
    assert!(exported.status.success(), "{exported:?}");
    let mut theirs: Value = serde_json::from_slice(&exported.stdout)?;
    let mut ours: Value = serde_json::from_slice(&std::fs::read(copy(&play)?)?)?;
    assert!(theirs["messages"].as_array().is_some_and(|messages| messages.len() > 4), "{theirs}");
    plain(&mut theirs);
    plain(&mut ours);
    assert_eq!(ours, theirs);
    Ok(())
}

/// With everything else that it remembered.
#[test]
fn a_database_that_is_gone_comes_back() -> Outcome {
    let Some(play) = with_a_history()? else { return Ok(()) };
    let id = play.conversation()?;
    std::fs::remove_dir_all(play.database().parent().ok_or("no folder")?)?;
    let request = play.resume("which doors?")?;
    for (voice, words) in [
        (Voice::User, "blue door"),
        (Voice::Model, "it is \"blue\",\n\u{e9}\u{1f6aa}"),
        (Voice::User, "the red one"),
    ] {
        assert_eq!(times(&request, voice, words), 1, "{words}: {:#?}", request.turns);
    }
    assert_eq!(play.conversation()?, id);
    Ok(())
}

/// A conversation comes back message by message. One that was broken off in between is not taken for
/// the whole.
#[test]
fn a_return_that_was_cut_short_is_finished() -> Outcome {
    let Some(play) = with_a_history()? else { return Ok(()) };
    let id = play.conversation()?;
    // What is left when the program that takes it back is killed together with the daemon.
    let database = rusqlite::Connection::open(play.database())?;
    database.execute("DELETE FROM part WHERE session_id = ?1 AND instr(data, 'blue')", [&id])?;
    let last = "DELETE FROM message WHERE session_id = ?1 AND time_created = \
                (SELECT max(time_created) FROM message WHERE session_id = ?1)";
    database.execute(last, [&id])?;
    drop(database);
    std::fs::write(play.vault()?.join(format!("{id}.coming")), "")?;
    let request = play.resume("which doors?")?;
    for words in ["blue door", "the red one"] {
        assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
    }
    assert_eq!(times(&request, Voice::Model, "it is \"blue\""), 1, "{:#?}", request.turns);
    assert!(!play.vault()?.join(format!("{id}.coming")).exists());
    Ok(())
}

/// A copy that the agent does not take is told with its own words, and nothing is begun instead.
#[test]
fn a_copy_that_it_does_not_take_is_an_error() -> Outcome {
    let Some(play) = with_a_history()? else { return Ok(()) };
    let id = play.conversation()?;
    play.forget()?;
    let whole = std::fs::read(copy(&play)?)?;
    std::fs::write(copy(&play)?, "{\"info\":{},\"messages\":[]}\n")?;
    let (status, error) = play.house().fails(&["resume", NAME])?;
    assert_eq!((status, &error["kind"]), (6, &json!("no_transcript")), "{error}");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains(&id) && message.contains("Missing key"), "{message}");
    let session = play.show()?;
    assert_eq!((&session["status"], &session["agent_session_ref"]), (&json!("paused"), &json!(id)));
    // Nothing is lost by the attempt.
    std::fs::write(copy(&play)?, whole)?;
    let request = play.resume("which doors?")?;
    assert_eq!(times(&request, Voice::User, "blue door"), 1, "{:#?}", request.turns);
    Ok(())
}

/// Somebody takes messages back in the program itself: the session goes on with what there is, and the
/// longer copy is still there.
#[test]
fn what_was_taken_back_is_kept_aside() -> Outcome {
    let Some(play) = with_a_history()? else { return Ok(()) };
    let id = play.conversation()?;
    let before = std::fs::read(copy(&play)?)?;
    let database = rusqlite::Connection::open(play.database())?;
    database.execute_batch("PRAGMA foreign_keys = ON")?;
    let of = "SELECT message_id FROM part WHERE session_id = ?1 AND instr(data, 'the red one')";
    let red: String = database.query_row(of, [&id], |row| row.get(0))?;
    database.execute("DELETE FROM message WHERE session_id = ?1 AND id >= ?2", [&id, &red])?;
    drop(database);
    let request = play.resume("which doors?")?;
    assert_eq!(times(&request, Voice::User, "blue door"), 1, "{:#?}", request.turns);
    assert_eq!(times(&request, Voice::User, "the red one"), 0, "{:#?}", request.turns);
    assert_eq!(std::fs::read(play.vault()?.join(format!("{id}.1.jsonl")))?, before);
    assert!(std::fs::read_to_string(copy(&play)?)?.contains("which doors?"));
    Ok(())
}

/// What it does not have, it would replace without a word: another model of another vendor, even.
#[test]
fn a_model_or_a_mode_that_it_does_not_have_is_an_error() -> Outcome {
    let Some(real) = Real::with(OPENCODE)? else { return Ok(()) };
    real.house
        .configure("[persona.odd]\nagent = \"opencode\"\npermission_mode = \"nonsense\"\n")?;
    let by_model = ["new", "one", "--agent", "opencode", "--model", "stub/not-there"];
    let by_mode = ["new", "two", "--persona", "odd"];
    for (words, name, wrong) in
        [(&by_model[..], "one", "stub/not-there"), (&by_mode[..], "two", "nonsense")]
    {
        let words: Vec<&str> = words.iter().copied().chain(["--prompt", "hello"]).collect();
        real.house.json(&words)?;
        let failed = real.house.until(name, "failed")?;
        let why = failed["failure"].as_str().unwrap_or_default();
        assert!(why.contains(wrong) && why.contains(", "), "{failed}");
    }
    assert!(real.model.turns().is_empty(), "nobody was asked");
    Ok(())
}
