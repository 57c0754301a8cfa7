//! Claude Code from a phone: a message, an approval by a button, suspended and woken.

use super::Real;
use super::cast::{CLAUDE_HEADLESS, text};
use crate::support::bot::{BotHouse, ME};
use crate::support::house::{Outcome, eventually};
use glis_stub_model::installed::CLAUDE;
use glis_stub_model::prompt;

#[test]
fn claude_is_talked_to_allowed_suspended_and_woken() -> Outcome {
    let Some(real) = Real::with(CLAUDE)? else { return Ok(()) };
    // The model answers for as long as it is held.
    let Real { house, model: _model, .. } = real;
    let mut bot = BotHouse::over(house, "claude", "")?;
    bot.start()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask(&prompt("the word is heron", &[text("**noted**, heron")]), "noted, heron")?;
    let made = CLAUDE_HEADLESS.asks_to_run("touch made.txt");
    bot.say(&prompt("make it", &[made, text("made it")]));
    let card = bot.hear("blue asks for approval")?;
    assert!(card.text.contains("touch made.txt"), "the whole command: {}", card.text);
    // Plain words, a restart of the bot and a second click while it waits: it is answered once.
    bot.say(&prompt("and then", &[text("then this")]));
    bot.house.follow(1)?.until(|event| {
        let words = event["text"].as_str().unwrap_or_default();
        event["event"] == "message_queued" && words.starts_with("and then")
    })?;
    bot.kill();
    for _ in 0..2 {
        bot.api.press_data(ME, ME, card.id, &card.buttons[0].1);
    }
    bot.start()?;
    bot.hear("made it")?;
    bot.hear("then this")?;
    assert!(bot.house.file("blue", "made.txt")?.exists());
    let id = bot.house.show("blue")?["id"].as_str().ok_or("no id")?.to_owned();
    let answers = |bot: &BotHouse| -> Outcome<usize> {
        Ok(bot.house.events(&id)?.iter().filter(|event| *event == "answer_began").count())
    };
    assert_eq!(answers(&bot)?, 1);
    eventually("it is suspended", || {
        let shown = bot.house.show("blue");
        if shown.as_ref().is_ok_and(|shown| shown["suspend_at"].is_string()) {
            bot.house.pass_minutes(10);
        }
        shown.is_ok_and(|shown| shown["status"] == "suspended")
    })?;
    bot.ask(&prompt("which word?", &[text("it was heron")]), "it was heron")?;
    bot.hear("Resuming session")?;
    let queued = bot.house.events(&id)?;
    let queued = queued.iter().filter(|event| *event == "message_queued").count();
    assert_eq!(queued, 4, "each message once");
    Ok(())
}
