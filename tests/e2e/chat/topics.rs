//! A group with topics: one for each session.

use crate::support::bot::{BotHouse, ME};
use crate::support::house::Outcome;
use glis_bot_api::{Fault, Message};

const GROUP: i64 = -1001;

fn in_group() -> Outcome<BotHouse> {
    let bot = BotHouse::with(&format!("allowed_chats = [{GROUP}]"))?;
    bot.api.open_forum(GROUP);
    Ok(bot)
}

/// Waits for these words in a topic of the group, or in none.
fn hear(bot: &BotHouse, thread: Option<i64>, words: &str) -> Outcome<Message> {
    let heard = bot.api.until(|all| {
        let fits = |message: &&Message| {
            (message.chat, message.thread) == (GROUP, thread) && message.text.contains(words)
        };
        all.iter().find(fits).cloned()
    });
    heard.ok_or_else(|| {
        let log = std::fs::read_to_string(bot.log()).unwrap_or_default();
        format!("{words:?} not in {thread:?}: {:#?}\n{log}", bot.api.messages()).into()
    })
}

/// Makes a session from the group; the number of its topic.
fn made(bot: &BotHouse, name: &str) -> Outcome<i64> {
    bot.api.say_in(ME, GROUP, None, &format!("/new {name}"));
    let made = bot.api.until(|all| {
        let text = format!("This topic is {name}.");
        all.iter().find(|message| message.text.contains(&text)).and_then(|message| message.thread)
    });
    let thread = made.ok_or("no topic")?;
    assert!(bot.api.topics().contains(&(GROUP, thread, name.to_owned())));
    Ok(thread)
}

#[test]
fn each_session_has_a_topic() -> Outcome {
    let bot = in_group()?;
    let blue = made(&bot, "blue")?;
    let red = made(&bot, "red")?;
    bot.api.say_in(ME, GROUP, Some(blue), "say from blue");
    hear(&bot, Some(blue), "from blue")?;
    bot.api.say_in(ME, GROUP, Some(red), "approve go on? ;; say from red");
    let card = hear(&bot, Some(red), "red asks for approval")?;
    bot.api.press_data(ME, GROUP, card.id, &card.buttons[0].1);
    hear(&bot, Some(red), "from red")?;
    // Commands count for the session whose topic it is.
    bot.api.say_in(ME, GROUP, Some(blue), "/timeout 7");
    hear(&bot, Some(blue), "Idle timeout set to 7 minutes")?;
    assert_eq!(bot.house.show("blue")?["idle_timeout_secs"], 420);
    // Outside of any topic the last one is meant.
    bot.api.say_in(ME, GROUP, None, "say outside");
    hear(&bot, Some(red), "outside")?;
    Ok(())
}

#[test]
fn a_deleted_topic_falls_back_to_the_chat() -> Outcome {
    let bot = in_group()?;
    let blue = made(&bot, "blue")?;
    bot.api.say_in(ME, GROUP, Some(blue), "say **one**");
    hear(&bot, Some(blue), "one")?;
    bot.api.delete_topic(GROUP, blue);
    bot.house.ok(&["send", "blue", "say **two**"])?;
    let word = hear(&bot, None, "The topic of blue is gone or closed. The session goes on here.")?;
    let two = hear(&bot, None, "two")?;
    assert!(word.id < two.id);
    assert_eq!(two.entities[0]["type"], "bold", "nothing but the topic was wrong");
    bot.api.say_in(ME, GROUP, None, "say three");
    hear(&bot, None, "three")?;
    Ok(())
}

#[test]
fn a_group_that_gives_no_topics_is_talked_to_as_one() -> Outcome {
    let bot = in_group()?;
    bot.api.fail("createForumTopic", Fault::Status(400, "Bad Request: not enough rights"));
    bot.api.say_in(ME, GROUP, None, "/new blue");
    hear(&bot, None, "No topic was made for blue")?;
    bot.api.say_in(ME, GROUP, None, "say here");
    hear(&bot, None, "here")?;
    // What the network holds back comes later.
    bot.api.fail("createForumTopic", Fault::TooMany(2));
    made(&bot, "red")?;
    Ok(())
}
