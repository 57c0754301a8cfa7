//! Output by offset, input in order, and nobody who can hold up the agent.

use glis_wire::hold::{End, Ladder, MESSAGE, Order, Report, place};

use crate::rig::{Outcome, Rig, Said};
use crate::skip::skip;

const AT_ONCE: Ladder = Ladder { interrupt_ms: 0, terminate_ms: 0 };

#[test]
fn output_has_one_address_across_generations() -> Outcome {
    let mut rig = Rig::new("printf 'first generation'")?;
    rig.birth()?;
    assert_eq!(rig.record()?.log_end, 16);

    rig.launch.generation = 2;
    rig.launch.argv[2] = "printf ', second generation'; read line".to_owned();
    let mut second = rig.start()?;
    assert_eq!((second.hello.began_at, second.hello.generation), (16, 2));
    second.order(&Order::Follow { from: 6 })?;
    assert_eq!(second.output_until("second generation")?, b"generation, second generation");
    let mut third = rig.connect()?;
    assert_eq!(third.hello.end, 35);
    third.order(&Order::Follow { from: 33 })?;
    match third.until_output()? {
        (33, bytes) => assert_eq!(bytes, b"on"),
        other => return Err(format!("{other:?}").into()),
    }
    second.order(&Order::Stop(AT_ONCE))?;
    assert_eq!(rig.record()?.generation, 2);
    assert_eq!(rig.log()?, b"first generation, second generation");
    let sizes = std::fs::read_to_string(rig.dir().join(place::SIZES))?;
    assert_eq!(sizes, "0 80 24\n16 80 24\n");
    Ok(())
}

#[test]
fn a_seam_parts_one_generation_from_the_next() -> Outcome {
    let mut rig = Rig::new("printf one")?;
    rig.launch.seam = Some("<seam>".to_owned());
    rig.birth()?;
    assert_eq!(rig.record()?.log_end, 3);
    rig.launch.generation = 2;
    rig.launch.argv[0] = "no-such-program-anywhere".to_owned();
    rig.birth()?;
    rig.launch.argv = ["sh", "-c", "printf two; read line"].map(str::to_owned).to_vec();
    let mut conn = rig.start()?;
    assert_eq!(conn.hello.began_at, 3);
    conn.order(&Order::Follow { from: 0 })?;
    assert_eq!(conn.output_until("two")?, b"one<seam>two");
    let sizes = std::fs::read_to_string(rig.dir().join(place::SIZES))?;
    assert_eq!(sizes, "0 80 24\n3 80 24\n");
    Ok(())
}

impl crate::rig::Conn {
    fn until_output(&mut self) -> Outcome<(u64, Vec<u8>)> {
        loop {
            if let Said::Output { at, bytes } = self.next()?.ok_or("gone")? {
                return Ok((at, bytes));
            }
        }
    }
}

#[test]
fn a_follower_that_does_not_read_blocks_nobody() -> Outcome {
    let mut rig = Rig::new("stty -opost; head -c 20000000 /dev/zero; printf done; read line")?;
    let mut lazy = rig.start()?;
    lazy.order(&Order::Follow { from: 0 })?;
    let mut daemon = rig.connect()?;
    daemon.order(&Order::Watch { beyond: 20_000_003 })?;
    daemon.until(|report| matches!(report, Report::Output { .. }).then_some(()))?;
    // The lazy one has lost nothing: it reads on from the disk.
    assert_eq!(lazy.output_until("done")?.len(), 20_000_004);
    assert_eq!(rig.log()?.len(), 20_000_004);
    daemon.order(&Order::Stop(AT_ONCE))?;
    daemon.ended()?;
    Ok(())
}

#[test]
fn a_holder_does_not_wait_for_ever_for_one_that_does_not_read() -> Outcome {
    let mut rig = Rig::new("stty -opost; head -c 3000000 /dev/zero; exit 2")?;
    let mut lazy = rig.start()?;
    lazy.order(&Order::Follow { from: 0 })?;
    assert_eq!(rig.record()?.end, End::Exited(2));
    Ok(())
}

#[test]
fn the_log_is_capped_and_its_oldest_part_is_cut() -> Outcome {
    let mut rig = Rig::new("stty -opost; seq 1 400000; printf done; read line")?;
    rig.launch.log_bytes_max = 1 << 20;
    let mut conn = rig.start()?;
    let mut whole = Vec::new();
    for number in 1..=400_000 {
        whole.extend_from_slice(format!("{number}\n").as_bytes());
    }
    whole.extend_from_slice(b"done");
    conn.order(&Order::Watch { beyond: whole.len() as u64 - 1 })?;
    conn.until(|report| matches!(report, Report::Output { .. }).then_some(()))?;
    let kept = rig.log()?;
    assert!(kept.len() > 900_000 && kept.len() < 1_250_000, "{}", kept.len());
    assert!(whole.ends_with(&kept));
    let mut late = rig.connect()?;
    assert_eq!(late.hello.oldest, (whole.len() - kept.len()) as u64);
    late.order(&Order::Follow { from: 0 })?;
    let (at, _) = late.until_output()?;
    assert_eq!(at, late.hello.oldest);
    Ok(())
}

#[test]
fn input_arrives_whole_and_in_order_and_is_confirmed() -> Outcome {
    let mut rig = Rig::new("stty raw -echo; echo ready; head -c 600000 | md5sum; read line")?;
    let mut conn = rig.start()?;
    conn.order(&Order::Follow { from: 0 })?;
    conn.output_until("ready")?;
    let bytes: Vec<u8> = (0..=255).cycle().take(600_000).collect();
    for (order, part) in (1..).zip(bytes.chunks(100_000)) {
        conn.input(order, part)?;
    }
    for expected in 1..=6 {
        let wrote = conn.until(|report| match report {
            Report::Wrote { order } => Some(order),
            _ => None,
        });
        assert_eq!(wrote?, expected);
    }
    let path = format!("{}/copy", rig.launch.cwd);
    std::fs::write(&path, &bytes)?;
    let sum = std::process::Command::new("md5sum").arg(path).output()?.stdout;
    conn.output_until(std::str::from_utf8(&sum)?.split(' ').next().ok_or("no sum")?)?;
    Ok(())
}

#[test]
fn too_much_input_is_refused_and_the_rest_is_not_lost() -> Outcome {
    let mut rig = Rig::on_pipes("sleep 100")?;
    let mut conn = rig.start()?;
    for order in 1..=20 {
        conn.input(order, &vec![b'x'; 400_000])?;
    }
    let refused = conn.until(|report| match report {
        Report::Refused { order, .. } => Some(order),
        _ => None,
    })?;
    assert!((10..=12).contains(&refused), "{refused}");
    conn.order(&Order::Stop(AT_ONCE))?;
    conn.ended()?;
    Ok(())
}

#[test]
fn pipes_are_kept_apart() -> Outcome {
    let mut rig = Rig::on_pipes("read line; echo err >&2; echo \"out $line\"; cat > rest; exit 0")?;
    let mut conn = rig.start()?;
    assert_eq!(conn.hello.size, None);
    conn.order(&Order::Follow { from: 0 })?;
    conn.input(1, b"hello\nand the rest")?;
    conn.output_until("out hello\n")?;
    // The second step closes the agent's input, which is what ends this one.
    conn.order(&Order::Stop(Ladder { interrupt_ms: 0, terminate_ms: 0 }))?;
    conn.ended()?;
    rig.record()?;
    assert_eq!(rig.log()?, b"out hello\n");
    assert_eq!(std::fs::read(rig.dir().join(place::ERRORS))?, b"err\n");
    Ok(())
}

#[test]
fn pipes_take_messages_and_no_keys() -> Outcome {
    let mut rig = Rig::on_pipes("read line; echo \"got $line\"; read line")?;
    let mut conn = rig.start()?;
    conn.order(&Order::Follow { from: 0 })?;
    // An attached terminal numbers nothing that is typed; whoever speaks the protocol does.
    conn.input(0, b"q\n")?;
    conn.input(1, b"message\n")?;
    conn.output_until("got message\n")?;
    conn.input(0, b"q")?;
    let refused = conn.until(|report| match report {
        Report::Refused { order, why, .. } => Some((order, why)),
        _ => None,
    })?;
    assert_eq!(refused, (0, "an agent on pipes takes no keys".to_owned()));
    conn.order(&Order::Stop(AT_ONCE))?;
    conn.ended()?;
    assert_eq!(rig.log()?, b"got message\n");
    Ok(())
}

#[test]
fn every_byte_is_logged_as_it_was() -> Outcome {
    let mut rig =
        Rig::new("stty -opost; printf '\\000\\377\\376 \\033[31mh\\303'; printf '\\251'")?;
    rig.start()?;
    rig.record()?;
    assert_eq!(rig.log()?, b"\0\xff\xfe \x1b[31mh\xc3\xa9");
    Ok(())
}

#[test]
fn a_holder_outlives_its_folder_and_its_agents_directory() -> Outcome {
    let mut rig = Rig::new("echo ready; read line; echo \"got $line\"; read line")?;
    let mut conn = rig.start()?;
    conn.order(&Order::Follow { from: 0 })?;
    conn.output_until("ready")?;
    std::fs::remove_dir_all(rig.dir())?;
    conn.input(0, b"word\n")?;
    conn.output_until("got word")?;
    conn.order(&Order::Stop(AT_ONCE))?;
    conn.ended()?;
    conn.order(&Order::Collected)?;
    rig.holder.take().ok_or("no holder")?.wait()?;
    Ok(())
}

#[test]
fn a_full_disk_loses_the_log_and_not_the_agent() -> Outcome {
    let home = tempfile::tempdir()?;
    let dir = home.path().join("full");
    std::fs::create_dir(&dir)?;
    let flags = rustix::mount::MountFlags::empty();
    if let Err(fault) = rustix::mount::mount("tmpfs", &dir, "tmpfs", flags, c"size=512k") {
        return skip(&format!("no file system can be mounted here: {fault}"), None);
    }
    let outcome = fill(home, &dir);
    rustix::mount::unmount(&dir, rustix::mount::UnmountFlags::DETACH)?;
    outcome
}

fn fill(home: tempfile::TempDir, dir: &std::path::Path) -> Outcome {
    let script = "stty -opost -echo; head -c 2000000 /dev/zero; printf full; read line; \
                  printf again; read line; exit 3";
    let mut rig = Rig::at(home, dir, script)?;
    let mut conn = rig.start()?;
    let gap = conn.until(|report| match report {
        Report::Gap { at, why } => Some((at, why)),
        _ => None,
    })?;
    assert!(gap.0 > 300_000 && gap.0 < 512 * 1024, "{gap:?}");
    conn.order(&Order::Watch { beyond: 2_000_003 })?;
    conn.until(|report| matches!(report, Report::Output { .. }).then_some(()))?;
    // The newest part is still there, out of memory.
    let mut late = rig.connect()?;
    late.order(&Order::Follow { from: 2_000_000 })?;
    assert_eq!(late.output_until("full")?, b"full");
    // With room again the log goes on under its true offset.
    std::fs::remove_file(dir.join(place::OUTPUT).join(format!("{:016x}", 0)))?;
    conn.input(0, b"\n")?;
    late.output_until("again")?;
    let after = dir.join(place::OUTPUT).join(format!("{:016x}", 2_000_004));
    assert_eq!(std::fs::read(after)?, b"again");
    conn.input(0, b"\n")?;
    assert_eq!(conn.ended()?.end, End::Exited(3));
    let record = rig.record()?;
    assert_eq!(record.log_end, 2_000_009);
    Ok(())
}

#[test]
fn who_comes_next_is_told_which_message_was_handed_over_last() -> Outcome {
    let mut rig = Rig::on_pipes("while read line; do echo \"$line\"; done")?;
    let mut first = rig.start()?;
    assert_eq!((first.hello.handed, rig.connect()?.hello.handed), (Some(0), Some(0)));
    // Said by a daemon that dies at once: read or not, the next one is told of it.
    first.input(MESSAGE | 7, b"hello\n")?;
    first.input(1, b"an answer\n")?;
    drop(first);
    let mut next = rig.connect()?;
    assert_eq!(next.hello.handed, Some(MESSAGE | 7));
    next.order(&Order::Follow { from: 0 })?;
    // Both may have been echoed by now.
    assert!(next.output_until("hello")?.starts_with(b"hello\n"));
    next.order(&Order::Stop(AT_ONCE))?;
    rig.record()?;
    Ok(())
}
