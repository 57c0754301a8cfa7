//! Plans from a phone: shown, executed, paused and taken up again, with the way on where a task stands still.

use crate::support::bot::{BotHouse, ME};
use crate::support::bot_time::TimedBot;
use crate::support::house::Outcome;
use crate::support::planned::{BRANCH, LONG, Window, plan, record, task, until_at_work};
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
    // What a task asks is a card like any other, and the plan shows which task waits.
    bot.hear("sweep-1 asks for approval")?;
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

/// It is asked once, and a reply to the card is the answer.
#[test]
fn what_a_task_asks_is_its_card_alone() -> Outcome {
    let bot = BotHouse::new()?;
    plan(&bot.house, &[task("q", "question Which? ;; write q.txt a", &[], None)])?;
    bot.ask("/plan execute", "Tidy up")?;
    let card = bot.hear("q-1 asks\nWhich?")?;
    let reply = json!({"reply_to_message": {"message_id": card.id}});
    bot.api.say_with(ME, ME, "the blue one", &reply);
    bot.hear("All tasks are done")?;
    bot.hear("Answered: the blue one, by you")?;
    assert_eq!((bot.count("q-1 asks"), bot.count("No active session")), (1, 0));
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
    // It has ended at the question, which nobody answers in a pipe; the plan went on without it.
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(1), "{said}{beside}");
    Ok(())
}

/// What an agent proposes is approved as it was shown, and no other way.
#[test]
fn a_task_that_is_proposed_is_a_card_with_its_answers() -> Outcome {
    let bot = BotHouse::new()?;
    plan(&bot.house, &[task("dust", LONG, &[], None)])?;
    bot.ask("/plan execute", "Tidy up")?;
    until_at_work(&bot.house, "dust-1")?;
    let proposes = |id: &str, prompt: &str| {
        bot.house.ok(&["plan", "add", id, "--prompt", prompt, "--propose"]).map(drop)
    };
    proposes("wax", "write wax.txt b")?;
    let card = bot.hear("An agent proposes the task wax\nwrite wax.txt b")?;
    let labels = card.buttons.iter().map(|(label, _)| label.as_str());
    assert_eq!(labels.collect::<Vec<_>>(), ["Approve wax", "Decline wax"]);
    bot.house.ok(&["plan", "edit", "wax", "--prompt", "write other.txt b"])?;
    bot.press("Approve wax")?;
    bot.hear("wax is not proposed like this any more: /plan shows it.")?;
    bot.ask("/plan decline wax", "wax is no longer in the plan.")?;
    proposes("air", "write air.txt c")?;
    bot.hear("An agent proposes the task air\nwrite air.txt c")?;
    bot.press("Approve air")?;
    bot.hear("air is approved.")?;
    let plan = bot.house.json(&["plan", "show"])?;
    let tasks = plan["tasks"].as_array().ok_or("no tasks")?;
    let tasks = tasks.iter().map(|task| (task["id"].as_str(), task["proposed"] == true));
    assert_eq!(tasks.collect::<Vec<_>>(), [(Some("dust"), false), (Some("air"), false)]);
    proposes("long", &"x".repeat(2000))?;
    let card = bot.hear("That is not all of it")?;
    assert_eq!(card.buttons.len(), 1, "what was not read whole is not approved: {card:?}");
    assert_eq!(bot.count("proposes the task air"), 1);
    Ok(())
}
