//! What became of a process, found out without any: by what its holder left.

use super::Bench;
use crate::day::Day;
use crate::launch;
use crate::links::{HolderCommand, Links};
use crate::live::Live;
use crate::supervise::Supervisor;
use glis_core::Input;
use glis_core::event::Ending;
use glis_core::input::{Outcome, World};
use glis_wire::hold::{Children, End, ExitRecord, Ladder, Process, place};
use std::sync::Arc;
use tokio::runtime::Handle;

const AT_ONCE: Ladder = Ladder { interrupt_ms: 0, terminate_ms: 0 };

pub(super) fn supervisor(bench: &Bench) -> (Arc<Supervisor>, Arc<Links>) {
    let links = Arc::new(Links::default());
    let settings = Arc::clone(&bench.settings);
    let supervisor = Supervisor {
        home: bench.home.clone(),
        settings,
        mailbox: bench.mailbox.clone(),
        environments: Arc::clone(&bench.environments),
        live: Arc::new(Live::new(bench.home.clone())),
        links: Arc::clone(&links),
        agents: launch::agents(&bench.home),
        runtime: Handle::current(),
        pools: bench.pools.clone(),
        day: Arc::new(Day::new(bench.home.clone())),
    };
    (Arc::new(supervisor), links)
}

fn exited(session: &str, generation: u32, status: i32) -> ExitRecord {
    ExitRecord {
        session: session.to_owned(),
        generation,
        process: Process { pid: 1, start_ticks: 1, boot_id: "none".to_owned() },
        end: End::Exited(status),
        ordered: false,
        log_end: 0,
        killed: Vec::new(),
        stuck: Vec::new(),
        kept: Vec::new(),
        log_began: None,
        errors_began: None,
        grace_ms: None,
    }
}

#[tokio::test]
async fn a_process_whose_holder_left_a_record_has_ended_as_that_says() {
    let mut bench = Bench::new();
    let ((supervisor, _), session) = (supervisor(&bench), bench.session());
    let dir = bench.home.session(&session.id.0);
    std::fs::create_dir_all(&dir).unwrap();
    let write = |record: &ExitRecord| {
        std::fs::write(dir.join(place::EXIT), serde_json::to_vec(record).unwrap()).unwrap();
    };
    write(&exited(&session.id.0, session.agent.generation, 3));
    supervisor.recover(session.clone()).await;
    let Some(Input::Observed { world: World::Ended { generation, exit }, .. }) =
        bench.told.recv().await
    else {
        panic!("its end is not told");
    };
    assert_eq!((generation, exit.ending), (session.agent.generation, Ending::Exited(3)));
    // The end of a former process says nothing about this one, which began before the machine did.
    write(&exited(&session.id.0, session.agent.generation - 1, 0));
    supervisor.recover(session).await;
    let told = bench.told.recv().await;
    let Some(Input::Observed { world: World::Ended { exit, .. }, .. }) = told else {
        panic!("its end is not told");
    };
    assert_eq!(exit.ending, Ending::Reboot);
}

#[tokio::test]
async fn a_stop_goes_to_the_task_that_supervises_and_without_one_the_end_is_told_all_the_same() {
    let mut bench = Bench::new();
    let ((supervisor, links), session) = (supervisor(&bench), bench.session());
    let mut commands = links.open(&session.id);
    supervisor.stop(&session, session.agent.generation, AT_ONCE, Children::StopAll);
    let sent = commands.recv().await;
    assert!(matches!(sent.as_deref(), Some(HolderCommand::Stop { .. })));
    // No task, no holder, no process: what is left of it is told.
    drop(commands);
    let alone = bench.session();
    supervisor.stop(&alone, alone.agent.generation, AT_ONCE, Children::StopAll);
    let Outcome::ProcessEnded { generation, exit } = bench.outcome().await else { panic!() };
    assert_eq!((generation, exit.ending), (alone.agent.generation, Ending::Unknown));
    assert!(exit.left.stuck.is_empty());
}
