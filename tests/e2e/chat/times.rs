//! How long things take: a ban to its end, an idle bot, a message on its way to an agent.

use crate::support::bot::BotHouse;
use crate::support::bot_time::TimedBot;
use crate::support::house::{Outcome, eventually};
use glis_bot_api::Fault;
use std::time::{Duration, Instant};

/// A ban of five minutes in the middle of five turns and a question.
#[test]
fn after_a_ban_of_five_minutes_everything_comes_in_order_at_once() -> Outcome {
    let timed = TimedBot::new()?;
    let bot = &timed.bot;
    bot.ask("/new blue", "Session blue created.")?;
    timed.pass(Duration::from_secs(30));
    bot.api.fail("sendMessage", Fault::TooMany(300));
    let mut events = bot.house.follow(1)?;
    for number in 0..5 {
        bot.say(&format!("say part {number}."));
        events.until(|event| event["event"] == "turn_ended")?;
    }
    assert!(bot.api.until_seen(|seen| seen.iter().any(|it| it.status == 429)));
    bot.say("approve go on? ;; say went on.");
    events.until(|event| event["event"] == "asked")?;
    let began = bot.api.seen().into_iter().find(|it| it.status == 429).ok_or("no ban")?.at;
    let end = began + Duration::from_secs(300);
    // Up to a second before its end, and then as it comes.
    let left = end.saturating_duration_since(bot.api.now());
    timed.pass_long(left.saturating_sub(Duration::from_secs(1)));
    bot.hear("part 4.")?;
    bot.hear("go on?")?;
    let seen = bot.api.seen();
    let sends = || seen.iter().filter(|it| it.method.starts_with("send") && it.at >= began);
    assert_eq!(sends().filter(|it| it.at < end).count(), 1, "the one that was banned: {seen:#?}");
    assert_eq!(sends().filter(|it| it.status == 429).count(), 1);
    let messages = bot.api.messages();
    let last = messages.iter().map(|message| message.at).max().ok_or("no message")?;
    assert!(last <= end + Duration::from_secs(2), "{:?} behind the end", last - end);
    let words: String = messages.iter().map(|message| message.text.as_str()).collect();
    let places: Vec<_> = (0..5).map(|number| words.find(&format!("part {number}."))).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{words}");
    Ok(())
}

/// What a process has used of the processor, and how often one of its threads has gone to sleep.
fn activity(pid: u32) -> Outcome<(String, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let rest = stat.rsplit_once(") ").ok_or("no end of the name")?.1;
    let used = rest.split(' ').skip(11).take(2).collect::<Vec<_>>().join(" ");
    let mut switches = 0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let status = std::fs::read_to_string(task?.path().join("status"))?;
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches"));
        let number = line.and_then(|line| line.split_whitespace().nth(1)).ok_or("no number")?;
        switches += number.parse::<u64>()?;
    }
    Ok((used, switches))
}

/// Nothing of it wakes up while nothing happens.
#[test]
fn an_idle_bot_sleeps() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say one.", "one.")?;
    let pid = bot.pid()?;
    let span = Duration::from_secs(2);
    // The last turn may still be in the air the first time.
    eventually("it sleeps for two seconds", || {
        let before = activity(pid).ok();
        std::thread::sleep(span);
        before.is_some() && before == activity(pid).ok()
    })
}

/// A request in fifty seconds, and no other.
#[test]
fn an_idle_bot_asks_once_in_fifty_seconds() -> Outcome {
    let timed = TimedBot::new()?;
    let bot = &timed.bot;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say one.", "one.")?;
    // What the turn has left to send is sent by now.
    timed.pass_long(Duration::from_secs(100));
    let before = bot.api.seen().len();
    for _ in 0..60 {
        timed.pass_long(Duration::from_secs(10));
    }
    let seen = bot.api.seen().split_off(before);
    assert!(seen.iter().all(|it| it.method == "getUpdates" && it.status == 200), "{seen:?}");
    assert!((11..=13).contains(&seen.len()), "{}", seen.len());
    Ok(())
}

/// From the moment in which the network has it until the agent has.
#[test]
fn a_message_is_with_its_agent_in_no_time() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say ready.", "ready.")?;
    let mut events = bot.house.follow(1)?;
    events.until(|event| event["event"] == "turn_ended")?;
    let mut times = Vec::new();
    for number in 0..9 {
        let began = Instant::now();
        bot.say(&format!("say {number}."));
        events.until(|event| event["event"] == "message_taken")?;
        times.push(began.elapsed());
        events.until(|event| event["event"] == "turn_ended")?;
    }
    times.sort();
    eprintln!("message to agent: {times:?}");
    // The best of them: the others tell how busy the machine of the tests is.
    assert!(times[0] <= Duration::from_millis(200), "{times:?}");
    Ok(())
}
