//! What is stopped, frozen, deleted or too long: nothing of it is passed over.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use glis_wire::hold::{Children, Ladder, Limit, Order, Process, Report, place};

use crate::freezer::Freezer;
use crate::rig::{Conn, Outcome, Rig};
use crate::skip::skip;

const AT_ONCE: Ladder = Ladder { interrupt_ms: 0, terminate_ms: 0 };

/// Why a process that cannot be ended cannot be had.
const NO_FREEZER: &str = "no control group freezes processes here";

fn ready(rig: &mut Rig) -> Outcome<Conn> {
    let mut conn = rig.start()?;
    conn.order(&Order::Follow { from: 0 })?;
    conn.output_until("ready")?;
    Ok(conn)
}

/// Waits for something that no report tells of.
fn eventually(what: &str, is_so: impl Fn() -> bool) -> Outcome {
    let patience = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        if Instant::now() > patience {
            return Err(format!("it did not come to pass: {what}").into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn pid_in(rig: &Rig, name: &str) -> Outcome<i32> {
    Ok(std::fs::read_to_string(Path::new(&rig.launch.cwd).join(name))?.trim().parse()?)
}

fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn a_process_that_cannot_be_killed_is_named() -> Outcome {
    let Some(freezer) = Freezer::new() else { return skip(NO_FREEZER, None) };
    let mut rig = Rig::new("sleep 600 & echo $! > child; echo ready; wait")?;
    let mut conn = ready(&mut rig)?;
    let child = pid_in(&rig, "child")?;
    freezer.freeze(child)?;
    conn.order(&Order::Stop(AT_ONCE))?;
    let record = conn.ended()?;
    let stuck: Vec<_> = record.stuck.iter().map(|stuck| stuck.pid).collect();
    assert_eq!(stuck, vec![child], "{record:?}");
    rig.record()?;
    let swept = glis_hold::sweep(&rig.launch.session, &rig.dir(), &[])?;
    assert_eq!(swept.stuck.iter().map(|stuck| stuck.pid).collect::<Vec<_>>(), vec![child]);
    drop(freezer);
    let swept = glis_hold::sweep(&rig.launch.session, &rig.dir(), &[])?;
    assert_eq!(swept.stuck, vec![]);
    Ok(())
}

#[test]
fn an_agent_that_cannot_be_killed_is_named_too() -> Outcome {
    let Some(freezer) = Freezer::new() else { return skip(NO_FREEZER, None) };
    let mut rig = Rig::new("echo $$ > own; echo ready; while :; do sleep 1; done")?;
    let mut conn = ready(&mut rig)?;
    let agent = pid_in(&rig, "own")?;
    freezer.freeze(agent)?;
    conn.order(&Order::Stop(AT_ONCE))?;
    let record = conn.ended()?;
    assert!(record.stuck.iter().any(|stuck| stuck.pid == agent), "{record:?}");
    drop(freezer);
    Ok(())
}

#[test]
fn a_socket_that_is_deleted_comes_back() -> Outcome {
    let mut rig = Rig::new("echo ready; sleep 600")?;
    let conn = ready(&mut rig)?;
    for file in [place::SOCKET, place::LOCK] {
        std::fs::remove_file(rig.dir().join(file))?;
        eventually("it is there again", || rig.dir().join(file).exists())?;
    }
    assert_eq!(rig.connect()?.hello.process, conn.hello.process);
    assert!(glis_hold::sweep(&rig.launch.session, &rig.dir(), &[]).is_err(), "the lock is held");
    let lock: Process = serde_json::from_slice(&std::fs::read(rig.dir().join(place::LOCK))?)?;
    assert_eq!(lock.pid, conn.hello.holder_pid);
    Ok(())
}

#[test]
fn a_folder_that_is_deleted_is_made_anew_and_output_goes_on_in_it() -> Outcome {
    let mut rig = Rig::new("echo ready; read line; echo \"after $line\"; sleep 600")?;
    let mut conn = ready(&mut rig)?;
    // With the folder of all sessions, as somebody might who cleans up.
    std::fs::remove_dir_all(rig.dir().parent().ok_or("no parent")?)?;
    let at = conn.until(|r| if let Report::FolderLost { at } = r { Some(at) } else { None })?;
    assert!(at > 0);
    let mode = std::fs::metadata(rig.dir())?.permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let mut other = rig.connect()?;
    assert!(other.hello.folder_lost);
    conn.input(1, b"more\r")?;
    conn.output_until("after more")?;
    let log = String::from_utf8(rig.log()?)?;
    assert!(log.contains("ready") && log.contains("after more"), "{log}");
    other.order(&Order::Stop(AT_ONCE))?;
    other.ended()?;
    other.order(&Order::Collected)?;
    assert!(rig.record()?.ordered);
    Ok(())
}

#[test]
fn a_line_that_the_terminal_would_cut_is_refused() -> Outcome {
    let mut rig =
        Rig::new("echo ready; read line; echo \"got ${#line}\"; stty raw; echo now; wc -c")?;
    let mut conn = ready(&mut rig)?;
    let long = [vec![b'x'; 5000], b"\r".to_vec()].concat();
    conn.input(7, &long)?;
    let refused = |r: Report| match r {
        Report::Refused { order: 7, why, for_good } => Some((why, for_good)),
        _ => None,
    };
    let (why, for_good) = conn.until(refused)?;
    assert!(for_good && why.contains("4095") && why.contains("5000"), "{why}");
    conn.input(8, &[vec![b'x'; 4095], b"\r".to_vec()].concat())?;
    let said = String::from_utf8_lossy(&conn.output_until("now")?).into_owned();
    assert!(said.contains("got 4095"), "{said}");
    // In raw mode nothing is cut.
    conn.input(9, &long)?;
    conn.until(|r| matches!(r, Report::Wrote { order: 9 }).then_some(()))?;
    Ok(())
}

#[test]
fn what_has_left_the_agents_session_stays_if_that_is_wanted() -> Outcome {
    let script = "setsid sleep 600 & sleep 600 & echo $! > near; sleep 0.1; echo ready; wait";
    let mut rig = Rig::new(script)?;
    let mut conn = ready(&mut rig)?;
    let near = pid_in(&rig, "near")?;
    conn.order(&Order::Children(Children::KeepDetached))?;
    conn.order(&Order::Stop(AT_ONCE))?;
    let record = conn.ended()?;
    let [kept] = record.kept.as_slice() else { return Err(format!("{record:?}").into()) };
    assert!(is_alive(kept.pid) && !is_alive(near), "{record:?}");
    assert_eq!(kept.cwd.as_deref(), Some(rig.launch.cwd.as_str()));
    rig.record()?;
    // Whoever starts again has to know of it, or it would be a second agent.
    rig.launch.generation = 2;
    assert!(rig.start().is_err());
    let boot_id = record.process.boot_id.clone();
    let mark = Process { pid: kept.pid, start_ticks: kept.start_ticks, boot_id };
    rig.launch.kept = vec![mark.clone()];
    let mut conn = ready(&mut rig)?;
    conn.order(&Order::Stop(AT_ONCE))?;
    assert!(conn.ended()?.killed.iter().any(|killed| killed.pid == kept.pid));
    Ok(())
}

#[test]
fn an_agent_gets_the_limits_of_its_launch() -> Outcome {
    let mut rig =
        Rig::new("echo \"files $(ulimit -n)\"; echo \"core $(ulimit -c)\"; echo ready; sleep 600")?;
    let limit =
        |name: &str, soft| Limit { name: name.to_owned(), soft: Some(soft), hard: Some(soft) };
    rig.launch.limits = vec![limit("nofile", 77), limit("core", 0), limit("unheard-of", 1)];
    let mut conn = rig.start()?;
    conn.order(&Order::Follow { from: 0 })?;
    let said = String::from_utf8(conn.output_until("ready")?)?;
    assert!(said.contains("files 77") && said.contains("core 0"), "{said}");
    conn.order(&Order::Environment)?;
    let told =
        |r: Report| if let Report::Environment { limits, .. } = r { Some(limits) } else { None };
    assert_eq!(conn.until(told)?, rig.launch.limits);
    Ok(())
}
