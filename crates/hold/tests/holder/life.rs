//! Being born, being talked to, being one of a kind.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use glis_wire::hold::{Birth, BirthFault, End, Ladder, Order, Report, Size, place};

use crate::rig::{Outcome, Rig, Said};

const AT_ONCE: Ladder = Ladder { interrupt_ms: 0, terminate_ms: 0 };

fn failure(rig: &mut Rig) -> Outcome<(BirthFault, String)> {
    match rig.birth()? {
        Birth::Failed { kind, message } => Ok((kind, message)),
        Birth::Ready(hello) => Err(format!("{hello:?}").into()),
    }
}

#[test]
fn a_child_begins_with_a_clean_slate() -> Outcome {
    let mut rig = Rig::new(
        // Without a pipe or a file: those would be open in the shell while it is looked at.
        "ls -l /proc/$$/fd; umask; \
         grep -E '^Sig(Blk|Ign)' /proc/self/status; tty; stty size; \
         echo env $GLIS_SESSION $GLIS_GENERATION $HELD $PWD; env | wc -l; ulimit -n; echo end.",
    )?;
    rig.launch.umask = 0o027;
    let mut conn = rig.start()?;
    conn.order(&Order::Follow { from: 0 })?;
    let text = String::from_utf8(conn.output_until("end.\r\n")?)?;
    let fds: Vec<&str> = text.lines().filter(|line| line.contains(" -> ")).collect();
    assert_eq!(fds.len(), 3, "{text}");
    assert!(fds.iter().all(|line| line.contains("/dev/pts/")), "{text}");
    assert!(text.contains("0027\r\n"), "{text}");
    assert!(text.contains("SigBlk:\t0000000000000000"), "{text}");
    assert!(text.contains("SigIgn:\t0000000000000000"), "{text}");
    assert!(text.contains("24 80\r\n"), "{text}");
    let marks = format!("env {} 1 yes {}\r\n", rig.launch.session, rig.launch.cwd);
    assert!(text.contains(&marks), "{text}");
    // Two of the launch, three of the holder.
    assert!(text.contains("\r\n5\r\n"), "{text}");
    Ok(())
}

#[test]
fn two_holders_for_one_session_refuse() -> Outcome {
    let mut rig = Rig::new("cat")?;
    let conn = rig.start()?;
    let mut second = Rig::new("cat")?;
    second.launch.dir.clone_from(&rig.launch.dir);
    assert_eq!(failure(&mut second)?.0, BirthFault::Locked);
    drop(conn);
    rig.connect()?;
    Ok(())
}

#[test]
fn an_agents_session_id_is_locked_too() -> Outcome {
    let mut rig = Rig::new("cat")?;
    let path = format!("{}/ref.lock", rig.launch.cwd);
    rig.launch.ref_lock = Some(path.clone());
    rig.start()?;
    let mut second = Rig::new("cat")?;
    second.launch.ref_lock = Some(path.clone());
    assert_eq!(failure(&mut second)?.0, BirthFault::Locked);
    second.launch.ref_lock = None;
    let mut conn = second.start()?;
    conn.order(&Order::Lock { path })?;
    conn.until(|report| matches!(report, Report::Refused { order: 0, .. }).then_some(()))?;
    Ok(())
}

#[test]
fn what_a_killed_holder_left_is_named_and_swept() -> Outcome {
    let mut rig = Rig::new("trap '' HUP; echo up; while :; do sleep 100; done")?;
    let mut conn = rig.start()?;
    conn.order(&Order::Follow { from: 0 })?;
    conn.output_until("up")?;
    let agent = conn.hello.process.pid;
    assert!(glis_hold::sweep(&rig.launch.session, &rig.dir(), &[]).is_err());
    let mut holder = rig.holder.take().ok_or("no holder")?;
    holder.kill()?;
    holder.wait()?;
    let (kind, message) = failure(&mut rig)?;
    assert_eq!(kind, BirthFault::Locked);
    assert!(message.contains(&format!("process {agent} ")), "{message}");
    let killed = glis_hold::sweep(&rig.launch.session, &rig.dir(), &[])?.killed;
    assert!(killed.iter().any(|killed| killed.pid == agent), "{killed:?}");
    assert_eq!(glis_hold::sweep(&rig.launch.session, &rig.dir(), &[])?.killed, vec![]);
    rig.start()?;
    Ok(())
}

#[test]
fn a_missing_program_or_directory_is_told_apart() -> Outcome {
    let mut rig = Rig::new("true")?;
    rig.launch.argv[0] = "no-such-program-anywhere".to_owned();
    assert_eq!(failure(&mut rig)?.0, BirthFault::NoProgram);
    rig.launch.argv[0] = "/etc/passwd".to_owned();
    assert_eq!(failure(&mut rig)?.0, BirthFault::NoProgram);
    rig.launch.argv[0] = "sh".to_owned();
    rig.launch.env[0].1 = "/nowhere".to_owned();
    assert_eq!(failure(&mut rig)?.0, BirthFault::NoProgram);
    rig.launch.cwd.push_str("/gone");
    assert_eq!(failure(&mut rig)?.0, BirthFault::NoDirectory);
    assert!(!rig.dir().join(place::SOCKET).exists());
    Ok(())
}

#[test]
fn a_long_path_is_no_obstacle_and_nobody_else_may_look() -> Outcome {
    let home = tempfile::tempdir()?;
    let dir = home.path().join("long/".repeat(40)).join("session");
    std::fs::create_dir_all(&dir)?;
    std::fs::write(dir.join(place::SOCKET), "stale")?;
    let mut rig = Rig::at(home, &dir, "echo here; exit 3")?;
    let mut conn = rig.start()?;
    let mode = |name: &str| -> Outcome<u32> {
        Ok(std::fs::metadata(rig.dir().join(name))?.permissions().mode() & 0o777)
    };
    assert_eq!(mode(place::OUTPUT)?, 0o700);
    assert_eq!(mode(place::SIZES)?, 0o600);
    assert_eq!(conn.ended()?.end, End::Exited(3));
    rig.record()?;
    assert!(!rig.dir().join(place::SOCKET).exists());
    Ok(())
}

#[test]
fn garbage_closes_its_own_connection_only() -> Outcome {
    let mut rig = Rig::new("cat")?;
    let mut good = rig.start()?;
    for garbage in [&[0xff; 64][..], b"\x00\x00\x00\x00", b"\x05\x00\x00\x00\x00nope"] {
        let mut bad = rig.connect()?;
        bad.stream.write_all(garbage)?;
        while bad.next()?.is_some() {}
    }
    // Words of a later version are refused, not punished.
    let mut later = rig.connect()?;
    later.stream.write_all(&glis_wire::frame::encode_words(&"dance"))?;
    later.until(|report| matches!(report, Report::Refused { .. }).then_some(()))?;
    good.order(&Order::Follow { from: 0 })?;
    good.input(7, b"still here\n")?;
    good.output_until("still here")?;
    Ok(())
}

#[test]
fn more_clients_than_allowed_are_turned_away() -> Outcome {
    let mut rig = Rig::new("cat")?;
    let mut first = rig.start()?;
    let others: Vec<_> = (1..64).map(|_| rig.connect()).collect::<Result<_, _>>()?;
    assert!(rig.connect().is_err());
    drop(others);
    first.order(&Order::Stop(AT_ONCE))?;
    first.ended()?;
    Ok(())
}

#[test]
fn the_last_active_clients_size_wins() -> Outcome {
    let mut rig = Rig::new("stty -echo; while read line; do stty size; done")?;
    let mut one = rig.start()?;
    let mut two = rig.connect()?;
    one.order(&Order::Follow { from: 0 })?;
    let size = |columns, rows| Size { columns, rows };
    let resized = |report| match report {
        Report::Resized { size, .. } => Some(size),
        _ => None,
    };
    one.order(&Order::Resize(size(100, 30)))?;
    assert_eq!(two.until(resized)?, size(100, 30));
    assert_eq!(one.until(resized)?, size(100, 30));
    two.order(&Order::Resize(size(0, 65535)))?;
    assert_eq!(one.until(resized)?, size(2, 1000));
    one.input(0, b"\n")?;
    one.output_until("30 100\r\n")?;
    two.input(0, b"\n")?;
    one.output_until("1000 2\r\n")?;
    // The same size again is not a change.
    two.order(&Order::Resize(size(0, 65535)))?;
    two.input(5, b"\n")?;
    two.until(|report| matches!(report, Report::Wrote { order: 5 }).then_some(()))?;
    let sizes = std::fs::read_to_string(rig.dir().join(place::SIZES))?;
    let sizes: Vec<&str> = sizes.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    assert_eq!(sizes, ["80 24", "100 30", "2 1000", "100 30", "2 1000"]);
    Ok(())
}

#[test]
fn ten_thousand_resizes_are_few_and_the_last_one_holds() -> Outcome {
    let mut rig = Rig::new("cat")?;
    let mut conn = rig.start()?;
    let mut orders = Vec::new();
    for turn in 0..10_000_u16 {
        let size = Size { columns: 50 + turn % 50, rows: 20 };
        orders.extend(glis_wire::frame::encode_words(&Order::Resize(size)));
    }
    let mut stream = conn.stream.try_clone()?;
    let writer = std::thread::spawn(move || stream.write_all(&orders));
    conn.until(|report| match report {
        Report::Resized { size, .. } => (size.columns == 99).then_some(()),
        _ => None,
    })?;
    writer.join().map_err(|_| "the writer panicked")??;
    assert_eq!(rig.connect()?.hello.size.map(|size| size.rows), Some(20));
    let sizes = std::fs::read_to_string(rig.dir().join(place::SIZES))?;
    assert!(sizes.lines().count() < 2_000, "{}", sizes.lines().count());
    Ok(())
}

#[test]
fn everybody_hears_how_many_follow() -> Outcome {
    let mut rig = Rig::new("cat")?;
    let mut daemon = rig.start()?;
    let audience = |report| match report {
        Report::Audience { clients, .. } => Some(clients),
        _ => None,
    };
    let mut one = rig.connect()?;
    one.order(&Order::Follow { from: 0 })?;
    assert_eq!(daemon.until(audience)?, 1);
    let mut two = rig.connect()?;
    assert_eq!(two.hello.clients, 1);
    two.order(&Order::Follow { from: 0 })?;
    assert_eq!(daemon.until(audience)?, 2);
    drop(one);
    assert_eq!(daemon.until(audience)?, 1);
    Ok(())
}

#[test]
fn who_only_looks_on_is_not_attached() -> Outcome {
    let mut rig = Rig::new("cat")?;
    let mut daemon = rig.start()?;
    let audience = |report| match report {
        Report::Audience { clients, attached } => Some((clients, attached)),
        _ => None,
    };
    let mut preview = rig.connect()?;
    preview.order(&Order::Follow { from: 0 })?;
    assert_eq!(daemon.until(audience)?, (1, Some(0)));
    let mut terminal = rig.connect()?;
    terminal.order(&Order::Resize(Size { columns: 80, rows: 24 }))?;
    terminal.order(&Order::Follow { from: 0 })?;
    assert_eq!(daemon.until(audience)?, (2, Some(1)));
    assert_eq!(rig.connect()?.hello.attached, Some(1));
    drop(terminal);
    assert_eq!(daemon.until(audience)?, (1, Some(0)));
    Ok(())
}

#[test]
fn a_watch_answers_once() -> Outcome {
    let mut rig = Rig::new("stty -echo; echo ready; cat")?;
    let mut conn = rig.start()?;
    let mut daemon = rig.connect()?;
    conn.order(&Order::Follow { from: 0 })?;
    let before = conn.output_until("ready\r\n")?.len() as u64;
    daemon.order(&Order::Watch { beyond: before })?;
    conn.input(0, b"once\n")?;
    conn.output_until("once")?;
    conn.input(0, b"twice\n")?;
    conn.output_until("twice")?;
    daemon.order(&Order::Signal { number: 0 })?;
    let mut reports = Vec::new();
    loop {
        if let Said::Report(report) = daemon.next()?.ok_or("gone")? {
            match *report {
                Report::Refused { .. } => break,
                report @ Report::Output { .. } => reports.push(report),
                _ => {}
            }
        }
    }
    assert_eq!(reports.len(), 1, "{reports:?}");
    Ok(())
}

/// What a process waits for is seen by its ancestors. Where the kernel hides it from everybody else
/// (`kernel.yama.ptrace_scope` of 1), only this way is left; a kernel without yama, or root, sees it from
/// anywhere, and there this test cannot tell the two apart.
#[test]
fn a_holder_tells_whether_the_program_in_front_waits_for_input() -> Outcome {
    for (script, reads) in [
        ("echo ready; read word; echo over; sleep 100", true),
        ("echo ready; sh -c 'read word'; echo over; sleep 100", true),
        ("echo ready; sleep 100 < /dev/tty; echo over", false),
        ("mkfifo never; echo ready; read word < never", false),
        ("cat /dev/tty & echo ready; cat; wait", false),
    ] {
        let mut rig = Rig::new(script)?;
        let mut conn = rig.start()?;
        conn.order(&Order::Follow { from: 0 })?;
        conn.output_until("ready")?;
        let mut told = || {
            conn.order(&Order::Reading)?;
            conn.until(|report| match report {
                Report::Reading { reads } => Some(reads),
                _ => None,
            })
        };
        // It reads a moment after it has said so; what does not read never does.
        let looks = if reads { 100_000 } else { 50 };
        let mut seen = false;
        for _ in 0..looks {
            seen = seen || told()?;
        }
        assert_eq!(seen, reads, "{script}");
    }
    Ok(())
}
