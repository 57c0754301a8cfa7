//! Plans from a phone: shown, executed, paused and taken up again, with the way on where a task stands still.

use crate::support::bot::{BotHouse, ME};
use crate::support::bot_time::TimedBot;
use crate::support::house::Outcome;
use crate::support::planned::{BRANCH, LONG, Window, plan, record, task, until_at_work};
use glis_bot_api::Message;
use serde_json::json;

#[test]
fn a_plan_is_shown_executed_and_told_to_its_end() -> Outcome {
    let bot = BotHouse::new()?;
    bot.ask("/plan", "plan.toml")?;
    let sweep = "approve sweep now? ;; write sweep.txt b";
    plan(
        &bot.house,
        &[task("dust", "write dust.txt a", &[], None), task("sweep", sweep, &["dust"], None)],
    )?;
    let shown = bot.ask("/plan", "Tidy up \u{b7} 2 tasks, not executed yet")?;
    assert_eq!(shown.buttons.iter().map(|(label, _)| label).collect::<Vec<_>>(), ["Execute"]);
    bot.press("Execute")?;
    bot.hear("dust: done")?;
    // What a task asks is a card like any other, and the plan says which task waits.
    bot.hear("sweep: waiting: sweep now? (answer its card)")?;
    let shown = bot.ask("/plan", "1 of 2 tasks done")?;
    assert!(shown.text.contains("\u{2713} dust succeeded"), "{}", shown.text);
    assert!(shown.text.contains("? sweep waiting"), "{}", shown.text);
    bot.press("Allow once")?;
    let end = bot.hear(&format!("All tasks are done: branch {BRANCH}"))?;
    assert_eq!(end.buttons, []);
    assert_eq!(bot.count("dust: done"), 1, "each end is told once");
    assert_eq!(bot.count("All tasks are done"), 1);
    Ok(())
}

/// What the plan says of a question is answered like the question's own card.
#[test]
fn a_reply_to_a_task_that_waits_answers_its_question() -> Outcome {
    let bot = BotHouse::new()?;
    plan(&bot.house, &[task("q", "question Which? ;; write q.txt a", &[], None)])?;
    bot.ask("/plan execute", "Tidy up")?;
    let told = bot.api.until(|all| {
        let fits = |message: &&Message| {
            message.text.contains("q: waiting: Which?") && message.text.ends_with("to answer.")
        };
        all.iter().find(fits).cloned()
    });
    let told = told.ok_or_else(|| format!("{:#?}", bot.api.messages()))?;
    let reply = json!({"reply_to_message": {"message_id": told.id}});
    bot.api.say_with(ME, ME, "the blue one", &reply);
    bot.hear("All tasks are done")?;
    // The question's own card tells it as well, if it came to that before the answer did.
    let settled = bot.api.until(|all| {
        let answered = |it: &Message| it.text.contains("Answered: the blue one, by you");
        let mut asked = all.iter().filter(|it| it.text.contains("Which?"));
        asked.all(answered).then_some(())
    });
    assert!(settled.is_some(), "the plan's words and the card tell: {:#?}", bot.api.messages());
    assert_eq!(bot.count("No active session"), 0);
    Ok(())
}

#[test]
fn a_plan_is_paused_and_its_task_resumed() -> Outcome {
    let mut bot = BotHouse::new()?;
    plan(&bot.house, &[task("dust", LONG, &[], None), task("air", "write air.txt c", &[], None)])?;
    bot.ask("/plan execute", "Tidy up")?;
    until_at_work(&bot.house, "dust-1")?;
    bot.ask("/plan pause", "The plan is paused: nothing of it begins by itself.")?;
    let paused = bot.hear("dust: paused. /plan resume dust goes on")?;
    assert!(paused.text.contains("Paused. /plan execute does the rest."), "{}", paused.text);
    assert_eq!(record(&bot.house, "dust-1")?["state"], "paused");
    // A bot that is started anew knows the plan and its buttons.
    bot.kill();
    bot.start()?;
    bot.press("Resume dust")?;
    bot.hear("dust is resumed.")?;
    // The rehearsal agent takes it for done.
    bot.hear("dust: done")?;
    bot.ask("/plan resume wax", "no task or run `wax`")?;
    bot.ask("/plan execute", "\u{2713} dust succeeded")?;
    bot.hear("All tasks are done")?;
    Ok(())
}

#[test]
fn a_task_that_failed_says_so_and_begins_anew() -> Outcome {
    let bot = BotHouse::new()?;
    let go = bot.house.folder().join("go");
    let accept = format!("test -e {}", go.display());
    plan(&bot.house, &[task("dust", "write dust.txt a", &[], Some(&accept))])?;
    bot.ask("/plan execute", "Tidy up")?;
    let failed = bot.hear("dust: failed: not accepted: ")?;
    assert!(failed.text.contains("/plan restart dust begins anew"), "{}", failed.text);
    // Two more came by themselves before a person was asked.
    bot.hear("Nothing more begins by itself")?;
    std::fs::write(&go, "")?;
    bot.press("Begin dust anew")?;
    bot.hear("dust begins anew.")?;
    bot.hear("All tasks are done")?;
    assert_eq!(record(&bot.house, "dust-4")?["restart_of_run_id"], "dust-3");
    Ok(())
}

/// What it asks already gets its card, and a clock that is set back hides nothing of what follows.
#[test]
fn a_plan_that_a_chat_joins_is_told_from_there_on() -> Outcome {
    let timed = TimedBot::new()?;
    let bot = &timed.bot;
    let dust = "say before. ;; approve sweep now? ;; say behind. ;; write dust.txt a";
    plan(&bot.house, &[task("dust", dust, &[], None)])?;
    let window = Window::open(&bot.house, &[])?;
    bot.house.follow(1)?.until(|event| event["event"] == "asked")?;
    bot.ask("/plan", "? dust waiting")?;
    timed.set_clock(-7200);
    bot.hear("dust-1 asks for approval")?;
    bot.press("Allow once")?;
    bot.hear("behind.")?;
    bot.hear("All tasks are done")?;
    assert_eq!(bot.count("before."), 0, "what was said before is not told");
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(0), "{said}{beside}");
    Ok(())
}
