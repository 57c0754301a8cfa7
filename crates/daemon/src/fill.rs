//! A log as long as years of use would make it, for measuring how fast the daemon starts with it.

use crate::log::{Aids, Backup, Checkpoint, EventLog};
use crate::{DaemonFault, copies, durable};
use glis_core::event::{Ending, Spot};
use glis_core::session::{Process, StartCause};
use glis_core::spec::{Mode, RefOrigin, SignSource, Spec, Takes, Traits};
use glis_core::{Event, House, MessageId, OpId, Recorded, SessionId};
use glis_wire::home::Home;
use std::path::Path;

/// Sessions that the events are about.
const SESSIONS: u64 = 100;

/// Writes at least `count` events into a house that has no log yet: sessions that were made, had
/// their turns, and sleep now.
pub fn fill_log(home: &Home, count: u64) -> Result<(), DaemonFault> {
    let fault = |fault: crate::log::LogFault| DaemonFault::Log(fault.to_string());
    if home.events().exists() {
        return Err(DaemonFault::Log("there is a log already, and it is left alone".to_owned()));
    }
    durable::private_folder(&home.state)?;
    let mut log = EventLog::open(&home.events(), Aids::default()).map_err(fault)?.log;
    let mut recorded = Vec::new();
    let mut record = |session: &SessionId, event: Event| {
        let at = 1_700_000_000_000 + i64::try_from(recorded.len()).unwrap_or_default();
        let seq = recorded.len() as u64 + 1;
        recorded.push(Recorded { seq, at, session: session.clone(), event });
    };
    let sessions: Vec<_> = (0..SESSIONS).map(|n| SessionId(format!("00000000-{n:04}"))).collect();
    for (n, session) in (0..).zip(&sessions) {
        for event in born(n) {
            record(session, event);
        }
    }
    let turns = count.saturating_sub(SESSIONS * 8) / 7 + 1;
    for turn in 0..turns {
        if let Some(session) = sessions.get(usize::try_from(turn % SESSIONS).unwrap_or_default()) {
            for event in a_turn(turn) {
                record(session, event);
            }
        }
    }
    for session in &sessions {
        let ended = Event::ProcessEnded {
            generation: 1,
            ending: Ending::Exited(0),
            ordered: true,
            killed: Vec::new(),
        };
        record(session, ended);
        record(session, Event::Suspended { op: None });
    }
    log.append(&recorded).map_err(fault)?;
    copy(&recorded, &log, &copies::folder(&home.state))?;
    Ok(())
}

/// What a daemon that has ended in order leaves beside its log.
fn copy(recorded: &[Recorded], log: &EventLog, folder: &Path) -> std::io::Result<()> {
    let mut house = House::default();
    for recorded in recorded {
        house.apply(recorded);
    }
    Checkpoint { house, mark: log.end() }.write(folder)?;
    let mut backup = Backup::open(folder, log.id())?;
    backup.append(recorded)?;
    backup.complete()
}

pub(crate) fn born(n: u64) -> Vec<Event> {
    let op = OpId(n);
    let spec = Spec {
        agent: "rehearsal".to_owned(),
        mode: Mode::Headless,
        traits: Traits {
            refs: RefOrigin::Chosen,
            signs: SignSource::Structured,
            takes: Takes::WhenIdle,
        },
        repo_root: "/nowhere".to_owned(),
        in_place: true,
        base: None,
        argv: Vec::new(),
        prompt: None,
        model: None,
        persona: None,
        system_prompt: None,
        permission_mode: None,
        idle_timeout_secs: 600,
        auto_yes: false,
        remove_worktree: None,
    };
    let process = Process { pid: 1, start_ticks: 1, boot_id: "none".to_owned() };
    vec![
        Event::SessionCreated {
            op,
            name: format!("session-{n}"),
            spec: Box::new(spec),
            agent_ref: Some(format!("ref-{n}")),
        },
        Event::WorktreeMade {
            op,
            worktree: "/nowhere".to_owned(),
            branch: None,
            notes: Vec::new(),
        },
        Event::StartBegan { op, cause: StartCause::New, generation: 1 },
        Event::StartChecked { op, found: None },
        Event::ProcessStarted { op, process, began_at: 0 },
        Event::StartEnded { op, cause: StartCause::New },
    ]
}

fn a_turn(turn: u64) -> Vec<Event> {
    let (message, spot) = (MessageId(turn), Spot::Stream(turn * 100));
    let tool = format!("tool-{turn}");
    vec![
        Event::MessageQueued {
            first: false,
            message,
            text: "look at the parser and mend what is wrong".to_owned(),
        },
        Event::DeliveryBegan { message },
        Event::MessageTaken { message, spot: Some(spot) },
        Event::TurnBegan { spot },
        Event::ToolBegan { tool: tool.clone(), what: "run make".to_owned(), spot },
        Event::ToolEnded { tool, spot },
        Event::TurnEnded { spot, cut: false },
    ]
}
