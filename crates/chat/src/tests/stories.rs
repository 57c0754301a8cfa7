//! Short stories that need a clock which is moved by hand.

use super::{GROUP, USERS, World, now, pass};
use crate::bot::{Bot, Late};
use crate::send::{Sender, Step};
use std::sync::Arc;

const ME: i64 = USERS[0];

/// A world in which nothing goes wrong and the user has a session.
pub(super) fn calm() -> World {
    let mut world = World::new(1);
    world.house.be_well();
    world.network.be_well();
    hear(&mut world, "/switch s0");
    world
}

/// Who sends to the user.
fn sender<'b>(bot: &'b Bot, world: &'b World) -> Sender<'b> {
    Sender::new((bot, &*world.network), (ME, &Arc::default())).unwrap()
}

/// The user has a session in the group as well, and it asks something.
pub(super) fn asked_in_group() -> World {
    let mut world = calm();
    world.exactly(ME, GROUP, "/switch s0");
    world.house.ask(0);
    world.deliver();
    world.news();
    world.send(100);
    world
}

/// The user says something, and everything that follows from it is sent.
pub(super) fn hear(world: &mut World, text: &str) {
    world.exactly(ME, ME, text);
    world.deliver();
    world.news();
    world.send(100);
}

#[test]
fn what_comes_late_after_an_outage_is_offered_and_not_done() {
    let mut world = calm();
    world.exactly(ME, ME, "words from yesterday");
    world.exactly(ME, ME, "/status");
    // Eight hours without network.
    pass(8 * 3_600_000);
    world.alive(|world, bot| {
        let updates = world.network.pending(bot.offset().unwrap());
        for fresh in bot.take_in(&updates, Late::After(600_000)).unwrap() {
            bot.deal_with(&fresh).unwrap();
        }
    });
    world.send(100);
    assert_eq!(world.house.sent(), Vec::<String>::new());
    let said = world.network.words_of(ME).join("\n");
    assert!(
        said.contains("480 minutes late and was not carried out:\nwords from yesterday"),
        "{said}"
    );
    assert!(said.contains("s0 \u{b7} claude"), "a look does no harm: {said}");
    // It stays for the session that it was for, and says so.
    assert!(said.contains("It is for s0."), "{said}");
    hear(&mut world, "/switch s1");
    let (offer, _) = world.network.button(ME, "Do it now").unwrap();
    assert!(!world.network.is_bare(ME, offer));
    world.press_label(ME, "Do it now");
    world.deliver();
    world.send(100);
    assert_eq!(world.house.sent(), ["words from yesterday"]);
    assert_eq!(world.house.told_last(), Some(0));
    assert!(world.network.is_bare(ME, offer), "its buttons are used");
    // Pressed again, it is not done again.
    world.press_label(ME, "Do it now");
    world.deliver();
    assert_eq!(world.house.sent().len(), 1);
}

/// A clock that jumps is no outage: the network was listened to all the time.
#[test]
fn a_jump_of_the_clock_makes_nothing_late() {
    let mut world = calm();
    world.exactly(ME, ME, "words of now");
    pass(24 * 3_600_000);
    world.deliver();
    assert_eq!(world.house.sent(), ["words of now"]);
}

#[test]
fn a_ban_of_five_minutes_holds_everything_and_loses_nothing() {
    let mut world = calm();
    pass(10_000);
    world.network.ban_next(300);
    world.house.say(0);
    world.news();
    let banned = now();
    world.send(2);
    for _ in 0..8 {
        world.house.say(0);
    }
    world.house.ask(0);
    world.news();
    let before = world.network.words_of(ME).len();
    // Killed in the middle of it, the next process knows of the ban.
    while now() < banned + 299_000 {
        world.send(1);
        assert_eq!(world.network.words_of(ME).len(), before);
    }
    world.send(50);
    assert!(now() < banned + 302_000, "{} ms after it began", now() - banned);
    assert_eq!(world.network.early(), 0);
    let bot = world.bot.as_ref().unwrap();
    assert_eq!(world.house.check(&world.network, bot, 1).0, 9);
}

/// In the middle of a stream, of a final text and of an approval, for no time, for long and for very long.
#[test]
fn a_ban_at_any_step_is_obeyed_and_loses_nothing() {
    for secs in [0, 30, 6775] {
        for step in 0..3 {
            let mut world = calm();
            pass(10_000);
            world.house.work(0);
            if step == 0 {
                world.network.ban_next(secs);
            }
            world.news();
            world.look_on();
            world.send(1);
            if step == 1 {
                world.network.ban_next(secs);
            }
            let began = now();
            world.house.say(0);
            world.news();
            world.send(1);
            if step == 2 {
                world.network.ban_next(secs);
            }
            world.house.ask(0);
            world.news();
            while now() < began + secs * 1000 {
                world.send(1);
            }
            world.send(100);
            assert!(now() < began + secs * 1000 + 20_000, "{secs} s at step {step}");
            let bot = world.bot.as_ref().unwrap();
            assert_eq!(world.house.check(&world.network, bot, 1).0, 1, "{secs} s at step {step}");
            let said = world.network.words_of(ME).join("\n");
            assert!(said.contains("asks for approval"), "{secs} s at step {step}: {said}");
        }
    }
}

#[test]
fn an_idle_bot_does_nothing() {
    let mut world = calm();
    let bot = world.bot.take().unwrap();
    let mut sender = sender(&bot, &world);
    assert_eq!(sender.step().unwrap(), Step::Idle);
}

#[test]
fn a_button_of_one_user_is_not_anothers() {
    let mut world = asked_in_group();
    // In the group the question is for the one who has the session there.
    world.press_label_as(USERS[1], GROUP, "Allow once");
    world.deliver();
    assert_eq!(world.house.answered(), 0);
    world.press_label(GROUP, "Allow once");
    world.deliver();
    assert_eq!(world.house.answered(), 1);
}

/// What buttons do is done side by side, and may end in another order than it began.
#[test]
fn of_two_buttons_of_a_card_the_first_one_pressed_counts() {
    let mut world = calm();
    world.house.ask(0);
    world.news();
    world.send(100);
    world.press_label(ME, "Allow once");
    world.press_label(ME, "Deny");
    world.alive(|world, bot| {
        let updates = world.network.pending(bot.offset().unwrap());
        let fresh = bot.take_in(&updates, Late::Never).unwrap();
        for one in &fresh {
            bot.course(one).unwrap();
        }
        for one in fresh.iter().rev() {
            bot.deal_with(one).unwrap();
        }
    });
    world.news();
    world.send(100);
    let said = world.network.words_of(ME).join("\n");
    assert!(said.contains("Allowed once") && !said.contains("Denied"), "{said}");
}

/// A file that the network does not give is told of, and comes by a button; what is lost for a moment comes by
/// itself.
#[test]
fn a_file_is_fetched_again_or_told_of() {
    let mut world = calm();
    let play = |world: &mut World| {
        world.deliver();
        world.send(100);
    };
    world.network.lose_files(2);
    world.file(ME, "document");
    play(&mut world);
    assert_eq!(world.house.sent().len(), 1);
    world.network.lose_files(3);
    world.file(ME, "photo");
    play(&mut world);
    let said = world.network.words_of(ME).join("\n");
    assert!(
        said.contains("The file was not fetched") && said.contains("Nothing was sent"),
        "{said}"
    );
    assert_eq!(world.house.sent().len(), 1);
    world.press_label(ME, "Try again");
    play(&mut world);
    world.file(ME, "voice");
    play(&mut world);
    let sent = world.house.sent();
    assert_eq!(sent.len(), 3, "{sent:?}");
    assert!(sent[2].starts_with("content of"), "{sent:?}");
    let said = world.network.words_of(ME).join("\n");
    assert!(said.contains("Heard: content of"), "{said}");
    let left = std::fs::read_dir(world.folder.path().join("chat-files")).unwrap().count();
    assert_eq!(left, 0, "what was handed over is not kept");
}

/// After a week without updates a network counts from anywhere.
#[test]
fn a_network_that_counts_from_below_is_heard() {
    let mut world = calm();
    // That nothing comes tells that the network knows of everything.
    world.deliver();
    world.update = 3;
    world.exactly(ME, ME, "words after a week");
    world.deliver();
    assert_eq!(world.house.sent(), ["words after a week"]);
    world.deliver();
    assert!(world.network.is_heard(), "it is asked for without end");
    world.update = 1;
    world.exactly(ME, ME, "and more");
    world.deliver();
    assert_eq!(world.house.sent().len(), 2);
}

/// The token is another bot's: its updates have numbers of their own, nothing of what the first has shown can be
/// edited or pressed, and people choose their sessions anew.
#[test]
fn another_bot_begins_anew() {
    let mut world = calm();
    world.alive(|_, bot| bot.begin().unwrap());
    world.house.ask(0);
    world.news();
    world.exactly(ME, ME, "first");
    world.deliver();
    world.send(100);
    let first = world.bot.take().unwrap().into_store();
    let mut other = world.begin(first);
    other.rename(2);
    other.begin().unwrap();
    world.bot = Some(other);
    world.network.forget_updates();
    let asked = world.network.message(ME, "may I");
    world.update = 101;
    hear(&mut world, "second");
    assert_eq!(world.house.sent(), ["first"]);
    let said = world.network.words_of(ME).join("\n");
    assert!(said.contains("No active session"), "{said}");
    hear(&mut world, "/switch s0");
    assert_ne!(world.network.message(ME, "may I"), asked, "it is asked by this one as well");
    hear(&mut world, "third");
    assert_eq!(world.house.sent(), ["first", "third"]);
    world.press_label(ME, "Allow once");
    world.deliver();
    assert_eq!(world.house.answered(), 1);
}

/// In a group a reply counts as a button does: for the one who is asked.
#[test]
fn a_reply_of_another_user_answers_nothing() {
    let mut world = asked_in_group();
    let card = world.network.message(GROUP, "asks for approval");
    world.reply((USERS[1], GROUP), card, "rather not");
    world.deliver();
    world.send(100);
    assert_eq!((world.house.answered(), world.house.sent().len()), (0, 0));
    let said = world.network.words_of(GROUP).join("\n");
    assert!(said.contains("This question is for another user."), "{said}");
    // Who makes it the current session is asked too, and may answer.
    world.exactly(USERS[1], GROUP, "/switch s0");
    world.deliver();
    world.send(100);
    let again = world.network.message(GROUP, "Reply to this message");
    assert_ne!(again, card);
    world.reply((USERS[1], GROUP), again, "rather not");
    world.deliver();
    assert_eq!(world.house.answered(), 1);
}

/// What is asked may be far up: who switches to its session sees it again, and the old card says so.
#[test]
fn what_is_asked_is_shown_again_to_whom_switches_there() {
    let mut world = calm();
    world.house.ask(0);
    world.news();
    world.send(100);
    let first = world.network.message(ME, "asks for approval");
    hear(&mut world, "/switch s1");
    hear(&mut world, "/switch s0");
    let again = world.network.message(ME, "Reply to this message to deny it");
    assert_ne!(first, again);
    let old = world.network.card_text(ME, first);
    assert!(old.contains("Shown again below") && !old.contains("Reply to"), "{old}");
    // A press on it counts for nothing, and leaves the new one as it is.
    let (_, pressed) = world.network.buttons(ME, "Deny").into_iter().next().unwrap();
    world.press_data(ME, first, &pressed);
    world.deliver();
    assert_eq!(world.house.answered(), 0);
    // A reply to the first is still an answer to the question that it shows.
    world.reply((ME, ME), first, "rather not");
    world.deliver();
    world.news();
    world.send(100);
    assert_eq!((world.house.answered(), world.house.sent().len()), (1, 0));
    for message in [first, again] {
        let card = world.network.card_text(ME, message);
        assert!(card.contains("Denied") && !card.contains("Reply to"), "{card}");
    }
}

/// What an agent says before it asks comes before its question.
#[test]
fn words_that_explain_a_question_come_before_it() {
    let mut world = calm();
    pass(10_000);
    world.house.explain(0, "The cache is stale, so it has to go.");
    world.house.ask(0);
    world.news();
    world.send(100);
    let words = world.network.message(ME, "The cache is stale");
    assert!(words < world.network.message(ME, "asks for approval"));
    // Not before words that wait for longer.
    world.network.ban_next(30);
    world.house.say(0);
    world.news();
    world.send(1);
    world.house.explain(0, "And this as well.");
    world.house.ask(0);
    world.news();
    world.send(100);
    let first = world.network.message(ME, "<final");
    assert!(first <= world.network.message(ME, "And this as well."));
}

/// A tool that runs for minutes is shown once, and for as long as it runs.
#[test]
fn what_goes_on_for_long_stays_to_be_seen_with_its_name() {
    let mut world = calm();
    pass(10_000);
    world.house.work(0);
    world.news();
    world.alive(|world, bot| {
        let mut sender = sender(bot, world);
        for _ in 0..100 {
            bot.look_on().unwrap();
            sender.step().unwrap();
            pass(750);
        }
    });
    let pictures = world.network.take_pictures();
    assert!(pictures.iter().all(|(_, text)| text.ends_with("Bash: ls")), "{pictures:?}");
    assert_eq!((pictures.len(), world.network.previews()), (1, 1), "{pictures:?}");
    hear(&mut world, "/switch s1");
    world.network.take_pictures();
    pass(10_000);
    world.look_on();
    world.send(5);
    let pictures = world.network.take_pictures();
    assert!(pictures.iter().any(|(_, text)| text.starts_with("s0\n")), "{pictures:?}");
}

/// A list of sessions is no question: it can be used again.
#[test]
fn buttons_of_a_list_count_again() {
    let mut world = calm();
    hear(&mut world, "/switch s1");
    hear(&mut world, "/sessions");
    for _ in 0..2 {
        hear(&mut world, "/switch s1");
        world.press_label(ME, "s0");
        world.deliver();
        world.exactly(ME, ME, "words");
        world.deliver();
        let bot = world.bot.as_ref().unwrap();
        assert_eq!(bot.store().look().current(ME).unwrap().as_deref(), Some("id-s0"));
    }
}

/// That an agent does something may be known before it stands in its conversation: then the next look sees it.
#[test]
fn what_is_written_down_late_is_shown_late_and_not_never() {
    let mut world = calm();
    pass(10_000);
    world.house.begin_work(0);
    world.news();
    world.look_on();
    world.house.explain(0, "Looking at it.");
    world.look_on();
    world.send(5);
    let pictures = world.network.take_pictures();
    assert!(pictures.iter().any(|(_, text)| text == "Looking at it."), "{pictures:?}");
}

/// What the network has is written down before anything else is sent, however long there is no room for that.
#[test]
fn a_full_disk_loses_no_number_of_a_message_and_sends_nothing_twice() {
    let mut world = calm();
    pass(10_000);
    world.house.ask(0);
    world.news();
    let before = world.network.words_of(ME).len();
    world.alive(|world, bot| {
        let mut sender = sender(bot, world);
        bot.store().refuse(true);
        for _ in 0..5 {
            assert!(sender.step().is_err());
            pass(5000);
        }
        bot.store().refuse(false);
        while sender.step().unwrap() != Step::Idle {}
    });
    assert_eq!(world.network.words_of(ME).len(), before + 1);
    let card = world.network.message(ME, "asks for approval");
    world.reply((ME, ME), card, "rather not");
    world.deliver();
    assert_eq!((world.house.answered(), world.house.sent().len()), (1, 0));
}

/// A reply to what a session has said is for that session.
#[test]
fn a_reply_is_for_whom_it_answers() {
    let mut world = calm();
    world.house.say(0);
    world.news();
    world.send(100);
    let said = world.network.message(ME, "<final");
    hear(&mut world, "/switch s1");
    world.reply((ME, ME), said, "are you sure?");
    world.deliver();
    assert_eq!(world.house.told_last(), Some(0));
    hear(&mut world, "and you?");
    assert_eq!(world.house.told_last(), Some(1));
}

/// One that is in the middle of something long is seen already, and keeps no other one from being seen.
#[test]
fn a_long_tool_of_one_session_hides_no_other() {
    let mut world = calm();
    hear(&mut world, "/switch s1");
    pass(10_000);
    world.house.work(0);
    world.house.speak(1);
    world.news();
    world.alive(|world, bot| {
        let mut sender = sender(bot, world);
        for _ in 0..20 {
            world.house.speak(1);
            bot.look_on().unwrap();
            sender.step().unwrap();
            pass(1600);
        }
    });
    let pictures = world.network.take_pictures();
    let of_current = pictures.iter().filter(|(_, text)| text.contains("and then")).count();
    assert!(of_current > 10, "{pictures:?}");
}
