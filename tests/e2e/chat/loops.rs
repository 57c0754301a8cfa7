//! Loops from a phone: how far they are, and what they wait for.

use crate::support::bot::BotHouse;
use crate::support::house::Outcome;

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
    Ok(())
}
