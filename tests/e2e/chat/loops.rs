//! Loops from a phone: how far they are, and what they wait for.

use crate::support::bot::BotHouse;
use crate::support::house::Outcome;
use glis_bot_api::Fault;

#[test]
fn a_loop_tells_how_far_it_is() -> Outcome {
    let bot = BotHouse::new()?;
    let prompt = "approve go on? ;; append work.txt x\\n";
    let words = ["loop", "blue", "--agent", "rehearsal", "--headless", "--max", "2", "--prompt"];
    bot.house.json(&[&words[..], &[prompt]].concat())?;
    bot.ask("/switch blue", "Switched to blue")?;
    let first = bot.hear("blue asks for approval")?;
    bot.press("Allow once")?;
    bot.hear("blue: iteration 1 of 2 is over")?;
    let second = bot.api.until(|all| {
        all.iter().find(|it| it.id > first.id && it.text.contains("asks for approval")).cloned()
    });
    second.ok_or("it asks once")?;
    bot.ask("/status", "Loop running: iteration 2 of 2")?;
    bot.press("Allow once")?;
    bot.hear("blue: the loop is done: that was the last iteration.")?;
    bot.ask("/status", "Loop done: iteration 2 of 2")?;
    in_order(&bot, &["iteration 1 of 2 is over", "iteration 2 of 2 is over", "the loop is done"]);
    Ok(())
}

/// These words were said once each, one behind the other.
fn in_order(bot: &BotHouse, words: &[&str]) {
    let all: Vec<String> = bot.api.messages().into_iter().map(|message| message.text).collect();
    let all = all.join("\n");
    let at: Vec<Vec<usize>> =
        words.iter().map(|words| all.match_indices(words).map(|(at, _)| at).collect()).collect();
    assert!(at.iter().all(|at| at.len() == 1) && at.is_sorted(), "{words:?} in\n{all}");
}

/// What comes at once, behind a ban, comes in its order.
#[test]
fn a_loop_tells_its_iterations_before_its_end() -> Outcome {
    let bot = BotHouse::new()?;
    let words = ["loop", "blue", "--agent", "rehearsal", "--headless", "--max", "4", "--prompt"];
    let prompt = "approve go on? ;; append work.txt x\\n";
    bot.house.json(&[&words[..], &[prompt]].concat())?;
    bot.ask("/switch blue", "Switched to blue")?;
    bot.hear("blue asks for approval")?;
    bot.api.fail("sendMessage", Fault::TooMany(5));
    let mut events = bot.house.follow(1)?;
    for _ in 0..4 {
        events.until(|event| event["event"] == "asked")?;
        bot.house.ok(&["answer", "blue", "allow"])?;
    }
    bot.hear("blue: the loop is done")?;
    let over: Vec<String> = (1..=4).map(|n| format!("iteration {n} of 4 is over")).collect();
    let over = over.iter().map(String::as_str).chain(["the loop is done"]);
    in_order(&bot, &over.collect::<Vec<_>>());
    Ok(())
}
