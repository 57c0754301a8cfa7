//! Stories of bots that failed elsewhere: a message at the end of an idle session's time, a ban in the middle of a
//! stream, a day without network, a clock that is set, an answer from two sides at once.

use crate::support::bot::{BotHouse, ME};
use crate::support::bot_time::TimedBot;
use crate::support::house::{House, Outcome, eventually};
use glis_bot_api::{BotApi, Fault};
use std::time::{Duration, Instant};

/// From well before the time is over to well after the process is gone.
const MOMENTS_MS: [u64; 6] = [0, 2, 8, 30, 90, 250];

/// The names of all that has happened to the session.
fn events(bot: &BotHouse) -> Outcome<Vec<String>> {
    let shown = bot.house.show("blue")?;
    bot.house.events(shown["id"].as_str().ok_or("no id")?)
}

/// An idle session is there, or woken.
fn is_awake(bot: &BotHouse) -> Outcome {
    let mut woken = 0;
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let shown = bot.house.show("blue")?;
        if shown["status"] == "idle" && bot.house.timers_set("idle") > 0 {
            return Ok(());
        }
        if shown["status"] == "suspended" && shown["queued"] == 0 {
            woken += 1;
            bot.ask(&format!("say awake {woken}."), &format!("awake {woken}."))?;
        }
        assert!(Instant::now() < end, "{shown}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_message_at_the_end_of_an_idle_time_is_worked_off_once() -> Outcome {
    let mut bot = BotHouse::over(House::of_moved_time()?, "rehearsal", "")?;
    bot.start()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("write heard.txt begun\\n ;; say begun.", "begun.")?;
    let mut number = 0;
    for first in ["time", "message"] {
        for moment in MOMENTS_MS.map(Duration::from_millis) {
            is_awake(&bot)?;
            number += 1;
            let text = format!("append heard.txt message-{number}\\n ;; say heard {number}.");
            // Not for a state to come: the moments are what is tried here.
            if first == "time" {
                bot.house.pass_minutes(10);
                std::thread::sleep(moment);
                bot.say(&text);
            } else {
                bot.say(&text);
                std::thread::sleep(moment);
                bot.house.pass_minutes(10);
            }
            bot.hear(&format!("heard {number}."))?;
        }
    }
    let heard = std::fs::read_to_string(bot.house.file("blue", "heard.txt")?)?;
    let wanted: Vec<String> = (1..=number).map(|number| format!("message-{number}")).collect();
    assert_eq!(heard.trim_end(), format!("begun\n{}", wanted.join("\n")), "each once, in order");
    let events = events(&bot)?;
    for unwanted in ["interrupted", "failed", "message_doubted"] {
        assert!(!events.iter().any(|event| event == unwanted), "{unwanted}: {events:?}");
    }
    Ok(())
}

#[test]
fn a_final_text_outlives_a_ban_of_thirty_seconds_in_a_picture() -> Outcome {
    a_ban_in_the_middle_of_a_stream("sendMessage", "run true ;; work 2 ;; run true")
}

/// The bot is banned when it changes the message that shows what goes on.
#[test]
fn a_final_text_outlives_a_ban_of_thirty_seconds_in_an_edit() -> Outcome {
    let work = "run true ;; work 2 ;; run true ;; work 2 ;; run true ;; work 2";
    a_ban_in_the_middle_of_a_stream("editMessageText", work)
}

/// Nothing is asked of the chat during the ban, and the text comes right behind it.
fn a_ban_in_the_middle_of_a_stream(method: &'static str, work: &str) -> Outcome {
    let timed = TimedBot::new()?;
    let bot = &timed.bot;
    bot.ask("/new blue", "Session blue created.")?;
    timed.pass(Duration::from_secs(30));
    bot.api.fail(method, Fault::TooMany(30));
    bot.say(&format!("say begun. ;; {work} ;; say ended."));
    let banned = bot.api.until_seen(|seen| seen.iter().any(|it| it.status == 429));
    assert!(banned, "{:#?}", bot.api.seen());
    bot.house.until("blue", "idle")?;
    let seen = |api: &BotApi| api.seen().into_iter().filter(|it| it.method != "getUpdates");
    let began = seen(&bot.api).find(|it| it.status == 429).ok_or("no ban")?.at;
    let end = began + Duration::from_secs(30);
    let left = end.saturating_duration_since(bot.api.now());
    timed.pass_long(left.saturating_sub(Duration::from_millis(500)));
    let told = bot.hear("begun.\n\nended.")?;
    assert!(told.at >= end && told.at <= end + Duration::from_secs(2), "{:?}", told.at - began);
    let early: Vec<_> = seen(&bot.api).filter(|it| it.at > began && it.at < end).collect();
    assert_eq!(early, [], "nothing is asked for during a ban");
    assert_eq!(seen(&bot.api).filter(|it| it.status == 429).count(), 1);
    Ok(())
}

/// What an agent said meanwhile comes; what a user said before it is offered, and not done by itself.
#[test]
fn eight_hours_without_network_lose_nothing_and_do_nothing_late() -> Outcome {
    let timed = TimedBot::new()?;
    let bot = &timed.bot;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say one.", "one.")?;
    bot.api.go_away();
    bot.house.ok(&["send", "blue", "say while away."])?;
    bot.house
        .follow(1)?
        .until(|event| event["event"] == "message_queued" && event["text"] == "say while away.")?;
    bot.house.until("blue", "idle")?;
    bot.say("/pauseall");
    for _ in 0..16 {
        timed.pass(Duration::from_secs(1800));
    }
    bot.api.come_back();
    timed.while_time_flies(|| -> Outcome {
        bot.hear("while away.")?;
        let late = bot.hear("/pauseall")?;
        assert!(late.buttons.iter().any(|(label, _)| label == "Do it now"), "{late:?}");
        assert_eq!(bot.house.json(&["daemon", "status"])?["gate"], "running");
        bot.press("Do it now")?;
        bot.hear("Everything is paused.")?;
        Ok(())
    })
}

/// The clock on the wall is set back and forth by hours.
#[test]
fn a_clock_that_is_set_loses_nothing() -> Outcome {
    let timed = TimedBot::new()?;
    let bot = &timed.bot;
    bot.ask("/new blue", "Session blue created.")?;
    for (number, hours) in [-8_i64, 16, -24, 0].into_iter().enumerate() {
        timed.set_clock(hours * 3600);
        bot.ask(&format!("say text {number}."), &format!("text {number}."))?;
        bot.house.json(&["new", &format!("red{number}"), "--agent", "rehearsal", "--headless"])?;
        bot.ask(&format!("/switch red{number}"), "Switched to red")?;
        timed.set_clock(hours * 3600 - 7200);
        bot.ask(&format!("say red {number}."), &format!("red {number}."))?;
        bot.ask(&format!("approve go {number}?"), &format!("go {number}?"))?;
        timed.set_clock(hours * 3600 + 3600);
        bot.press("Allow once")?;
        bot.house.until(&format!("red{number}"), "idle")?;
        bot.ask("/switch blue", "Switched to blue")?;
    }
    Ok(())
}

/// A button and a terminal at the same moment: one of them counts, and the card tells which.
#[test]
fn a_question_answered_from_two_sides_at_once_is_answered_once() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    for number in 0..4 {
        let card = bot.ask(&format!("approve go {number}?"), &format!("go {number}?"))?;
        std::thread::scope(|scope| {
            let answered =
                scope.spawn(|| bot.house.glis().args(["answer", "blue", "deny"]).output());
            bot.api.press_data(ME, ME, card.id, &card.buttons[0].1);
            answered
                .join()
                .map_err(|_| "the other side panicked")?
                .map_err(|fault| fault.to_string())
        })?;
        let fate = bot.api.until(|all| {
            let card = all.iter().find(|message| message.id == card.id)?;
            card.buttons.is_empty().then(|| card.text.clone())
        });
        let fate = fate.ok_or("the card stays")?;
        let (here, there) = ("Allowed once, by you", "Denied, at the command line");
        assert!(fate.contains(here) ^ fate.contains(there), "{fate}");
        bot.house.until("blue", "idle")?;
    }
    let events = events(&bot)?;
    assert_eq!(events.iter().filter(|event| *event == "answer_began").count(), 4);
    eventually("every press is answered", || bot.api.acks().len() == 4)
}

/// An update that comes once more, with a number of long ago, does nothing.
#[test]
fn a_repeated_update_is_acted_on_once() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    let update = bot.api.say(ME, ME, "say once.");
    bot.hear("once.")?;
    bot.api.say_again(update, ME, "say once.");
    bot.ask("say twice.", "twice.")?;
    let queued = events(&bot)?;
    assert_eq!(queued.iter().filter(|event| *event == "message_queued").count(), 2);
    Ok(())
}
