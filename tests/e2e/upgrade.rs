//! A holder that was started by another version of the program, under the daemon of this one.

use crate::house::{House, Outcome};
use crate::wreck::{folder, pid_of};
use glis_wire::frame::Decoder;
use glis_wire::hold::{Report, place};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// A copy of the program that takes itself for another version.
fn other_version(dir: &Path) -> Outcome<PathBuf> {
    program_without(dir, env!("CARGO_PKG_VERSION").as_bytes())
}

/// A copy of the program in which this word is another one wherever it stands.
pub(crate) fn program_without(dir: &Path, word: &[u8]) -> Outcome<PathBuf> {
    let other = vec![b'9'; word.len()];
    let mut program = std::fs::read(crate::house::program())?;
    for at in 0..program.len() - word.len() {
        if program[at..].starts_with(word) {
            program[at..at + word.len()].copy_from_slice(&other);
        }
    }
    let path = dir.join("glis-other");
    std::fs::write(&path, program)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

/// What a holder says about the program it came from.
fn version_of(dir: &Path) -> Outcome<String> {
    let mut stream = UnixStream::connect(dir.join(place::SOCKET))?;
    let mut decoder = Decoder::default();
    let mut piece = [0; 4096];
    loop {
        if let Some(frame) = decoder.next_frame()? {
            let Report::Hello(hello) = frame.words()? else { return Err("no hello".into()) };
            return Ok(hello.version);
        }
        let read = stream.read(&mut piece)?;
        decoder.feed(&piece[..read]);
    }
}

#[test]
fn a_holder_of_another_version_is_found_and_works() -> Outcome {
    let house = House::new()?;
    std::fs::create_dir_all(house.home())?;
    let program = other_version(house.repo().parent().ok_or("no parent")?)?;
    for arguments in [
        ["new", "blue", "--agent", "rehearsal", "--headless"].as_slice(),
        ["send", "blue", "stream 40 20"].as_slice(),
        ["wait", "blue", "--for", "busy", "--timeout", "20s"].as_slice(),
    ] {
        let mut command = std::process::Command::new(&program);
        command.env("GLIS_HOME", house.home()).current_dir(house.repo());
        assert!(command.args(arguments).status()?.success(), "{arguments:?}");
    }
    house.kill_daemon()?;
    let session = house.show("blue")?;
    let dir = folder(&house, session["id"].as_str().ok_or("no id")?);
    assert_ne!(version_of(&dir)?, env!("CARGO_PKG_VERSION"));
    assert_eq!(house.json(&["daemon", "status"])?["version"], env!("CARGO_PKG_VERSION"));
    let idle = house.until("blue", "idle")?;
    assert_eq!(pid_of(&idle)?, pid_of(&session)?);
    assert_eq!(house.talk("blue")?.len(), 41);
    house.turn("blue", "say still here")?;
    assert_eq!(house.json(&["pause", "blue"])?["status"], "paused");
    house.json(&["resume", "blue"])?;
    let fresh = house.turn("blue", "recall")?;
    assert_eq!(fresh["generation"], 2);
    Ok(())
}
