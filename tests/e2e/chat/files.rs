//! Files and voice from a phone: into the worktree of the session, and nowhere else.

use crate::support::bot::{BotHouse, ME};
use crate::support::house::Outcome;
use glis_bot_api::Fault;
use std::time::Duration;

/// What the session was told, in the order in which it was.
fn told(bot: &BotHouse) -> Outcome<Vec<String>> {
    let talk = bot.house.talk("blue")?.into_iter();
    Ok(talk.filter(|(who, _)| who == "user").map(|(_, text)| text).collect())
}

#[test]
fn files_go_into_the_worktree_and_are_named_in_the_message() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    let inside = bot.house.file("blue", ".glis/files")?;
    let tracked = std::fs::read(bot.house.file("blue", "file.txt")?)?;
    for (kind, name, bytes, words) in [
        ("document", "notes.txt", "one", "say first"),
        ("document", "notes.txt", "two", "say second"),
        ("document", "../../file.txt", "three", "say third"),
        ("photo", "", "four", "say fourth"),
    ] {
        bot.api.send(ME, kind, name, bytes.as_bytes(), words);
        bot.hear(words.trim_start_matches("say "))?;
    }
    let names = ["notes.txt", "notes-2.txt", "file.txt", "photo.jpg"];
    for (name, bytes) in names.iter().zip(["one", "two", "three", "four"]) {
        assert_eq!(std::fs::read_to_string(inside.join(name))?, bytes, "{name}");
    }
    assert_eq!(std::fs::read(bot.house.file("blue", "file.txt")?)?, tracked);
    let places: Vec<_> = names.iter().map(|name| inside.join(name)).collect();
    for (text, place) in told(&bot)?.iter().zip(&places) {
        assert!(text.ends_with(&format!("\n\nFile: {}", place.display())), "{text}");
    }
    // A photo without a word is a message as well.
    bot.api.send(ME, "photo", "", b"five", "");
    bot.house.follow(1)?.until(|event| {
        let text = event["text"].as_str().unwrap_or_default();
        event["event"] == "message_queued" && text.starts_with("A photo.\n\nFile: ")
    })?;
    let left = bot.house.home().join("chat-files");
    crate::support::house::eventually("nothing is kept twice", || {
        std::fs::read_dir(&left).is_ok_and(|mut entries| entries.next().is_none())
    })
}

#[test]
fn a_file_that_cannot_be_taken_is_told_of() -> Outcome {
    let bot = BotHouse::new()?;
    bot.api.send(ME, "document", "a.txt", b"one", "");
    bot.hear("No active session")?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.api.send(ME, "document", "a.txt", b"one", "/status");
    bot.hear("A command takes no file. Nothing was done.")?;
    bot.api.send(ME, "document", "large.bin", &vec![0; 21 * 1024 * 1024], "say large");
    bot.hear("The file is too large: 21 MB")?;
    bot.api.fail("getFile", Fault::Status(400, "Bad Request: file is temporarily unavailable"));
    bot.api.send(ME, "document", "a.txt", b"one", "say here");
    bot.hear("The file was not fetched: the network refuses")?;
    assert_eq!(told(&bot)?, Vec::<String>::new());
    bot.press("Try again")?;
    bot.hear("here")?;
    assert_eq!(std::fs::read(bot.house.file("blue", ".glis/files/a.txt")?)?, b"one");
    Ok(())
}

#[test]
fn a_bot_that_is_killed_while_it_fetches_does_so_again() -> Outcome {
    let mut bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.api.fail("getFile", Fault::Silence(Duration::from_secs(5)));
    bot.api.send(ME, "document", "a.txt", b"one", "say here");
    assert!(bot.api.until_seen(|seen| seen.iter().any(|it| it.method == "getFile")));
    bot.kill();
    bot.start()?;
    bot.hear("here")?;
    let texts = told(&bot)?;
    assert_eq!(texts.len(), 1, "{texts:?}");
    Ok(())
}

#[test]
fn voice_is_turned_into_words() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.api.send(ME, "voice", "", b"say hello", "");
    bot.hear("set `voice_command` in [chat.telegram]")?;
    assert_eq!(told(&bot)?, Vec::<String>::new());
    let bot = BotHouse::with("voice_command = ['sh', '-c', 'cat \"$1\"', 'listen']")?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.api.send(ME, "voice", "", b"say spoken words", "");
    bot.hear("Heard: say spoken words")?;
    bot.house.until("blue", "idle")?;
    assert_eq!(told(&bot)?, ["say spoken words"]);
    bot.api.send(ME, "voice", "", b"", "");
    bot.hear("No words were found in the voice message. Nothing was sent.")?;
    Ok(())
}
