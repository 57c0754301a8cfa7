//! The configuration is changed while the bot runs: nobody has to start it again.

use crate::support::bot::{BotHouse, ME};
use crate::support::house::{Outcome, eventually};

/// A second user.
const OTHER: i64 = 8;

#[test]
fn who_is_let_in_counts_at_once() -> Outcome {
    let bot = BotHouse::new()?;
    let pid = bot.pid()?;
    let hears = |words: &str| {
        let heard = bot.api.await_words(OTHER, words);
        heard.map(drop).ok_or_else(|| format!("{OTHER} did not hear {words:?}"))
    };
    bot.ask("/new blue", "Session blue created.")?;
    bot.api.say(OTHER, OTHER, "/status");
    bot.ask("say one.", "one.")?;
    bot.let_in(&[ME, OTHER])?;
    bot.api.say(OTHER, OTHER, "/sessions");
    hears("Sessions:")?;
    assert!(!bot.api.messages().iter().any(|it| it.chat == OTHER && it.text.contains("active")));
    // Whoever is taken off hears nothing more, not even of what was asked for before.
    bot.let_in(&[OTHER])?;
    bot.house.turn("blue", "say two.")?;
    bot.api.say(OTHER, OTHER, "/switch blue");
    hears("Switched to blue")?;
    bot.api.say(OTHER, OTHER, "say three.");
    hears("three.")?;
    assert_eq!(bot.count("two."), 0, "{:#?}", bot.api.messages());
    // Once they are let in again it comes.
    bot.let_in(&[ME, OTHER])?;
    bot.api.say(OTHER, OTHER, "/help");
    bot.hear("two.")?;
    assert_eq!(bot.pid()?, pid);
    Ok(())
}

/// Who mends something and looks does not find it as it was: nobody says anything meanwhile.
#[test]
fn what_is_mended_is_soon_told_to_be() -> Outcome {
    let bot = BotHouse::new()?;
    let health = || std::fs::read_to_string(bot.house.home().join("chat.json"));
    let works = || health().is_ok_and(|told| told.contains("\"trouble\":null"));
    eventually("it works", works)?;
    let good = std::fs::read_to_string(bot.house.home().join("config.toml"))?;
    bot.house.configure("[chat.telegram]\nallowed_users = ['me']\n")?;
    bot.ask("/help", "/pauseall")?;
    eventually("the fault is told", || !works())?;
    bot.house.configure(&good)?;
    eventually("it is told to be mended", works)?;
    bot.api.go_away();
    eventually("the network is told to be away", || !works())?;
    bot.api.come_back();
    eventually("it is told to be there", works)?;
    Ok(())
}

/// Everything else counts for what is said next, too.
#[test]
fn another_repository_counts_for_the_next_session() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.house.git(&["clone", "--quiet", ".", "../other"])?;
    let other = bot.house.folder().join("other");
    let before = std::fs::read_to_string(bot.house.home().join("config.toml"))?;
    let here = bot.house.repo().to_string_lossy().into_owned();
    let after = before.replace(&here, &other.to_string_lossy());
    assert_ne!(before, after);
    // A file with a fault changes nothing, and the doctor tells.
    bot.house.configure("[chat.telegram]\nallowed_users = ['me']\n")?;
    bot.ask("/status", "blue \u{b7} rehearsal")?;
    let doctor = bot.house.glis().arg("doctor").output()?.stdout;
    let doctor = String::from_utf8(doctor)?;
    assert!(doctor.contains("what it said before counts"), "{doctor}");
    bot.house.configure(&after)?;
    bot.ask("/new red", "Session red created.")?;
    assert_eq!(bot.house.show("red")?["repo_root"], other.to_string_lossy().as_ref());
    let log = std::fs::read_to_string(bot.log())?;
    assert_eq!(log.matches("beginning anew").count(), 1, "{log}");
    assert_eq!(bot.count("Session red created."), 1);
    bot.ask("say on.", "on.")?;
    Ok(())
}
