//! What agents ask, answered from a phone: once, for the right request, by the right user.

use crate::support::bot::{BotHouse, ME, STRANGER};
use crate::support::house::{Outcome, eventually};
use glis_bot_api::Fault;
use serde_json::json;

fn asking(text: &str) -> Outcome<BotHouse> {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask(text, "blue asks")?;
    Ok(bot)
}

#[test]
fn an_approval_is_given_by_a_button() -> Outcome {
    let bot = asking("approve go on? ;; say went on")?;
    let card = bot.hear("go on?")?;
    let labels: Vec<&str> = card.buttons.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["Allow once", "Allow for session", "Deny"]);
    bot.press("Allow once")?;
    bot.hear("went on")?;
    let card = bot.hear("Allowed once, by you")?;
    assert_eq!(card.buttons, []);
    Ok(())
}

#[test]
fn a_button_counts_once_and_for_its_user() -> Outcome {
    let bot = asking("approve one? ;; approve two? ;; say both")?;
    let first = bot.hear("one?")?;
    let (allow, deny) = (first.buttons[0].1.clone(), first.buttons[2].1.clone());
    bot.api.press_data(STRANGER, ME, first.id, &deny);
    bot.api.press_data(ME, ME, first.id, "no such word");
    bot.api.press_data(ME, ME, first.id, &allow);
    bot.api.press_data(ME, ME, first.id, &allow);
    bot.api.press_data(ME, ME, first.id, &deny);
    bot.hear("two?")?;
    bot.hear("Allowed once")?;
    // The old buttons mean the old question.
    bot.api.press_data(ME, ME, first.id, &deny);
    assert!(bot.api.until_seen(|seen| {
        seen.iter().filter(|seen| seen.method == "answerCallbackQuery").count() >= 5
    }));
    assert_eq!(bot.house.show("blue")?["waiting_for"]["text"], "two?");
    let acks = bot.api.acks();
    let told = |words: &str| acks.iter().filter(|ack| ack.as_str() == words).count();
    assert_eq!(told("This button is not known any more."), 1);
    assert_eq!(told("This was answered already."), 3, "{acks:?}");
    bot.press("Allow once")?;
    bot.hear("both")?;
    Ok(())
}

#[test]
fn what_is_answered_elsewhere_is_taken_back() -> Outcome {
    let bot = asking("approve go on? ;; say no matter")?;
    let card = bot.hear("go on?")?;
    bot.house.ok(&["answer", "blue", "deny"])?;
    let settled = bot.hear("Denied, at the command line")?;
    assert_eq!((settled.id, settled.buttons.len()), (card.id, 0));
    bot.api.press_data(ME, ME, card.id, &card.buttons[0].1);
    assert!(bot.api.until_seen(|seen| seen.iter().any(|it| it.method == "answerCallbackQuery")));
    assert_eq!(bot.api.acks(), ["This was answered already."]);
    Ok(())
}

/// A stop takes a question away as well, and is not called a pause.
#[test]
fn what_was_asked_at_a_stop_is_told() -> Outcome {
    let bot = asking("approve push to main?")?;
    let card = bot.hear("push to main?")?;
    bot.ask(
        "/stop",
        "Session stopped. The next message resumes it.\nIt asked, and got no answer: push to main?",
    )?;
    let settled = bot.hear("Not answered: the session was stopped")?;
    assert_eq!((settled.id, settled.buttons.len()), (card.id, 0));
    Ok(())
}

/// A pause takes a question away, and nobody has answered it.
#[test]
fn what_was_asked_at_a_pause_is_told_while_it_lasts_and_behind_it() -> Outcome {
    let bot = asking("approve push to main?")?;
    let card = bot.hear("push to main?")?;
    let told = "It asked, and got no answer: push to main?";
    bot.ask("/pause", told)?;
    let settled = bot.hear("Not answered: the session was paused")?;
    assert_eq!((settled.id, settled.buttons.len()), (card.id, 0));
    bot.ask("/status", told)?;
    bot.ask("/resume", &format!("Session resumed.\n{told}"))?;
    bot.ask("/switch blue", told)?;
    // Until the agent has words again.
    bot.ask("say on.", "on.")?;
    let status = bot.ask("/status", "blue \u{b7} rehearsal")?;
    assert!(!status.text.contains(told), "{status:?}");
    Ok(())
}

/// Approval, plain text, a restart of the bot, a click, a second click.
#[test]
fn a_pending_approval_outlives_the_bot() -> Outcome {
    let mut bot = asking("approve go on? ;; say went on")?;
    let card = bot.hear("go on?")?;
    bot.say("say afterwards");
    bot.house
        .follow(1)?
        .until(|event| event["event"] == "message_queued" && event["text"] == "say afterwards")?;
    bot.kill();
    bot.api.press_data(ME, ME, card.id, &card.buttons[0].1);
    bot.api.press_data(ME, ME, card.id, &card.buttons[0].1);
    bot.start()?;
    bot.hear("went on")?;
    bot.hear("afterwards")?;
    bot.hear("Allowed once")?;
    assert_eq!(bot.count("went on"), 1);
    let events = bot.house.events(bot.house.show("blue")?["id"].as_str().ok_or("no id")?)?;
    let answers = events.iter().filter(|event| *event == "answer_began").count();
    assert_eq!(answers, 1);
    Ok(())
}

#[test]
fn a_reply_to_an_approval_denies_it_and_says_why() -> Outcome {
    let bot = asking("approve delete it all? ;; say next")?;
    let card = bot.hear("delete it all?")?;
    assert!(card.text.contains("Reply to this message to deny it and say why."), "{}", card.text);
    let reply = serde_json::json!({"reply_to_message": {"message_id": card.id}});
    // Who means yes is not taken for a no.
    bot.api.say_with(ME, ME, "Yes!", &reply);
    bot.hear("Press one of the buttons to answer this.")?;
    bot.api.say_with(ME, ME, "say keep the logs", &reply);
    let settled = bot.hear("Denied, by you")?;
    assert_eq!((settled.id, settled.buttons.len()), (card.id, 0));
    // The rehearsal agent takes no reason with a no: it is its next message.
    bot.hear("keep the logs")?;
    Ok(())
}

/// What is too long for a card is in a file before it. Who does not get the file has not seen what is asked.
#[test]
fn a_request_that_the_network_does_not_take_whole_can_only_be_denied() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    let asks = |end: &str| format!("approve {} {end} ;; say {end} went on.", "x".repeat(5000));
    bot.api.fail("sendDocument", Fault::Status(400, "Bad Request: file is too big"));
    bot.house.ok(&["send", "blue", &asks("reboot?")])?;
    let card = bot.hear("blue asks for approval")?;
    let labels: Vec<&str> = card.buttons.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["Deny"], "{}", card.text);
    let why = "Not all of it is shown: the network does not take the file. It can be denied here, and allowed on the \
               machine alone.";
    assert!(card.text.ends_with(why), "{}", card.text);
    bot.press("Deny")?;
    let settled = bot.hear("Denied, by you")?;
    assert!(!settled.text.contains("in the file"), "{}", settled.text);
    bot.house.until("blue", "idle")?;
    bot.house.ok(&["send", "blue", &asks("halt?")])?;
    let card = bot.hear("All of it is in the file above.")?;
    let all = bot.api.messages();
    let file = all.iter().find(|message| message.file.is_some()).ok_or("no file")?;
    let (name, bytes) = file.file.clone().ok_or("no file")?;
    assert_eq!((name.as_str(), file.id < card.id), ("blue-asks.txt", true));
    assert!(String::from_utf8(bytes)?.ends_with("halt?"));
    bot.press("Allow once")?;
    bot.hear("halt? went on.")?;
    assert_eq!(bot.count("reboot? went on."), 0);
    Ok(())
}

#[test]
fn a_question_is_answered_by_a_reply() -> Outcome {
    let bot = asking("question Which colour?")?;
    let card = bot.hear("Which colour?")?;
    assert_eq!(card.buttons, []);
    let reply = serde_json::json!({"reply_to_message": {"message_id": card.id}});
    bot.api.say_with(ME, ME, "green", &reply);
    bot.hear("Answered: green")?;
    bot.house.until("blue", "idle")?;
    Ok(())
}

/// The network has the card, and its answer was lost: the press alone tells where the card is.
#[test]
fn a_card_whose_answer_was_lost_tells_what_became_of_it() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.api.fail("sendMessage", Fault::NoAnswer);
    let card = bot.ask("approve go on? ;; say went on.", "go on?")?;
    bot.api.press_data(ME, ME, card.id, &card.buttons[0].1);
    bot.hear("went on.")?;
    let settled = bot.api.until(|all| {
        let found = all.iter().find(|message| message.id == card.id)?;
        (found.text.contains("Allowed once") && found.buttons.is_empty()).then_some(())
    });
    assert!(settled.is_some(), "{:#?}", bot.api.messages());
    Ok(())
}

/// Words behind a switch are for the session that it leads to, and a reply to a question that was answered is for
/// none.
#[test]
fn words_go_to_the_session_that_they_are_meant_for() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new alpha", "Session alpha created.")?;
    bot.ask("/new beta", "Session beta created.")?;
    for round in 0..3 {
        bot.ask("/switch beta", "Switched to beta")?;
        bot.ask("/sessions", "Sessions:")?;
        bot.press("alpha")?;
        bot.say(&format!("say round {round}."));
        bot.hear(&format!("round {round}."))?;
        let said = bot.house.ok(&["log", "alpha"])?;
        assert!(said.contains(&format!("say round {round}.")), "{said}");
    }
    bot.say("approve go on? ;; say went on");
    let card = bot.hear("alpha asks for approval")?;
    bot.ask("yes", "alpha waits for an answer")?;
    bot.press("Allow once")?;
    bot.hear("went on")?;
    bot.ask("/switch beta", "Switched to beta")?;
    bot.api.say_with(ME, ME, "no, keep it!", &json!({"reply_to_message": {"message_id": card.id}}));
    bot.hear("That question is not asked any more.")?;
    let said = bot.house.ok(&["log", "beta"])?;
    assert!(!said.contains("keep it"), "{said}");
    Ok(())
}

/// Who is taken off the list hears nothing any more, and nor does a group.
#[test]
fn a_chat_that_is_not_let_in_any_more_hears_nothing() -> Outcome {
    let mut bot = BotHouse::with("allowed_chats = [-100]")?;
    bot.api.say(ME, -100, "/new grp");
    let in_group = |words: &str| {
        let all = bot.api.messages();
        all.iter().any(|message| message.chat == -100 && message.text.contains(words))
    };
    eventually("the group hears of it", || in_group("Session grp created."))?;
    bot.ask("/switch grp", "Switched to grp")?;
    bot.kill();
    let network = bot.api.url();
    bot.talk_on(&network)?;
    bot.start()?;
    bot.house.ok(&["send", "grp", "say between us ;; approve a secret?"])?;
    bot.hear("between us")?;
    bot.hear("a secret?")?;
    bot.ask("/help", "/pauseall")?;
    let all = bot.api.messages();
    let heard: Vec<_> = all.iter().filter(|message| message.chat == -100).collect();
    assert_eq!(heard.len(), 1, "{heard:#?}");
    Ok(())
}
