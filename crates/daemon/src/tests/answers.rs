//! An answer of the rules that waits for its question to come to the screen of Claude Code, by a holder
//! that is played here.

use super::Bench;
use super::supervisor::supervisor;
use crate::links::{HolderCommand, Links};
use crate::peer::Peer;
use glis_agent::hooks;
use glis_core::event::Spot;
use glis_core::input::Use;
use glis_core::input::{Outcome, Sign};
use glis_core::session::{Process, StopCause};
use glis_core::spec::Mode;
use glis_core::talk::{ALLOW, Ask};
use glis_core::verdict::{Answerer, Author, Verdict};
use glis_core::{Event, Input, SessionId};
use glis_os::process;
use glis_wire::frame::Frame;
use glis_wire::hold::{Hello, PROTOCOL, Report, Size, place};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::net::UnixListener;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// What the dialog about the command looks like.
const DIALOG: &str = "────────────────────\r\n Bash command\r\n\r\n   ls\r\n\r\n \
                      Do you want to proceed?\r\n ❯ 1. Yes\r\n   2. No\r\n\r\n Esc to cancel\r\n";

/// A session whose agent asks for `ls`, which the rules have allowed; the dialog is still to come.
struct Scene {
    bench: Bench,
    links: Arc<Links>,
    id: SessionId,
    holder: Peer,
    ask: Ask,
    screen: String,
}

/// What plays the agent: its path of programs counts.
fn mark(pid: u32) -> Process {
    let pid = i32::try_from(pid).unwrap();
    let start_ticks = process::start_ticks(pid).unwrap();
    Process { pid, start_ticks, boot_id: process::boot_id().unwrap() }
}

fn hello(id: &SessionId, process: &Process) -> Hello {
    let hello = json!({
        "protocol": PROTOCOL, "version": "0", "session": id.0, "generation": 1, "holder_pid": 1,
        "process": process, "end": 0, "began_at": 0, "oldest": 0, "size": json!(Size::USUAL), "clients": 0,
    });
    serde_json::from_value(hello).unwrap()
}

impl Scene {
    async fn new() -> Self {
        Self::of(mark(std::process::id())).await
    }

    async fn of(process: Process) -> Self {
        let mut bench = Bench::new();
        let (supervisor, links) = supervisor(&bench);
        let id = bench.session().id;
        let (dir, worktree) = (bench.home.session(&id.0), bench.repo.to_str().unwrap().to_owned());
        std::fs::create_dir_all(dir.join(place::OUTPUT)).unwrap();
        for event in born(&worktree, &process) {
            record(&bench, &id, event);
        }
        let tool = json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "ls"}, "cwd": worktree});
        let with = |event: &str| {
            let mut words = tool.clone();
            words["hook_event_name"] = json!(event);
            format!("{words}\n")
        };
        let told = [hooks::mark(1), with("PreToolUse"), with("PermissionRequest")].concat();
        std::fs::write(dir.join(hooks::FILE), told).unwrap();
        let listener = UnixListener::bind(dir.join(place::SOCKET)).unwrap();
        supervisor.begin(Box::new(session(&bench, &id)), links.open(&id));
        let mut holder = Peer::new(listener.accept().await.unwrap().0);
        holder.send(&Report::Hello(hello(&id, &process))).await.unwrap();
        let ask = loop {
            if let Some(Input::Sign { sign: Sign::Asked(ask), .. }) = bench.told.recv().await {
                break Ask { answerer: Answerer::Rules, ..ask };
            }
        };
        record(&bench, &id, Event::Asked { ask: ask.clone(), spot: Spot::Hook(1) });
        let (rule, author, text) = ("ls".to_owned(), Author::Glis, ask.text.clone());
        let verdict = Verdict::Accept { rule, author };
        record(&bench, &id, Event::AskJudged { ask: ask.id.clone(), text, verdict });
        let (answer, reason) = (ALLOW.to_owned(), None);
        record(&bench, &id, Event::AnswerBegan { ask: ask.id.clone(), answer, reason });
        Self { bench, links, id, holder, ask, screen: String::new() }
    }

    fn record(&self, event: Event) {
        record(&self.bench, &self.id, event);
    }

    /// The answer of the rules is to be given, and waits for its question.
    async fn answer(&self) {
        let (ask, answer, reason) = (self.ask.clone(), ALLOW.to_owned(), None);
        self.links
            .send(&self.id, HolderCommand::Answer { ask: Box::new(ask), answer, reason })
            .unwrap();
        // One thing after the other: once this is told, that was taken.
        let (told, waits) = oneshot::channel();
        self.links.send(&self.id, HolderCommand::CheckIdle(StopCause::Idle, told)).unwrap();
        assert!(matches!(waits.await, Ok(Use::InUse)), "it owes an answer");
    }

    /// The agent has printed something.
    async fn print(&mut self, words: &str) {
        self.screen.push_str(words);
        let dir = self.bench.home.session(&self.id.0).join(place::OUTPUT);
        std::fs::write(dir.join(format!("{:016x}", 0)), &self.screen).unwrap();
        let end = self.screen.len() as u64;
        self.holder.send(&Report::Output { end }).await.unwrap();
    }

    /// What comes first: keys at the holder, or that the answer was not given.
    async fn end(&mut self) -> Result<Vec<u8>, String> {
        loop {
            tokio::select! {
                frame = self.holder.next() => match frame.unwrap().unwrap() {
                    Frame::Raw { bytes, .. } => return Ok(bytes),
                    Frame::Words(_) => {}
                },
                told = self.bench.told.recv() => {
                    let told = told.unwrap();
                    if let Input::Outcome { outcome: Outcome::AnswerNotGiven { why, .. }, .. } = told {
                        return Err(why.to_string());
                    }
                }
            }
        }
    }
}

fn born(worktree: &str, process: &Process) -> Vec<Event> {
    let mut events = crate::fill::born(1);
    for event in &mut events {
        if let Event::SessionCreated { spec, .. } = event {
            "claude".clone_into(&mut spec.agent);
            spec.mode = Mode::Terminal;
            spec.auto_yes = true;
        } else if let Event::WorktreeMade { worktree: place, .. } = event {
            worktree.clone_into(place);
        } else if let Event::ProcessStarted { process: own, .. } = event {
            *own = process.clone();
        }
    }
    events
}

fn record(bench: &Bench, id: &SessionId, event: Event) {
    let mut records = bench.records.lock().unwrap_or_else(PoisonError::into_inner);
    drop(records.house.record(0, id.clone().into(), event, None));
}

fn session(bench: &Bench, id: &SessionId) -> glis_core::Session {
    let records = bench.records.lock().unwrap_or_else(PoisonError::into_inner);
    records.house.session(id).unwrap().clone()
}

#[tokio::test]
async fn it_is_pressed_when_its_question_comes() {
    let mut scene = Scene::new().await;
    scene.answer().await;
    scene.print("Bash(ls)\r\n").await;
    scene.print(DIALOG).await;
    assert_eq!(scene.end().await, Ok(b"1".to_vec()));
}

/// Whoever switches auto-yes off has the last word also where the rules were faster.
#[tokio::test]
async fn it_is_withdrawn_when_auto_yes_is_switched_off() {
    let mut scene = Scene::new().await;
    scene.answer().await;
    scene.print("Bash(ls)\r\n").await;
    scene.record(Event::AutoYesSet { on: false });
    scene.print(DIALOG).await;
    let why = scene.end().await.unwrap_err();
    assert!(why.contains("auto-yes was switched off"), "{why}");
}

#[tokio::test]
async fn it_is_withdrawn_when_the_rules_forbid_it_or_leave_it_to_a_person_meanwhile() {
    for action in ["reject", "manual"] {
        let mut scene = Scene::new().await;
        scene.answer().await;
        scene.print("Bash(ls)\r\n").await;
        let file = scene.bench.home.config_file();
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new("/"))).unwrap();
        let rules = "[auto_yes]\nreject_patterns = [\"ls\"]\nreject_action =";
        std::fs::write(file, format!("{rules} \"{action}\"\n")).unwrap();
        scene.print(DIALOG).await;
        assert!(scene.end().await.is_err(), "{action}");
    }
}

/// A person who was not answered in time is asked, and what the rules still hold is theirs no more.
#[tokio::test]
async fn it_is_withdrawn_when_the_question_was_left_to_a_person() {
    let mut scene = Scene::new().await;
    scene.answer().await;
    let verdict = Verdict::manual(glis_core::verdict::Unruled::Overdue);
    let (ask, text) = (scene.ask.id.clone(), scene.ask.text.clone());
    scene.record(Event::AskJudged { ask, text, verdict });
    scene.print(DIALOG).await;
    assert!(scene.end().await.is_err());
}

/// A program that is slow to read its keys would take every one of them: the second for the question that
/// comes after the first, or for words at its prompt.
#[expect(clippy::disallowed_methods, reason = "an agent that never reads")]
#[tokio::test]
async fn it_is_not_pressed_again_before_the_first_key_was_read() {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let near = openpt(flags).unwrap();
    unlockpt(&near).unwrap();
    let far = ioctl_tiocgptpeer(&near, flags).unwrap();
    let mut modes = tcgetattr(&far).unwrap();
    modes.make_raw();
    tcsetattr(&far, OptionalActions::Now, &modes).unwrap();
    let mut agent =
        Command::new("sleep").arg("600").stdin(far.try_clone().unwrap()).spawn().unwrap();
    let mut scene = Scene::of(mark(agent.id())).await;
    scene.answer().await;
    scene.print(DIALOG).await;
    assert_eq!(scene.end().await, Ok(b"1".to_vec()));
    rustix::io::write(&near, b"1").unwrap();
    let again = timeout(Duration::from_secs(4), scene.end()).await;
    assert!(again.is_err(), "{again:?}");
    rustix::io::read(&far, &mut [0_u8; 8]).unwrap();
    assert_eq!(scene.end().await, Ok(b"1".to_vec()), "it was read, and swallowed");
    agent.kill().unwrap();
    agent.wait().unwrap();
}
