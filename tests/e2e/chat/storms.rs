//! A network that bans, breaks and falls silent; processes that are killed. What agents say arrives all the same.

use crate::support::bot::{BotHouse, ME};
use crate::support::house::{Outcome, eventually};
use glis_bot_api::{BotApi, Fault};
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

#[test]
fn a_final_text_arrives_whatever_the_network_does() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    let faults = [
        Fault::TooMany(0),
        Fault::TooMany(3),
        Fault::Status(502, "Bad Gateway"),
        Fault::Status(400, "Bad Request: can't parse entities"),
        Fault::HalfBody,
        Fault::NoAnswer,
    ];
    for (number, fault) in faults.into_iter().enumerate() {
        bot.api.fail("sendMessage", fault);
        bot.ask(&format!("say **text** {number}."), &format!("text {number}."))?;
        assert_eq!(bot.api.faults_left(), 0);
    }
    Ok(())
}

/// In the middle of a stream, of a final text and of an approval.
#[test]
fn each_step_outlives_a_ban_and_a_silence() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    for (number, fault) in
        [Fault::TooMany(0), Fault::TooMany(4), Fault::Silence(Duration::from_secs(1))]
            .into_iter()
            .enumerate()
    {
        bot.api.fail("sendMessage", fault.clone());
        bot.say(&format!(
            "work 3 ;; say begun {number}. ;; run true ;; work 1 ;; say ended {number}."
        ));
        // A picture that could not be shown at once was not shown: then its fault is still to come.
        bot.hear(&format!("ended {number}."))?;
        bot.api.fail("sendMessage", fault);
        bot.say(&format!("approve go {number}? ;; say went {number}."));
        bot.hear(&format!("go {number}?"))?;
        bot.press("Allow once")?;
        bot.hear(&format!("went {number}."))?;
    }
    let bans = bot.api.seen().iter().filter(|seen| seen.status == 429).count();
    assert!((2..=4).contains(&bans), "{bans}: no early request");
    Ok(())
}

/// Two minutes, in real time: the bot gives a request up after half of one, and makes it again.
#[test]
fn a_network_that_is_silent_for_two_minutes_holds_nothing_up_for_so_long() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.api.fail("sendMessage", Fault::Silence(Duration::from_secs(120)));
    let began = std::time::Instant::now();
    bot.ask("say one.", "one.")?;
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(25), "it was not silent: {took:?}");
    assert_eq!(bot.api.faults_left(), 0);
    bot.ask("say two.", "two.")?;
    assert_eq!(bot.count("one."), 1);
    Ok(())
}

/// A conversation that cannot be read is told of, and keeps nothing else from anyone.
#[test]
fn a_damaged_conversation_hides_no_other_session() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new red", "Session red created.")?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say one.", "one.")?;
    let id = bot.house.show("blue")?["id"].as_str().ok_or("no id")?.to_owned();
    let file = crate::support::wreck::folder(&bot.house, &id).join("conversation.jsonl");
    let aside = file.with_extension("aside");
    std::fs::rename(&file, &aside)?;
    std::fs::create_dir(&file)?;
    bot.house.ok(&["stop", "blue"])?;
    bot.ask("/switch red", "Switched to red")?;
    bot.ask("say from red.", "from red.")?;
    bot.hear("blue: what it said cannot be read here")?;
    // Once it can be read again, nothing is missing.
    std::fs::remove_dir(&file)?;
    std::fs::rename(&aside, &file)?;
    bot.ask("/switch blue", "Switched to blue")?;
    bot.ask("say two.", "two.")?;
    Ok(())
}

/// The user shuts the bot out, the token is not valid for a while, a card is as it was: nothing is lost.
#[test]
fn what_a_network_refuses_for_a_while_comes_later() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.api.fail("sendMessage", Fault::Status(403, "Forbidden: bot was blocked by the user"));
    bot.say("say one.");
    assert!(bot.api.until_seen(|seen| seen.iter().any(|it| it.status == 403)));
    bot.ask("say two.", "two.")?;
    bot.hear("one.")?;
    for (method, fault) in [
        ("sendMessage", Fault::Status(401, "Unauthorized")),
        ("getUpdates", Fault::Status(502, "Bad Gateway")),
        ("getUpdates", Fault::TooMany(1)),
        ("getUpdates", Fault::HalfBody),
    ] {
        bot.api.fail(method, fault);
    }
    bot.ask("say three.", "three.")?;
    bot.api.fail("editMessageText", Fault::Status(400, "Bad Request: message is not modified"));
    bot.ask("approve go? ;; say four.", "go?")?;
    bot.press("Allow once")?;
    bot.hear("four.")?;
    bot.ask("say five.", "five.")?;
    Ok(())
}

/// The daemon and the bot die at every step of an approval, again and again.
#[test]
fn an_approval_outlives_bot_and_daemon_at_every_step() -> Outcome {
    let mut bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    for (number, step) in ["asked", "answer_began", "ask_gone", "turn_ended"].iter().enumerate() {
        let from =
            bot.house.json(&["daemon", "status"])?["last_seq"].as_u64().ok_or("no number")?;
        let mut events = bot.house.follow(from + 1)?;
        bot.say(&format!("approve go {number}? ;; say went {number}."));
        if *step != "asked" {
            bot.hear(&format!("go {number}?"))?;
            bot.press("Allow once")?;
        }
        events.until(|event| event["event"] == *step)?;
        bot.kill();
        bot.house.kill_daemon()?;
        bot.start()?;
        if *step == "asked" {
            bot.hear(&format!("go {number}?"))?;
            bot.press("Allow once")?;
        }
        bot.hear(&format!("went {number}."))?;
    }
    let id = bot.house.show("blue")?["id"].clone();
    let events = bot.house.events(id.as_str().ok_or("no id")?)?;
    let answers = events.iter().filter(|event| *event == "answer_began").count();
    assert_eq!(answers, 4, "each question is answered once");
    Ok(())
}

/// Words of every kind come as they are; what looks like a secret does not.
#[test]
fn odd_words_come_whole() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    let joined = "\u{1f469}\u{200d}\u{1f4bb}";
    let hebrew = "\u{5e9}\u{5dc}\u{5d5}\u{5dd}";
    for words in [joined, hebrew, "e\u{301}", "a_b*c[d](e)"] {
        bot.ask(&format!("say {words} end."), &format!("{words} end."))?;
    }
    // More units than a message takes, and none of them is cut.
    let emoji = "\u{1f600}".repeat(4096);
    bot.say(&format!("say {emoji}"));
    let all = bot.api.until(|all| {
        let parts: Vec<_> = all.iter().filter(|it| it.text.starts_with('\u{1f600}')).collect();
        let whole: String = parts.iter().map(|it| it.text.as_str()).collect();
        (whole.chars().filter(|c| *c == '\u{1f600}').count() == 4096).then_some(parts.len())
    });
    assert_eq!(all, Some(2));
    Ok(())
}

#[test]
fn a_ban_is_waited_out_and_then_everything_comes() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.api.fail("sendMessage", Fault::TooMany(6));
    for number in 0..5 {
        bot.say(&format!("say part {number}."));
    }
    bot.hear("part 4.")?;
    let seen = bot.api.seen();
    let sends: Vec<_> = seen.iter().filter(|seen| seen.method == "sendMessage").collect();
    let ban = sends.iter().position(|seen| seen.status == 429).ok_or("no ban")?;
    let after = sends.get(ban + 1).ok_or("nothing after the ban")?;
    assert!(after.at - sends[ban].at >= Duration::from_secs(6), "an early request");
    assert_eq!(sends.iter().filter(|seen| seen.status == 429).count(), 1);
    let words: String = bot.api.messages().iter().map(|message| message.text.as_str()).collect();
    let places: Vec<_> = (0..5).map(|number| words.find(&format!("part {number}."))).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{words}");
    Ok(())
}

#[test]
fn a_killed_bot_goes_on_where_it_was() -> Outcome {
    let mut bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    for number in 0..6 {
        bot.say(&format!("say number {number}."));
        bot.kill();
        bot.start()?;
        bot.hear(&format!("number {number}."))?;
    }
    let id = bot.house.show("blue")?["id"].clone();
    let queued = bot.house.events(id.as_str().ok_or("no id")?)?;
    let queued = queued.iter().filter(|event| *event == "message_queued").count();
    assert_eq!(queued, 6, "each message once");
    Ok(())
}

#[test]
fn a_killed_daemon_is_no_matter() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    for number in 0..4 {
        bot.house.kill_daemon()?;
        bot.ask(&format!("say number {number}."), &format!("number {number}."))?;
    }
    Ok(())
}

#[test]
fn a_long_text_comes_with_a_file() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.say("stream 6000 100000");
    let file = bot.api.until(|all| all.iter().find_map(|message| message.file.clone()));
    let (name, bytes) = file.ok_or("no file")?;
    assert_eq!(name, "blue.md");
    let whole = String::from_utf8(bytes)?;
    assert!(whole.split_whitespace().count() >= 6000);
    Ok(())
}

#[test]
fn two_homes_on_one_token_are_told_of_each_other() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/sessions", "No sessions found.")?;
    // The same token in another house.
    let other = BotHouse::still()?;
    let token = other.house.folder().join("token");
    other.house.configure(&format!(
        "[chat.telegram]\ntoken_file = '{}'\nallowed_users = [{ME}]\napi_url = '{}'\n",
        token.display(),
        bot.api.url()
    ))?;
    let mut other = other;
    other.start()?;
    assert!(bot.api.until_seen(|seen| seen.iter().any(|seen| seen.status == 409)));
    let found = |house: &BotHouse| -> Outcome<String> {
        let output = house.house.glis().arg("doctor").output()?;
        Ok(String::from_utf8(output.stdout)?)
    };
    eventually("doctor tells of the other", || {
        let told = |house| found(house).is_ok_and(|text| text.contains("another process reads"));
        told(&bot) || told(&other)
    })?;
    // Whoever waits for an answer that the other home has got is told why.
    bot.hear("Another process reads this bot's messages as well")?;
    Ok(())
}

/// Whoever ends the bot hears what it does, and the next one goes on.
#[test]
fn a_bot_that_is_ended_says_so_and_ends_in_order() -> Outcome {
    let mut bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    for (number, (signal, name)) in
        [(Signal::TERM, "SIGTERM"), (Signal::INT, "SIGINT")].into_iter().enumerate()
    {
        bot.ask(&format!("say {number}."), &format!("{number}."))?;
        assert_eq!(bot.end_by(signal)?, Some(0), "{name}");
        let log = std::fs::read_to_string(bot.log())?;
        let ends = format!("chat: Received exit signal {name}\nchat: ended; ");
        assert!(log.contains(&ends), "{log}");
        bot.say(&format!("say after {name}."));
        bot.start()?;
        bot.hear(&format!("after {name}."))?;
        assert_eq!(bot.count(&format!("{number}.")), 1, "nothing comes twice");
    }
    Ok(())
}

/// Why a bot does not run is told, also where it cannot.
#[test]
fn doctor_tells_whether_the_bot_works_and_why_not() -> Outcome {
    let mut bot = BotHouse::still()?;
    let doctor = |bot: &BotHouse| -> Outcome<String> {
        let output = bot.house.glis().arg("doctor").output()?;
        Ok(String::from_utf8(output.stdout)?)
    };
    let token = bot.house.folder().join("token");
    let told = doctor(&bot)?;
    assert!(told.contains("does not run") && told.contains("daemon install --chat"), "{told}");
    bot.api.fail("getMe", Fault::Status(401, "Unauthorized"));
    let refused = bot.house.glis().arg("chat").output()?;
    assert!(!refused.status.success());
    let told = doctor(&bot)?;
    assert!(told.contains("when it last did: the token is not valid"), "{told}");
    assert!(told.contains("put it into `token_file`"), "{told}");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o640))?;
    assert!(doctor(&bot)?.contains("and cannot: the token's file"));
    std::fs::remove_file(&token)?;
    assert!(doctor(&bot)?.contains("cannot be read: entity not found"));
    std::fs::write(&token, glis_bot_api::TOKEN)?;
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600))?;
    bot.start()?;
    bot.ask("/help", "/sessions")?;
    let told = doctor(&bot)?;
    assert!(told.contains("the bot @glis_test_bot works"), "{told}");
    // One that is revoked while the bot runs.
    bot.api.fail("getUpdates", Fault::Status(401, "Unauthorized"));
    bot.say("/help");
    eventually("the doctor tells", || {
        doctor(&bot).is_ok_and(|told| {
            let bad = "the bot does not work: the token is not valid";
            told.contains(bad) && told.contains("put it into `token_file`")
        })
    })?;
    Ok(())
}

/// A repository that is not there is told of before somebody wants a session in it.
#[test]
fn a_repository_that_is_not_there_is_told_of() -> Outcome {
    let mut bot = BotHouse::with_repo("/no/such/folder")?;
    bot.start()?;
    bot.ask("/help", "/sessions")?;
    let log = std::fs::read_to_string(bot.log())?;
    assert!(log.contains("there is no folder /no/such/folder"), "{log}");
    let doctor = bot.house.glis().arg("doctor").output()?;
    let told = String::from_utf8(doctor.stdout)?;
    assert!(told.contains("`repo` of [chat.telegram] is no folder: /no/such/folder"), "{told}");
    Ok(())
}

#[test]
fn a_token_that_others_can_read_is_refused() -> Outcome {
    let bot = BotHouse::still()?;
    let token = bot.house.folder().join("token");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o644))?;
    let refused = bot.house.glis().arg("chat").output()?;
    let told = String::from_utf8(refused.stderr)?;
    assert!(!refused.status.success() && told.contains("can be read by others"), "{told}");
    assert!(BotApi::start().is_ok());
    Ok(())
}
