//! Commands that print, fail, hang and leave something behind.

use super::*;
use std::time::Instant;

fn heard(script: &str, time_max: Duration) -> Result<String, Unheard> {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("voice.ogg");
    std::fs::write(&recording, "spoken").unwrap();
    let command = ["sh", "-c", script, "hear"].map(str::to_owned).to_vec();
    Voice { command, time_max }.hear(&recording)
}

const LONG: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);

#[test]
fn a_command_prints_what_was_spoken() {
    assert_eq!(heard("echo \" $(cat \"$1\") words \"", LONG).unwrap(), "spoken words");
    assert_eq!(heard("true", LONG), Err(Unheard::Nothing));
    assert_eq!(Voice::new(&[]).hear(Path::new("x")), Err(Unheard::NoCommand));
    let told = heard("echo words; exit 3", LONG).unwrap_err().to_string();
    assert!(told.contains("exit status: 3"), "{told}");
    let none = Voice::new(&["/no/such/program".to_owned()]);
    let told = none.hear(Path::new("/x")).unwrap_err().to_string();
    assert!(told.contains("/no/such/program") && told.contains("cannot be run"), "{told}");
}

/// One that leaves something behind, in its group or out of it, has said what it has said.
#[test]
fn what_a_command_leaves_behind_is_not_waited_for() {
    for left in ["sleep 600 &", "setsid sleep 5 &"] {
        let began = Instant::now();
        assert_eq!(heard(&format!("echo spoken; {left}"), LONG).unwrap(), "spoken", "{left}");
        assert!(began.elapsed() < Duration::from_secs(4), "{left}");
    }
    let much = heard("yes words | head -c 5000000", LONG).unwrap_or_default();
    assert!(much.len() <= 64 * 1024);
}

#[test]
fn a_command_that_hangs_is_ended_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    // Its child has the other end of the pipe open for as long as it lives.
    let script = format!("exec 3<>'{}'; cat <&3 & wait", fifo.display());
    let told = heard(&script, Duration::from_millis(300)).unwrap_err().to_string();
    assert!(told.contains("took longer"), "{told}");
    // While a reader is left this succeeds; a process that was killed takes a moment to go.
    let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK;
    let is_read = || rustix::fs::open(&fifo, flags, rustix::fs::Mode::empty()).is_ok();
    let end = Instant::now() + LONG;
    while is_read() {
        assert!(Instant::now() < end, "its child lives on");
        std::thread::sleep(LOOK);
    }
}
