//! The terminal face in a real terminal.

use rustix::process::Signal;

use crate::rehearsal::{Stage, Tested};

const IDLE: &str = "\x1b]2;rehearsal: idle\x07\r\x1b[K> ";
const WORKING: &str = "\x1b]2;rehearsal: working\x07\r\x1b[K* Working… (esc to interrupt)";

#[test]
fn a_typed_message_is_answered() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.terminal(&["--session-id", "a"])?;
    agent.see("\x1b[?2004h")?;
    agent.see("session a\r\n")?;
    agent.see(IDLE)?;
    agent.press("hé")?;
    agent.see("\r\x1b[K> hé")?;
    agent.press("\x1b[200~llo\nyou\x1b[201~\r")?;
    agent.see(WORKING)?;
    agent.see("You said: héllo\r\nyou\r\n")?;
    agent.see(IDLE)?;
    agent.press("\x04")?;
    agent.see("\x1b[?2004l")?;
    assert_eq!(agent.end()?, 0);
    assert_eq!(stage.recorded("a")?, ["user", "turn_started", "text", "turn_ended"]);
    Ok(())
}

#[test]
fn escape_interrupts_a_turn() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.terminal(&["work 600"])?;
    agent.see(WORKING)?;
    agent.press("\x1b")?;
    agent.see("Interrupted.\r\n")?;
    agent.see(IDLE)?;
    agent.press("\x03")?;
    agent.see("(^C again to exit)")?;
    agent.press("\x03")?;
    assert_eq!(agent.end()?, 0);
    Ok(())
}

#[test]
fn approvals_and_questions_are_answered_by_keys() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.terminal(&["--session-id", "a", "approve rm x ;; question why?"])?;
    agent.see("rehearsal: waiting")?;
    agent.see("Allow: rm x [y/n] ")?;
    agent.press("y")?;
    agent.see("Question: why?\r\n")?;
    agent.see("answer> ")?;
    agent.press("because\r")?;
    agent.see(IDLE)?;
    let text = std::fs::read_to_string(stage.transcript("a"))?;
    assert!(text.contains(r#""answer":"allow""#) && text.contains(r#""answer":"because""#));
    Ok(())
}

#[test]
fn terminate_puts_the_terminal_right() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.terminal(&["work 600"])?;
    agent.see(WORKING)?;
    agent.signal(Signal::TERM)?;
    agent.see("\x1b[?2004l")?;
    assert_eq!(agent.end()?, 143);
    Ok(())
}

#[test]
fn a_resumed_conversation_shows_how_it_ended() -> Tested {
    let stage = Stage::new()?;
    stage.headless(&["--session-id", "a", "say first ;; say last"])?.until("ready")?;
    let mut agent = stage.terminal(&["--resume", "a"])?;
    agent.see("> say first ;; say last\r\n")?;
    agent.see("last\r\n")?;
    agent.see(IDLE)?;
    Ok(())
}

#[test]
fn garbage_does_not_cost_the_prompt() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.terminal(&["garbage 300 ;; noise"])?;
    agent.see("\x1b[!p")?;
    agent.see("\r\x1b[K> \r\n* Working")?;
    agent.press("\x1b")?;
    agent.see(IDLE)?;
    Ok(())
}

#[test]
fn a_pipe_is_no_terminal() -> Tested {
    let stage = Stage::new()?;
    let output = stage.command(&[]).stdin(std::process::Stdio::null()).output()?;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--headless"));
    Ok(())
}
