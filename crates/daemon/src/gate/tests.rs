//! The file of the gate, alone: what is written is read, and what is not understood is kept.

use super::*;
use crate::mailbox::Mail;
use glis_core::gate::GateWish;
use glis_core::pause::{OnTimeout, PauseMode, PauseReason};
use glis_core::{Event, Gate, GateCommand, Recorded, Subject};
use tokio::sync::mpsc;

const PAGE: &str = include_str!("../../../../docs/gate.md");

/// A store in a folder of its own, and what it tells.
fn store(folder: &std::path::Path) -> (Arc<GateStore>, mpsc::Receiver<Mail>) {
    let (mailbox, inbox) = Mailbox::new("a log");
    (GateStore::new(Home::under(folder), Pools::default(), mailbox), inbox)
}

/// A house whose gate is shut, with nothing in it.
fn shut_house() -> House {
    let mut house = House::default();
    let wish = GateWish {
        mode: PauseMode::Boundary,
        reason: PauseReason::User,
        on_timeout: OnTimeout::Refuse,
        clearing: None,
        removes: false,
        full: Vec::new(),
    };
    let decision = house.decide(Input::Gate(GateCommand::Shut(wish))).unwrap();
    for (subject, event) in decision.events {
        house.apply(&Recorded::new(house.last_seq() + 1, 5, subject, event));
    }
    house
}

fn shut_of(house: &House) -> Shut {
    house.gate().shut().unwrap().clone()
}

fn sample() -> GateFile {
    let id = "0199c0de-0000-7000-8000-000000000001".to_owned();
    GateFile {
        schema_version: SCHEMA,
        log_id: "a log".to_owned(),
        gate: 0,
        paused_at: time(5),
        reason: PauseReason::User,
        active_agents: vec![AgentState {
            session: id.clone(),
            name: "blue".to_owned(),
            agent: "claude".to_owned(),
            generation: 2,
            context: Context { worktree: None, branch: None, snapshot: None },
            memory: Memory { agent_session_ref: None, transcript: 7, output: 9 },
            pending_tool_calls: vec!["may I?".to_owned()],
            cut_off: false,
        }],
        pending_tasks: vec![TaskState { session: id, messages: 1, starts: true }],
        plan_tasks: vec![PlanTask {
            plan: "glis/plan/shop".to_owned(),
            task: "schema".to_owned(),
            state: Some(RunState::Paused),
        }],
    }
}

#[tokio::test]
async fn what_is_kept_is_told_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (store, mut inbox) = store(folder.path());
    let house = shut_house();
    assert_eq!(store.load(), Loaded::Missing);
    store.keep(&house, OpId(0));
    let Some(Mail::Input(Input::GateKept { op: OpId(0), result: Ok(()) })) = inbox.recv().await
    else {
        panic!("not kept");
    };
    let Loaded::Kept(file) = store.load() else { panic!("{:?}", store.load()) };
    assert_eq!((file.fault(&shut_of(&house)), file.set()), (None, Vec::new()));
    assert_eq!(file.paused_at, time(5));
    // Where nothing is shut there is nothing to keep.
    store.keep(&House::default(), OpId(0));
    assert!(held(&store.wanted).is_none());
}

#[tokio::test]
async fn what_cannot_be_written_is_told_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (store, mut inbox) = store(&folder.path().join("gone"));
    store.keep(&shut_house(), OpId(0));
    let Some(Mail::Input(Input::GateKept { result: Err(why), .. })) = inbox.recv().await else {
        panic!("it was kept");
    };
    assert!(why.stored().contains("No such file"), "{why}");
}

#[test]
fn a_file_of_another_gate_or_form_or_with_a_session_missing_is_not_used() {
    let mut shut = shut_of(&shut_house());
    let mut file = sample();
    assert_eq!(file.fault(&shut), None, "one that was taken out since may still be in it");
    shut.set.insert(SessionId("another".to_owned()));
    assert!(file.fault(&shut).unwrap().contains("another was stopped"));
    file.gate = 9;
    assert!(file.fault(&shut).unwrap().contains("pause 9"));
    file.schema_version = 2;
    assert!(file.fault(&shut).unwrap().contains("form 2"));
}

#[tokio::test]
async fn what_is_not_understood_is_kept_aside_and_what_is_over_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _inbox) = store(folder.path());
    let aside = || {
        let names = std::fs::read_dir(folder.path()).unwrap().flatten();
        names.filter(|entry| entry.file_name() != FILE).count()
    };
    store.remove(OpId(5), GateSource::Snapshot).unwrap();
    store.save(&sample()).unwrap();
    store.remove(OpId(5), GateSource::Snapshot).unwrap();
    assert_eq!((store.load(), aside()), (Loaded::Missing, 0));
    // One of a pause that the log does not know may be all that tells of it.
    store.save(&sample()).unwrap();
    store.remove(OpId(0), GateSource::Snapshot).unwrap();
    assert_eq!((store.load(), aside()), (Loaded::Missing, 1));
    for damaged in ["", "{}", "{\"schema_version\":1"] {
        std::fs::write(store.path(), damaged).unwrap();
        assert!(matches!(store.load(), Loaded::Damaged(_)), "{damaged}");
    }
    let before = aside();
    for kept in 1..=20 {
        std::fs::write(store.path(), "x").unwrap();
        store.put_aside("a test").unwrap();
        assert_eq!(aside(), before + kept, "none takes the place of another");
    }
    std::fs::create_dir(store.path()).unwrap();
    assert_eq!(store.load(), Loaded::Damaged("it is not a file of ours".to_owned()));
    store.save(&sample()).unwrap();
    assert!(matches!(store.load(), Loaded::Kept(_)), "what was in the way is kept aside");
    store.remove(OpId(5), GateSource::Log).unwrap();
    assert_eq!(store.load(), Loaded::Missing);
    std::fs::write(store.path(), "x").unwrap();
    store.remove(OpId(5), GateSource::Snapshot).unwrap();
    assert_eq!(store.load(), Loaded::Missing);
}

#[tokio::test]
async fn what_stands_in_the_way_of_the_file_is_told_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (large, _inbox) = store(folder.path());
    std::fs::File::create(large.path()).unwrap().set_len(BYTES_MAX + 1).unwrap();
    assert_eq!(large.load(), Loaded::Damaged("it is not a file of ours".to_owned()));
    // A file where the folder should be: nothing can be read, written or put aside.
    let state = folder.path().join("state");
    std::fs::write(&state, "mine").unwrap();
    let (blocked, _inbox) = store(&state);
    assert!(matches!(blocked.load(), Loaded::Damaged(_)), "{:?}", blocked.load());
    *held(&blocked.wanted) = Some(Wanted::Keep(OpId(1), sample()));
    assert!(matches!(blocked.carry_out(), Some((OpId(1), Err(_)))));
    *held(&blocked.wanted) = Some(Wanted::Drop(OpId(5), GateSource::Snapshot));
    assert!(blocked.carry_out().is_none());
    assert_eq!(std::fs::read_to_string(&state).unwrap(), "mine");
}

/// Those that were stopped, and those in which something waits; not who has nothing to do with either.
#[test]
fn each_session_is_written_down_with_what_waits_in_it() {
    let mut house = House::default();
    let mut record = |session: &str, events: Vec<Event>| {
        for event in events {
            let subject = SessionId(session.to_owned()).into();
            house.apply(&Recorded::new(house.last_seq() + 1, 5, subject, event));
        }
    };
    for (n, session) in (1..).zip(["stopped", "waits", "rests"]) {
        record(session, crate::fill::born(n));
    }
    let queued = |text: &str| Event::MessageQueued {
        first: false,
        message: glis_core::MessageId(90),
        text: text.to_owned(),
    };
    record("waits", vec![queued("hello")]);
    let mut shut = shut_of(&shut_house());
    shut.set.insert(SessionId("stopped".to_owned()));
    let file = GateFile::of(&house, &shut, "a log".to_owned());
    let names = |file: &GateFile| {
        let agents = file.active_agents.iter().map(|agent| agent.session.clone());
        let tasks = file.pending_tasks.iter().map(|task| (task.session.clone(), task.messages));
        (agents.collect::<Vec<_>>(), tasks.collect::<Vec<_>>())
    };
    assert_eq!(names(&file), (vec!["stopped".to_owned()], vec![("waits".to_owned(), 1)]));
    assert_eq!(file.fault(&shut), None);
}

#[tokio::test]
async fn only_what_was_asked_for_last_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _inbox) = store(folder.path());
    *held(&store.wanted) = Some(Wanted::Drop(OpId(5), GateSource::Snapshot));
    assert!(store.carry_out().is_none());
    assert!(store.carry_out().is_none(), "nothing is wanted any more");
    *held(&store.wanted) = Some(Wanted::Keep(OpId(1), sample()));
    assert_eq!(store.carry_out(), Some((OpId(1), Ok(()))));
}

/// The names of all fields, a dot between those of an object and its own.
fn fields(value: &serde_json::Value, path: &str, found: &mut Vec<String>) {
    if let Some(object) = value.as_object() {
        for (name, value) in object {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            found.push(path.clone());
            fields(value, &path, found);
        }
    }
    if let Some(value) = value.as_array().and_then(|values| values.first()) {
        fields(value, path, found);
    }
}

#[test]
fn the_page_has_the_form_of_the_file() {
    let mut written = Vec::new();
    fields(&serde_json::to_value(sample()).unwrap(), "", &mut written);
    let row = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    let section = PAGE.split("## The file").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut told: Vec<_> = section.lines().filter_map(row).collect();
    written.sort();
    told.sort();
    assert_eq!(told, written);
    assert!(section.contains(&format!("`schema_version` | {SCHEMA}")));
    assert!(section.contains(&format!("`{FILE}`")));
}

#[test]
fn an_event_of_the_gate_is_about_the_house_and_has_the_contracts_name() {
    let house = shut_house();
    assert!(matches!(house.gate(), Gate::Pausing(_)));
    let op = shut_of(&house).op;
    let decision = house.decide(Input::GateKept { op, result: Ok(()) }).unwrap();
    let [(Subject::House, event @ Event::Gate(_))] = decision.events.as_slice() else {
        panic!("{:?}", decision.events);
    };
    assert_eq!(crate::view::event_name(event), "orchestrator:paused");
}
