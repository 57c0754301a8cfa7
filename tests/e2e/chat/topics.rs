//! A group with topics: one for each session.

use crate::support::bot::{BotHouse, ME};
use crate::support::house::{Outcome, eventually};
use glis_bot_api::{Fault, Message};
use serde_json::json;

const GROUP: i64 = -1001;
/// A second user.
const OTHER: i64 = 8;

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
    topic_of(bot, name)
}

/// Waits for a session's topic; its number.
fn topic_of(bot: &BotHouse, name: &str) -> Outcome<i64> {
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
    bot.api.say_in(ME, GROUP, None, "@glis_test_bot say outside");
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
    bot.api.say_in(ME, GROUP, None, "@glis_test_bot say three");
    hear(&bot, None, "three")?;
    Ok(())
}

#[test]
fn a_group_that_gives_no_topics_is_talked_to_as_one() -> Outcome {
    let bot = in_group()?;
    bot.api.fail("createForumTopic", Fault::Status(400, "Bad Request: not enough rights"));
    bot.api.say_in(ME, GROUP, None, "/new blue");
    hear(&bot, None, "No topic was made for blue")?;
    bot.api.say_in(ME, GROUP, None, "@glis_test_bot say here");
    hear(&bot, None, "here")?;
    // What the network holds back comes later.
    bot.api.fail("createForumTopic", Fault::TooMany(2));
    made(&bot, "red")?;
    Ok(())
}

#[test]
fn a_session_that_is_chosen_gets_a_topic_as_well() -> Outcome {
    let bot = in_group()?;
    for name in ["blue", "green"] {
        bot.house.rehearsal(name)?;
    }
    bot.api.say_in(ME, GROUP, None, "/switch blue");
    hear(&bot, None, "Switched to blue")?;
    let blue = topic_of(&bot, "blue")?;
    // By its button it is the same.
    bot.api.say_in(ME, GROUP, None, "/sessions");
    hear(&bot, None, "Sessions:")?;
    bot.api.press(ME, GROUP, "green").ok_or("no button")?;
    hear(&bot, None, "Switched to green")?;
    let green = topic_of(&bot, "green")?;
    // The topic of another session stays what it is.
    bot.api.say_in(ME, GROUP, Some(green), "/switch blue");
    hear(&bot, Some(green), "Outside of any topic you talk to blue")?;
    bot.api.say_in(ME, GROUP, Some(green), "say from green.");
    hear(&bot, Some(green), "from green.")?;
    bot.api.say_in(ME, GROUP, None, "@glis_test_bot say from outside.");
    hear(&bot, Some(blue), "from outside.")?;
    bot.api.say_in(ME, GROUP, Some(blue), "/switch blue");
    hear(&bot, Some(blue), "Switched to blue")?;
    assert_eq!(bot.api.topics().len(), 2, "each has one: {:?}", bot.api.topics());
    Ok(())
}

/// From the group and from a terminal. What is written in it later is for no other session.
#[test]
fn the_topic_of_an_archived_session_is_closed() -> Outcome {
    let bot = in_group()?;
    let (blue, red) = (made(&bot, "blue")?, made(&bot, "red")?);
    bot.api.say_in(ME, GROUP, Some(blue), "/archive");
    hear(&bot, Some(blue), "trash")?;
    bot.api.press(ME, GROUP, "Archive").ok_or("no button")?;
    hear(&bot, Some(blue), "blue is archived, and its topic is closed.")?;
    eventually("it is closed", || bot.api.is_closed(GROUP, blue))?;
    bot.api.say_in(ME, GROUP, Some(blue), "say astray.");
    hear(&bot, None, "This topic is no session's.")?;
    bot.api.say_in(ME, GROUP, Some(red), "say at home.");
    hear(&bot, Some(red), "at home.")?;
    let talk = bot.house.talk("red")?;
    assert!(talk.iter().all(|(_, text)| !text.contains("astray")), "{talk:?}");
    bot.house.ok(&["rm", "red", "--stop"])?;
    hear(&bot, Some(red), "red is archived, and its topic is closed.")?;
    eventually("it is closed", || bot.api.is_closed(GROUP, red))?;
    Ok(())
}

/// A group is there for people as well: an agent gets what is said to it.
#[test]
fn what_people_say_to_each_other_is_no_message() -> Outcome {
    let mut bot = BotHouse::still()?;
    bot.let_in_group(&[ME, OTHER], GROUP)?;
    bot.start()?;
    bot.api.open_forum(GROUP);
    bot.api.fail("createForumTopic", Fault::Status(400, "Bad Request: not enough rights"));
    bot.api.say_in(ME, GROUP, None, "/new blue");
    hear(&bot, None, "No topic was made for blue")?;
    bot.api.say_in(ME, GROUP, None, "say lunch at noon?");
    bot.api.say_in(OTHER, GROUP, None, "say yes, at noon.");
    bot.api.say_in(OTHER, GROUP, None, "@Glis_Test_Bot say by its name.");
    let said = hear(&bot, None, "by its name.")?;
    bot.api.say_with(ME, GROUP, "say nobody's.", &json!({"reply_to_message": {"message_id": 1}}));
    let answer = json!({"reply_to_message": {"message_id": said.id}});
    bot.api.say_with(OTHER, GROUP, "say as an answer.", &answer);
    hear(&bot, None, "as an answer.")?;
    let talk = bot.house.talk("blue")?;
    let prompts: Vec<&str> =
        talk.iter().filter(|(voice, _)| voice == "user").map(|(_, text)| text.as_str()).collect();
    assert_eq!(prompts, ["say by its name.", "say as an answer."]);
    assert!(bot.api.messages().iter().all(|it| !it.text.contains("noon")), "it is not answered");
    Ok(())
}

/// Whoever turns topics on in a small group gives it another number. People are told which, and go on there.
#[test]
fn a_group_with_another_number_is_told_of() -> Outcome {
    const BEFORE: i64 = -55;
    let bot = BotHouse::with(&format!("allowed_chats = [{BEFORE}]"))?;
    bot.api.say(ME, BEFORE, "/new blue");
    bot.api.await_words(BEFORE, "Session blue created.").ok_or("not made")?;
    bot.api.become_supergroup(BEFORE, GROUP);
    bot.api.tell_of_supergroup(BEFORE, GROUP);
    bot.house.ok(&["send", "blue", "say one."])?;
    bot.hear(&format!("Put {GROUP} into `allowed_chats`"))?;
    bot.api.say(ME, GROUP, "/sessions");
    bot.ask("/help", "/pauseall")?;
    assert!(bot.api.messages().iter().all(|it| it.chat != GROUP), "it is not let in yet");
    bot.let_in_group(&[ME], GROUP)?;
    bot.api.say(ME, GROUP, "/switch blue");
    hear(&bot, None, "Switched to blue")?;
    bot.api.say(ME, GROUP, "@glis_test_bot say two.");
    hear(&bot, None, "two.")?;
    Ok(())
}
