//! Budgets: told towards their end, asked about at it.

use crate::script::{Kind, Stage, check};
use crate::table::{BUSY, IDLE, PAUSED};
use glis_core::input::Outcome;
use glis_core::limits::Limits;
use glis_core::pause::PauseReason;
use glis_core::{Command, Input, TimerKey};

/// What a line of a story about budgets means.
pub(crate) fn input(verb: &str, rest: &str) -> Option<Input> {
    let session = Stage::id();
    Some(match verb {
        "budget" => {
            let budget = rest.parse().ok().map(Box::new);
            Input::Command(Command::SetBudget { session, budget, cost_micros: 0, tokens: 0 })
        }
        "uses" => {
            let (cost_micros, tokens) = amounts(rest);
            Input::Outcome { session, outcome: Outcome::Used { cost_micros, tokens } }
        }
        "worked" => {
            let key = TimerKey::Work { warned: rest == "all its time" };
            Input::TimerFired { subject: session.into(), key }
        }
        "today" => Input::Limits(Limits { day: rest.parse().ok()?, ..Limits::default() }),
        "used-on" => {
            let (date, used) = rest.split_once(' ')?;
            let (cost_micros, tokens) = amounts(used);
            Input::DayUsed { date: date.to_owned(), cost_micros, tokens }
        }
        _ => return None,
    })
}

/// Millionths of a dollar, and tokens if there is a second number.
fn amounts(told: &str) -> (u64, u64) {
    let (money, tokens) = told.split_once(' ').unwrap_or((told, "0"));
    (money.parse().unwrap_or_default(), tokens.parse().unwrap_or_default())
}

fn played(story: &str) -> Result<Stage, String> {
    check(Kind::Agent, story)
}

/// Behind a pause that has begun, to its end.
const STOPPED: &str = "savable\nturn ended\ncaptured\nsaved\nended\nsaved";

fn reason(stage: &Stage) -> Option<PauseReason> {
    Some(stage.session()?.pause_record()?.reason)
}

fn question(stage: &Stage) -> Option<String> {
    stage.session()?.asks().first().map(|ask| ask.text.clone())
}

#[test]
fn it_is_told_towards_the_end_and_asked_at_it() {
    let spent = format!(
        "{IDLE}
        budget usd=1 => budget set
        {BUSY}
        uses 700000 90 => budget used
        uses 700000 90 => nothing
        uses 810000 95 => budget used, budget warned
        uses 900000 99 => budget used
        uses 1020000 99 => budget used, budget reached, pause began | do check save
        {STOPPED}"
    );
    let stage = played(&spent).unwrap();
    assert_eq!(reason(&stage), Some(PauseReason::Budget));
    let asked = question(&stage).unwrap();
    assert_eq!(asked, "The budget is used up ($1.02 of $1). Grant as much again?");

    let left = played(&format!("{spent}\nanswer leave => pause taken over")).unwrap();
    assert_eq!((reason(&left), question(&left)), (Some(PauseReason::User), None));
    played(&format!("{spent}\nanswer perhaps => refused: not a choice")).unwrap();

    let again = format!("{spent}\nanswer grant\nchecked\nstarted\nready");
    let again = format!(
        "{again}\nuses 1500000 120 => budget used\nuses 1830000 130 => budget used, budget warned"
    );
    assert_eq!(question(&played(&again).unwrap()), None);
    let more = "uses 2020000 140 => budget used, budget reached, pause began | do check save";
    played(&format!("{again}\nturn began\n{more}")).unwrap();
}

#[test]
fn a_resume_grants_as_much_again_and_so_does_who_calls_the_pause_off() {
    let spent = format!("{IDLE}\nbudget tokens=100\n{BUSY}\nuses 0 100");
    played(&format!(
        "{spent}\n{STOPPED}
        resume => budget granted, start began | do check start | pending
        checked\nstarted\nready\n{BUSY}
        uses 0 150 => budget used
        uses 0 181 => budget used, budget warned"
    ))
    .unwrap();
    let stage = played(&format!("{spent}\ncancel\nuses 0 150 => budget used")).unwrap();
    assert!(stage.session().unwrap().runs());
}

#[test]
fn another_budget_counts_from_then_on() {
    played(&format!(
        "{IDLE}\nbudget tokens=100\n{BUSY}
        uses 0 90 => budget used, budget warned
        budget tokens=100 => already
        budget off => budget set
        uses 0 900 => nothing
        budget tokens=50 => budget set
        uses 0 45 => budget used, budget warned"
    ))
    .unwrap();
}

#[test]
fn only_time_at_work_counts() {
    let time = format!(
        "{IDLE}
        budget time=100s => budget set
        {BUSY} => turn began | do limit its work to 80 s
        worked all its time => nothing
        worked most of its time => budget warned | do its work rests, limit its work to 100 s"
    );
    played(&format!("{time}\nturn ended")).unwrap();
    let up = "worked all its time => budget reached, pause began | do check save, its work rests";
    let stage = played(&format!("{time}\n{up}\n{STOPPED}")).unwrap();
    let asked = question(&stage).unwrap();
    assert!(asked.contains("1m at work"), "{asked}");
}

#[test]
fn a_day_that_is_used_up_stops_who_works_and_who_begins() {
    let day = "today usd=10
        used-on friday 8100000 => budget began, budget used, budget warned
        used-on friday 8100000 => nothing";
    let stage = played(&format!(
        "{IDLE}\n{BUSY}\n{day}
        used-on friday 10100000 => budget used, budget reached, budget reached, pause began | do check save
        {STOPPED}"
    ))
    .unwrap();
    assert_eq!(reason(&stage), Some(PauseReason::Budget));
    assert!(question(&stage).unwrap().contains("today: $10.10 of $10"));

    let late = format!("{IDLE}\n{day}\nused-on friday 10100000 => budget used, budget reached");
    let stopped = "turn began => turn began, budget reached, pause began | do check save";
    played(&format!("{late}\n{stopped}")).unwrap();
    let granted =
        "resume => budget granted, budget granted, start began | do check start | pending";
    let back = format!("{late}\n{stopped}\n{STOPPED}\n{granted}\nchecked\nstarted\nready");
    played(&format!("{back}\nturn began => turn began")).unwrap();
    played(&format!(
        "{late}\nused-on saturday 20 => budget began, budget used\nturn began => turn began"
    ))
    .unwrap();
}

#[test]
fn what_was_paused_by_a_person_stays_so() {
    let stage = played(&format!("{IDLE}\nbudget usd=1\n{PAUSED}\nuses 2000000")).unwrap();
    assert_eq!((reason(&stage), question(&stage)), (Some(PauseReason::User), None));
}
