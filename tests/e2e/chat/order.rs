//! What is typed is for the session that is meant at its place in the order, and what is told of it is true.

use crate::support::bot::BotHouse;
use crate::support::house::Outcome;

/// A phone that was offline sends several things at once, and some of them take long.
#[test]
fn a_command_behind_a_switch_is_for_the_session_that_was_chosen() -> Outcome {
    let mut bot = BotHouse::new()?;
    bot.ask("/new one", "Session one created.")?;
    bot.ask("say first.", "first.")?;
    bot.ask("/new two", "Session two created.")?;
    bot.ask("say second.", "second.")?;
    bot.kill();
    bot.say("/switch one");
    bot.say("/stop");
    bot.start()?;
    bot.hear("Session stopped.")?;
    assert_eq!(bot.house.show("one")?["status"], "suspended");
    assert_eq!(bot.house.show("two")?["status"], "idle");
    bot.kill();
    bot.say("/new three");
    bot.say("/pause");
    bot.start()?;
    bot.hear("Session paused. /resume to continue.")?;
    assert_eq!(bot.house.show("three")?["status"], "paused");
    assert_eq!(bot.house.show("two")?["status"], "idle");
    Ok(())
}

/// A message that does not wake its session says why, and what does.
#[test]
fn a_message_that_waits_says_what_for() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    let told = bot.ask("crash", "blue: was interrupted")?;
    assert_eq!(told.buttons.len(), 1, "{told:?}");
    bot.ask("say after all.", "The session was interrupted. /resume to continue.")?;
    bot.ask("/new red", "Session red created.")?;
    // It is that one's, whichever is the current one by now.
    bot.api.press_data(
        crate::support::bot::ME,
        crate::support::bot::ME,
        told.id,
        &told.buttons[0].1,
    );
    bot.hear("after all.")?;
    bot.ask("/pauseall", "Everything is paused. /resumeall to continue.")?;
    // This one has never run: there is nothing of it to be resumed, and still nothing of it begins.
    assert_eq!(bot.house.show("red")?["status"], "created");
    bot.ask("say in the end.", "Everything is paused. /resumeall to continue.")?;
    assert_eq!(bot.house.show("red")?["queued"], 1);
    bot.say("/resumeall");
    bot.hear("in the end.")?;
    Ok(())
}

/// While everything is paused no session is resumed alone: what helps is told, and is a button.
#[test]
fn a_message_to_what_was_paused_with_everything_says_what_resumes_it() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new red", "Session red created.")?;
    bot.ask("say one.", "one.")?;
    bot.ask("/pause", "Session paused.")?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say two.", "two.")?;
    bot.ask("/pauseall", "Everything is paused. /resumeall to continue.")?;
    assert_eq!(bot.house.show("blue")?["status"], "paused");
    let told = bot.ask("say three.", "Everything is paused. /resumeall to continue.")?;
    let labels: Vec<&str> = told.buttons.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["Resume all"]);
    // One that was paused before stays so.
    bot.ask("/switch red", "Switched to red")?;
    let told =
        bot.ask("say four.", "Everything is paused. /resumeall first, then /resume to continue.")?;
    bot.api.press_data(
        crate::support::bot::ME,
        crate::support::bot::ME,
        told.id,
        &told.buttons[0].1,
    );
    bot.hear("three.")?;
    bot.ask("/resume", "Session resumed.")?;
    bot.hear("four.")?;
    bot.ask("/resumeall", "Nothing was resumed: not everything is paused.")?;
    Ok(())
}

/// Neither does what is paused or stopped by itself then: the way on is told as it is.
#[test]
fn what_is_paused_while_everything_is_goes_on_behind_everything() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("say one.", "one.")?;
    bot.ask("/pauseall", "Everything is paused. /resumeall to continue.")?;
    let on = "Everything is paused. /resumeall first, then /resume to continue.";
    bot.ask("/pause", on)?;
    bot.ask("/stop", on)?;
    let refused = bot.ask("/resume", "/resumeall")?;
    assert!(!refused.text.contains("glis"), "{}", refused.text);
    Ok(())
}

/// A question that is answered while the bot is away: its card tells how.
#[test]
fn what_was_answered_meanwhile_is_told_as_it_was() -> Outcome {
    let mut bot = BotHouse::new()?;
    bot.ask("/new blue", "Session blue created.")?;
    bot.ask("approve go on? ;; say gone on.", "blue asks for approval")?;
    bot.kill();
    bot.house.ok(&["answer", "blue", "allow"])?;
    bot.house.until("blue", "idle")?;
    bot.start()?;
    let card = bot.hear("Allowed once, at the command line")?;
    assert!(card.text.contains("blue asks for approval"), "{card:?}");
    bot.hear("gone on.")?;
    Ok(())
}
