//! The many ways to end, and what is known afterwards.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use glis_wire::frame::encode_words;
use glis_wire::hold::{End, ExitRecord, Ladder, Order, Report, place};
use rustix::process::{Pid, Signal, kill_process};

use crate::rig::{Conn, Outcome, Rig};

const SOON: Ladder = Ladder { interrupt_ms: 100, terminate_ms: 100 };
const PATIENT: Ladder = Ladder { interrupt_ms: 60_000, terminate_ms: 60_000 };

fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// A number that the agent has written to a file before it said that it is ready.
fn pid_in(rig: &Rig, name: &str) -> Outcome<i32> {
    Ok(std::fs::read_to_string(Path::new(&rig.launch.cwd).join(name))?.trim().parse()?)
}

fn ready(rig: &mut Rig) -> Outcome<Conn> {
    let mut conn = rig.start()?;
    conn.order(&Order::Follow { from: 0 })?;
    conn.output_until("ready")?;
    Ok(conn)
}

fn find(record: &ExitRecord, pid: i32) -> Outcome<(String, i32)> {
    let killed = record.killed.iter().find(|killed| killed.pid == pid);
    let killed = killed.ok_or_else(|| format!("{pid} is not in {record:?}"))?;
    Ok((killed.command.clone(), killed.signal))
}

#[test]
fn the_exit_status_is_kept() -> Outcome {
    let mut rig = Rig::new("printf 'last words'; exit 41")?;
    rig.birth()?;
    let record = rig.record()?;
    assert_eq!((record.end, record.ordered, record.generation), (End::Exited(41), false, 1));
    assert_eq!(record.log_end, "last words".len() as u64);
    assert_eq!(rig.log()?, b"last words");
    assert_eq!((record.killed.len(), record.stuck.len()), (0, 0));

    let mut rig = Rig::on_pipes("kill -9 $$")?;
    rig.birth()?;
    assert_eq!(rig.record()?.end, End::Signalled(9));
    Ok(())
}

#[test]
fn a_stop_is_gentle_first() -> Outcome {
    let mut rig = Rig::new("trap 'echo bye; exit 5' INT; echo ready; while :; do sleep 1; done")?;
    let mut conn = ready(&mut rig)?;
    conn.order(&Order::Stop(PATIENT))?;
    let record = conn.ended()?;
    assert_eq!((record.end, record.ordered), (End::Exited(5), true));
    assert!(rig.log()?.ends_with(b"bye\r\n"));
    assert_eq!(rig.record()?, record);
    Ok(())
}

#[test]
fn who_ignores_everything_is_killed_in_bounded_time() -> Outcome {
    let script = "trap '' INT TERM HUP; echo ready; while :; do sleep 100; done";
    let mut rig = Rig::new(script)?;
    let mut conn = ready(&mut rig)?;
    let begun = Instant::now();
    conn.order(&Order::Stop(SOON))?;
    let record = conn.ended()?;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!((record.end, record.ordered), (End::Signalled(9), true));
    assert!(record.grace_ms.is_some());
    let [sleep] = &record.killed[..] else { return Err(format!("{record:?}").into()) };
    assert_eq!((sleep.command.as_str(), sleep.signal), ("sleep 100", 9));
    assert_eq!(sleep.cwd.as_deref(), Some(rig.launch.cwd.as_str()));
    assert!(!is_alive(sleep.pid));
    Ok(())
}

#[test]
fn who_says_stop_and_hangs_up_means_it() -> Outcome {
    let mut rig = Rig::new("sleep 100")?;
    rig.birth()?;
    let mut stream = std::os::unix::net::UnixStream::connect(rig.dir().join(place::SOCKET))?;
    stream.write_all(&encode_words(&Order::Stop(SOON)))?;
    drop(stream);
    assert!(rig.record()?.ordered);
    Ok(())
}

#[test]
fn a_second_stop_hurries_the_first() -> Outcome {
    let mut rig = Rig::new("trap '' INT TERM; echo ready; while :; do sleep 100; done")?;
    let mut conn = ready(&mut rig)?;
    conn.order(&Order::Stop(PATIENT))?;
    conn.order(&Order::Stop(Ladder { interrupt_ms: 0, terminate_ms: 0 }))?;
    assert_eq!(conn.ended()?.end, End::Signalled(9));
    Ok(())
}

#[test]
fn a_stopped_agent_is_woken_to_be_ended() -> Outcome {
    let mut rig = Rig::new("trap 'exit 6' TERM; echo ready; kill -STOP $$; sleep 100")?;
    let mut conn = ready(&mut rig)?;
    conn.order(&Order::Stop(Ladder { interrupt_ms: 0, terminate_ms: 60_000 }))?;
    assert_eq!(conn.ended()?.end, End::Exited(6));
    Ok(())
}

#[test]
fn an_agent_that_runs_is_not_told_to_go_on() -> Outcome {
    let mut rig = Rig::new(
        "trap 'echo drawn anew' CONT; trap 'end=1' TERM; echo ready; \
         while test -z \"$end\"; do sleep 0.05; done; sleep 0.2; echo bye",
    )?;
    let mut conn = ready(&mut rig)?;
    conn.order(&Order::Stop(Ladder { interrupt_ms: 0, terminate_ms: 60_000 }))?;
    assert_eq!(conn.ended()?.end, End::Exited(0));
    let said = String::from_utf8(rig.log()?)?;
    assert!(said.contains("bye") && !said.contains("drawn anew"), "{said}");
    Ok(())
}

#[test]
fn whoever_escapes_into_a_session_of_his_own_is_ended_and_listed() -> Outcome {
    let mut rig = Rig::new(
        "setsid sh -c 'trap \"\" HUP; echo $$ > one; exec sleep 101' & \
         setsid sh -c 'trap \"\" TERM HUP; echo $$ > two; while :; do sleep 102; done' & \
         (setsid env -i sleep 103 & echo $! > three); \
         while ! test -s one || ! test -s two || ! test -s three; do :; done; \
         trap 'exit 0' INT; echo ready; while :; do sleep 1; done",
    )?;
    let mut conn = ready(&mut rig)?;
    conn.order(&Order::Stop(PATIENT))?;
    let record = conn.ended()?;
    assert_eq!(record.end, End::Exited(0));
    let (one, two, three) = (pid_in(&rig, "one")?, pid_in(&rig, "two")?, pid_in(&rig, "three")?);
    assert_eq!(find(&record, one)?, ("sleep 101".to_owned(), 15));
    assert_eq!(find(&record, two)?.1, 9);
    assert!(find(&record, three)?.0.contains("103"));
    assert!(![one, two, three].into_iter().any(is_alive), "{record:?}");
    assert!(record.stuck.is_empty());
    Ok(())
}

#[test]
fn an_agent_that_ends_by_itself_leaves_nobody_behind() -> Outcome {
    let mut rig = Rig::on_pipes(
        "setsid sh -c 'echo $$ > left; exec sleep 104' > /dev/null 2>&1 & \
         while ! test -s left; do :; done; exit 9",
    )?;
    rig.birth()?;
    let record = rig.record()?;
    let left = pid_in(&rig, "left")?;
    assert_eq!((record.end, record.ordered), (End::Exited(9), false));
    assert_eq!(find(&record, left)?.1, 15);
    assert!(!is_alive(left));
    Ok(())
}

#[test]
fn a_stranger_is_never_touched() -> Outcome {
    let mut stranger = std::process::Command::new("sleep").arg("105").spawn()?;
    let mut rig = Rig::new("echo ready; sleep 100")?;
    let mut conn = ready(&mut rig)?;
    conn.order(&Order::Stop(SOON))?;
    conn.ended()?;
    let alive = stranger.try_wait()?.is_none();
    stranger.kill()?;
    stranger.wait()?;
    assert!(alive);
    Ok(())
}

#[test]
fn a_signal_to_the_holder_ends_the_agent_in_order() -> Outcome {
    let mut rig = Rig::new("trap 'echo bye; exit 4' INT; echo ready; while :; do sleep 1; done")?;
    let mut conn = ready(&mut rig)?;
    let holder = Pid::from_raw(conn.hello.holder_pid).ok_or("no holder")?;
    kill_process(holder, Signal::TERM)?;
    let record = conn.ended()?;
    assert_eq!((record.end, record.ordered), (End::Exited(4), true));
    assert_eq!(rig.record()?, record);
    Ok(())
}

#[test]
fn a_follower_has_everything_before_it_hears_of_the_end() -> Outcome {
    let mut rig = Rig::on_pipes("head -c 5000000 /dev/zero; echo the end")?;
    let mut conn = rig.start()?;
    conn.order(&Order::Follow { from: 0 })?;
    let all = conn.output_until("the end\n")?;
    assert_eq!(all.len(), 5_000_008);
    assert_eq!(conn.ended()?.log_end, 5_000_008);
    while conn.next()?.is_some() {}
    Ok(())
}

#[test]
fn input_after_the_end_and_collection_before_it_are_refused() -> Outcome {
    let mut rig = Rig::on_pipes("read line; exec 0<&-; echo ready; sleep 100")?;
    let mut conn = rig.start()?;
    conn.order(&Order::Follow { from: 0 })?;
    conn.order(&Order::Collected)?;
    let refused = |report| match report {
        Report::Refused { order, .. } => Some(order),
        _ => None,
    };
    assert_eq!(conn.until(refused)?, 0);
    conn.input(1, b"go\n")?;
    conn.output_until("ready")?;
    conn.input(2, b"nobody reads this")?;
    assert_eq!(conn.until(refused)?, 2);
    conn.order(&Order::Stop(SOON))?;
    conn.ended()?;
    Ok(())
}

#[test]
fn a_record_that_cannot_be_written_is_kept_in_memory_until_collected() -> Outcome {
    let mut rig = Rig::new("echo ready; read line; exit 8")?;
    let mut conn = ready(&mut rig)?;
    // A folder in its place is a failure that root meets as well.
    std::fs::create_dir(rig.dir().join(place::EXIT))?;
    conn.input(0, b"\n")?;
    assert_eq!(conn.ended()?.end, End::Exited(8));
    drop(conn);
    let mut later = rig.connect()?;
    assert_eq!(later.hello.ended.as_ref().map(|record| record.end), Some(End::Exited(8)));
    later.order(&Order::Collected)?;
    while later.next()?.is_some() {}
    rig.holder.take().ok_or("no holder")?.wait()?;
    Ok(())
}
