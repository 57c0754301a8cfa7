//! Idle suspension: when a session's time begins, what ends it, and what keeps a session awake.

use crate::script::{Kind, check};
use crate::table::{BUSY, IDLE};
use glis_core::event::Spot;
use glis_core::input::{Checked, Command, Hearing, Outcome, Sign, Use};
use glis_core::rule::Rule;
use glis_core::session::{Process, StopCause};
use glis_core::{Effect, House, Input, OpId, Refusal, Session, SessionId, Status};

/// A command at its prompt.
const AT_PROMPT: &str = "new\nmade\nchecked\nstarted\nscreen prompt";

#[test]
fn an_idle_session_is_suspended_when_its_time_is_over() {
    let stage = check(
        Kind::Agent,
        "new\nmade\nchecked\nstarted
        tell idle time
        ready => became ready | do await idle time
        idle time over => do check idle
        unused => stop began | do stop quietly, drop idle time | pending
        ended => process ended, suspended | do save after the end
        kept after end => worktree saved
        send hello => message queued, start began | do check start | queued while suspended
        checked\nstarted
        ready => became ready, start ended, delivery began | do deliver hello",
    );
    assert_eq!(stage.unwrap().session().unwrap().status(), Status::Busy);
}

#[test]
fn it_stays_as_old_as_it_is() {
    let idle = check(Kind::Agent, IDLE).unwrap().session().unwrap().times.last_active_at;
    let story = format!("{IDLE}\nidle time over\nunused\nended\nkept after end");
    let stage = check(Kind::Agent, &story).unwrap();
    let session = stage.session().unwrap();
    assert_eq!((session.status(), &session.course.rule), (Status::Suspended, &Rule::Idled));
    assert_eq!(session.times.last_active_at, idle, "that it was suspended is no activity");
    let stopped = check(Kind::Agent, &format!("{IDLE}\nstop\nended")).unwrap();
    assert_ne!(stopped.session().unwrap().times.last_active_at, idle, "that a user stopped it is");
}

#[test]
fn what_was_cut_off_is_idle_and_has_no_time_until_it_is_told_something() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{BUSY}
            pause force\ncaptured\nsaved\nended\nsaved
            resume\nchecked\nstarted
            tell idle time
            ready => became ready, start ended
            send on => message queued, delivery began | do deliver on with the note | queued while idle
            took => message taken
            turn began => turn began
            turn ended => turn ended | do save after the turn, await idle time"
        ),
    )
    .unwrap();
}

#[test]
fn a_turn_takes_its_time_away_and_gives_all_of_it_back() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            turn began => turn began | do drop idle time
            idle time over => nothing
            turn ended => turn ended | do save after the turn, await idle time
            idle time over before => nothing
            idle time over => do check idle"
        ),
    )
    .unwrap();
}

#[test]
fn a_message_before_the_stop_goes_to_the_living_process() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            idle time over => do check idle
            send hello => message queued, delivery began | do deliver hello, drop idle time | queued while idle
            unused => nothing
            took => message taken
            turn began => turn began
            turn ended => turn ended | do save after the turn, await idle time
            unused before => nothing"
        ),
    )
    .unwrap();
}

#[test]
fn a_message_after_the_stop_wakes_the_session() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            idle time over => do check idle
            unused => stop began | do stop quietly | pending
            send hello => message queued | queued while idle
            ended => process ended, suspended, start began | do save after the end, check start
            checked\nstarted
            ready => became ready, start ended, delivery began | do deliver hello
            took => message taken"
        ),
    )
    .unwrap();
}

#[test]
fn what_keeps_it_awake_gives_it_its_time_again() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            idle time over => do check idle
            used => do await idle time
            idle time over => do check idle
            unused => stop began | do stop quietly, drop idle time | pending"
        ),
    )
    .unwrap();
}

#[test]
fn a_question_background_work_or_a_save_that_a_caller_waits_for_keeps_it_awake() {
    for (begins, ends) in [("asks go", "unasks go"), ("background 1", "background 0")] {
        check(
            Kind::Agent,
            &format!(
                "{IDLE}
                tell idle time
                idle time over => do check idle
                {begins}
                unused => nothing
                idle time over => nothing
                {ends}
                unused before => nothing
                idle time over => do check idle"
            ),
        )
        .unwrap();
    }
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            snapshot => save began | do save | pending
            idle time over => do await idle time
            unused => do await idle time"
        ),
    )
    .unwrap();
}

#[test]
fn another_time_begins_anew() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            timeout 20 => idle limit set | do drop idle time, await idle time of 1200 s
            idle time over before => nothing
            timeout never => idle limit set | do drop idle time
            idle time over => nothing
            timeout usual => idle limit set | do await idle time
            timeout 0 => refused: idle limit out of range
            timeout 121 => refused: idle limit out of range
            timeout 1 => idle limit set | do drop idle time, await idle time of 60 s
            timeout 120 => idle limit set | do drop idle time, await idle time of 7200 s"
        ),
    )
    .unwrap();
}

#[test]
fn a_command_has_a_time_only_if_one_was_given() {
    check(
        Kind::Command,
        &format!(
            "{AT_PROMPT}
            tell idle time
            screen flowing => screen judged
            screen prompt => screen judged | do save after the turn
            timeout 10 => idle limit set | do await idle time of 600 s
            screen flowing => screen judged | do drop idle time
            screen silent => screen judged | do save after the turn
            screen prompt => screen judged | do save after the turn, await idle time of 600 s
            idle time over => do check idle
            unused => stop began | do stop quietly, drop idle time | pending
            ended => process ended, suspended | do save after the end"
        ),
    )
    .unwrap();
}

/// It stands at its prompt until the words have got there.
#[test]
fn a_message_on_its_way_to_a_command_keeps_it_awake() {
    check(
        Kind::Command,
        &format!(
            "{AT_PROMPT}
            tell idle time
            timeout 10 => idle limit set | do await idle time of 600 s
            send hello => message queued, delivery began | do deliver hello, drop idle time | queued while idle
            idle time over => nothing
            unused => nothing
            memory short => nothing"
        ),
    )
    .unwrap();
}

/// What is being ended for another reason is not suspended as well.
#[test]
fn an_agent_that_has_rejected_its_conversation_has_no_time() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            rejects => ref rejected | do kill, drop idle time
            idle time over => nothing
            memory short => nothing"
        ),
    )
    .unwrap();
}

#[test]
fn an_agent_whose_conversation_has_no_name_yet_is_not_suspended() {
    check(
        Kind::Learner,
        "new
        made
        send hello
        checked\nstarted
        tell idle time
        ready => became ready, delivery began | do deliver hello
        took => message taken
        turn began => turn began
        turn ended => turn ended | do save after the turn
        timeout 10 => idle limit set
        told ref-7 => agent ref learned | do await idle time of 600 s",
    )
    .unwrap();
}

#[test]
fn a_daemon_that_begins_gives_what_is_idle_its_time_again() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            crash
            found alive => do await idle time
            idle time over => do check idle
            unused => stop began | do stop quietly, drop idle time | pending
            crash
            found alive => do stop quietly
            ended => process ended, suspended | do save after the end"
        ),
    )
    .unwrap();
}

#[test]
fn memory_that_runs_short_ends_what_is_idle_and_nothing_else() {
    let stage = check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            memory short => do check idle for memory
            used for memory => nothing
            memory short => do check idle for memory
            turn began => turn began | do drop idle time
            unused for memory => nothing
            memory short => nothing
            turn ended
            snapshot
            memory short => nothing
            kept for 1
            memory short => do check idle for memory
            unused for memory => stop began | do stop quietly, drop idle time | pending
            memory short => nothing
            ended => process ended, suspended | do save after the end
            memory short => nothing"
        ),
    );
    let stage = stage.unwrap();
    let session = stage.session().unwrap();
    assert_eq!((session.status(), &session.course.rule), (Status::Suspended, &Rule::MadeRoom));
}

/// A house with agents that are idle, each since a moment later than the one before.
fn idle_house(names: &[&str]) -> Result<House, Refusal> {
    let mut house = House::default();
    let mut at = 0;
    let mut feed = |house: &mut House, input: Input| {
        at += 1;
        for (subject, event) in house.decide(input)?.events {
            house.record(at, subject, event, None);
        }
        Ok(())
    };
    for name in names {
        let id = SessionId((*name).to_owned());
        let spec = Box::new(Kind::Agent.spec());
        let agent_ref = Some(format!("ref-{name}"));
        let new = Command::New { id: id.clone(), name: (*name).to_owned(), spec, agent_ref };
        feed(&mut house, Input::Command(new))?;
        let op = house.session(&id).and_then(Session::operation).map_or(OpId(0), |(op, _)| op);
        let process = Process { pid: 7, start_ticks: 1, boot_id: "b".to_owned() };
        let (worktree, branch, notes) = (format!("/{name}"), None, Vec::new());
        for outcome in [
            Outcome::WorktreeMade { op, worktree, branch, notes },
            Outcome::StartChecked { op, result: Ok(Checked::default()) },
            Outcome::ProcessStarted { op, generation: 1, process, began_at: 0 },
        ] {
            feed(&mut house, Input::Outcome { session: id.clone(), outcome })?;
        }
        let (spot, hearing, sign) = (Spot::Stream(1), Hearing::Live, Sign::Ready);
        feed(&mut house, Input::Sign { session: id, generation: 1, spot, hearing, sign })?;
    }
    Ok(house)
}

/// The sessions that are looked at for their memory.
fn looked_at(house: &House, input: Input) -> Result<Vec<String>, Refusal> {
    let decision = house.decide(input)?;
    let look =
        |effect: &Effect| matches!(effect, Effect::CheckIdle { cause: StopCause::Memory, .. });
    let looked_at = decision.effects.iter().filter(|(_, effect)| look(effect));
    Ok(looked_at.map(|(subject, _)| subject.to_string()).collect())
}

#[test]
fn the_longest_idle_is_looked_at_first_and_the_next_if_that_one_is_in_use() {
    let house = idle_house(&["b", "a", "c"]).unwrap();
    assert_eq!(looked_at(&house, Input::MemoryShort).unwrap(), ["b"]);
    let in_use = |name: &str| {
        let session = SessionId(name.to_owned());
        let spell = house.session(&session).unwrap().idle_spell().unwrap();
        let (cause, usage) = (StopCause::Memory, Use::InUse);
        let outcome = Outcome::UseChecked { spell, cause, usage };
        looked_at(&house, Input::Outcome { session, outcome }).unwrap()
    };
    assert_eq!(in_use("b"), ["a"]);
    assert_eq!(in_use("a"), ["c"]);
    assert_eq!(in_use("c"), Vec::<String>::new());
}

/// What the first gives back may be enough, also where a second one was looked at meanwhile.
#[test]
fn one_goes_at_a_time() {
    let mut house = idle_house(&["a", "b", "c"]).unwrap();
    let unused = |house: &House, name: &str| {
        let session = SessionId(name.to_owned());
        let spell = house.session(&session).unwrap().idle_spell().unwrap();
        let (cause, usage) = (StopCause::Memory, Use::Free);
        let outcome = Outcome::UseChecked { spell, cause, usage };
        Input::Outcome { session, outcome }
    };
    for (subject, event) in house.decide(unused(&house, "a")).unwrap().events {
        house.record(100, subject, event, None);
    }
    let going = house.session(&SessionId("a".to_owned())).unwrap();
    assert_eq!(going.idle_spell(), None, "it is being suspended");
    let second = house.decide(unused(&house, "b")).unwrap();
    assert_eq!((second.events, second.effects), (Vec::new(), Vec::new()));
    assert_eq!(looked_at(&house, Input::MemoryShort).unwrap(), Vec::<String>::new());
}
