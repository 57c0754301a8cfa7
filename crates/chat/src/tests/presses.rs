//! What is pressed and typed for a session that is not the current one, or that was meant long ago.

use super::stories::{calm, hear};
use super::{USERS, pass};
use crate::bot::{Course, Late, Line};

const ME: i64 = USERS[0];

/// A pause is for the session whose words it answers, and says which one that is.
#[test]
fn an_answer_about_another_session_names_it() {
    let mut world = calm();
    world.house.say(0);
    world.news();
    world.send(100);
    let said = world.network.message(ME, "<final");
    hear(&mut world, "/switch s1");
    world.reply((ME, ME), said, "/pause");
    world.deliver();
    world.send(100);
    let told = world.network.words_of(ME).pop().unwrap();
    assert!(told.starts_with("Session s0 paused. /switch s0, then"), "{told}");
    hear(&mut world, "/pause");
    let told = world.network.words_of(ME).pop().unwrap();
    assert!(told.starts_with("Session paused."), "{told}");
}

/// With everything paused no message wakes a session.
#[test]
fn a_session_is_not_said_to_resume_while_everything_is_paused() {
    let mut world = calm();
    world.house.shut();
    hear(&mut world, "words for later");
    assert_eq!(world.house.sent(), ["words for later"]);
    let said = world.network.words_of(ME).join("\n");
    assert!(!said.contains("Resuming session"), "{said}");
}

/// What ends something is not done long after it was pressed, unless it is still meant.
#[test]
fn a_press_that_ends_something_is_offered_if_it_comes_late() {
    let mut world = calm();
    hear(&mut world, "/archive");
    world.press_label(ME, "Archive");
    pass(8 * 3_600_000);
    world.alive(|world, bot| {
        let updates = world.network.pending(bot.offset().unwrap());
        for fresh in bot.take_in(&updates, Late::After(600_000)).unwrap() {
            bot.deal_with(&fresh).unwrap();
        }
    });
    world.send(100);
    assert_eq!(world.house.archived(), 0);
    let said = world.network.words_of(ME).pop().unwrap();
    assert!(said.contains("was not carried out:\nArchive\nIt is for s0."), "{said}");
    world.press_label(ME, "Do it now");
    world.deliver();
    assert_eq!(world.house.archived(), 1);
}

/// An answer that is pressed before a session is put away gets there before that.
#[test]
fn what_is_pressed_for_a_session_keeps_its_order() {
    let mut world = calm();
    world.house.ask(0);
    world.news();
    world.send(100);
    hear(&mut world, "/archive");
    world.press_label(ME, "Allow once");
    world.press_label(ME, "Archive");
    world.alive(|world, bot| {
        let updates = world.network.pending(bot.offset().unwrap());
        let fresh = bot.take_in(&updates, Late::Never).unwrap();
        let courses: Vec<_> = fresh.iter().map(|fresh| bot.course(fresh).unwrap()).collect();
        let in_line = Some(Course::InTurn(Line::Session("id-s0".to_owned())));
        assert_eq!(courses, [in_line.clone(), in_line]);
    });
}
