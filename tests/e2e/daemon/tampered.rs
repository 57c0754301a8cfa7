//! A house that is tampered with while its daemon runs: the socket, the lock or the whole folder is
//! deleted, replaced or moved.

use crate::daemon::doors::daemons;
use crate::support::house::{House, Outcome, await_gone, eventually, lives};
use crate::support::wreck::{Foreground, pid_of};
use std::process::Command;

#[test]
fn a_deleted_socket_is_made_again() -> Outcome {
    let house = House::new()?;
    house.ok(&["ls"])?;
    let pid = house.daemon_pid()?;
    let socket = house.home().join("daemon.sock");
    for _ in 0..5 {
        std::fs::remove_file(&socket)?;
        house.ok(&["ls"])?;
        assert_eq!(house.daemon_pid()?, pid);
    }
    // Whoever puts something else in its place has deleted it as well.
    let other = house.home().join("other");
    std::fs::write(&other, "")?;
    std::fs::rename(&other, &socket)?;
    house.ok(&["ls"])?;
    assert_eq!(house.daemon_pid()?, pid);
    assert_eq!(daemons(&house), [pid]);
    house.ok(&["daemon", "stop"])?;
    assert!(!socket.exists());
    Ok(())
}

#[test]
fn beside_a_daemon_whose_lock_is_deleted_no_other_starts() -> Outcome {
    let house = House::new()?;
    house.ok(&["ls"])?;
    let pid = house.daemon_pid()?;
    let (lock, socket) = (house.home().join("daemon.lock"), house.home().join("daemon.sock"));
    for _ in 0..10 {
        drop(std::fs::remove_file(&lock));
        drop(std::fs::remove_file(&socket));
        // Before the first can have made them again, or just then.
        let second = house.glis().args(["daemon", "run"]).output()?;
        assert!(!second.status.success(), "{second:?}");
        let said = String::from_utf8(second.stdout)?;
        assert!(said.contains("already running"), "{said}");
        assert_eq!(house.daemon_pid()?, pid);
    }
    let named = || std::fs::read_to_string(&lock).is_ok_and(|text| text.trim() == pid.to_string());
    eventually("the lock file names the daemon again", named)?;
    assert_eq!(daemons(&house), [pid]);
    Ok(())
}

#[test]
fn a_daemon_that_is_stopped_keeps_its_place_without_any_file() -> Outcome {
    let house = House::new()?;
    let daemon = Foreground::start(&house, &[])?;
    let pid = daemon.pid()?.to_string();
    let signal = |name: &str| Command::new("kill").args([name, &pid]).status();
    signal("-STOP")?;
    for file in ["daemon.lock", "daemon.sock", "daemon.start"] {
        drop(std::fs::remove_file(house.home().join(file)));
    }
    let second = house.glis().args(["daemon", "run"]).output();
    signal("-CONT")?;
    let said = String::from_utf8(second?.stdout)?;
    assert!(said.contains("already running"), "{said}");
    assert_eq!(house.daemon_pid()?, daemon.pid()?);
    Ok(())
}

#[test]
fn a_house_that_is_moved_away_ends_its_daemon_and_comes_back_whole() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")?;
    let agent = pid_of(&house.show("blue")?)?;
    let elsewhere = house.folder().join("elsewhere");
    for _ in 0..2 {
        let daemon = house.daemon_pid()?;
        std::fs::rename(house.home(), &elsewhere)?;
        await_gone(daemon)?;
        assert!(lives(agent));
        // Another house at that place is another house.
        assert_eq!(house.json(&["ls"])?.as_array().map(Vec::len), Some(0));
        house.ok(&["daemon", "stop"])?;
        std::fs::remove_dir_all(house.home())?;
        std::fs::rename(&elsewhere, house.home())?;
        assert_eq!(pid_of(&house.show("blue")?)?, agent);
        house.turn("blue", "say again")?;
    }
    let diary = std::fs::read_to_string(house.home().join("daemon.log"))?;
    assert!(diary.contains("was moved, replaced or deleted"), "{diary}");
    Ok(())
}

#[test]
fn a_folder_above_the_house_may_move_as_well() -> Outcome {
    let house = House::new()?;
    let above = house.folder().join("above");
    let home = above.join("house");
    std::fs::create_dir_all(&home)?;
    let mut command = house.glis();
    command.env("GLIS_HOME", &home);
    let daemon = Foreground::of(command, &home)?;
    std::fs::rename(&above, house.folder().join("elsewhere"))?;
    assert!(daemon.end()?.success());
    Ok(())
}
