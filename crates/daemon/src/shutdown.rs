//! Shutdown of the daemon: who asks for it, what becomes of the agents, and who is told.

use crate::fault::DaemonFault;
use crate::jobs::Jobs;
use crate::log::LogFault;
use crate::mailbox::Query;
use glis_core::pause::PauseStep;
use glis_core::session::{Phase, StopCause};
use glis_core::{Command, Input, Session};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};
use tracing::{info, warn};

/// Between two looks at what still runs, if nothing happens in between.
const ROUND: Duration = Duration::from_secs(1);
/// Suspending takes no longer than this, or than an agent's own ladder and the time below.
const SUSPEND_SECS_MIN: u64 = 20;
/// What a holder needs beside its ladder: to be reached, to tell, and to be killed at the last.
const BESIDE_LADDER_SECS: u64 = 5;
/// An agent that has not ended this long before the end is killed.
const LAST_PRESS: Duration = Duration::from_secs(3);
/// How long saving what the agents have left may take. What is not saved then is saved by the next
/// daemon.
const SAVING_TIME: Duration = Duration::from_secs(20);
/// How long the answer to a request may take to leave. One that does not read is left behind.
const FAREWELL_TIME: Duration = Duration::from_secs(1);

/// How the daemon is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shutdown {
    LeaveAgents,
    SuspendAgents,
}

/// A request for the end, whose sender waits to hear what came of it.
pub(crate) struct ShutdownRequest {
    pub(crate) how: Shutdown,
    /// The sessions whose agents still run.
    pub(crate) told: oneshot::Sender<Vec<String>>,
    /// Closed once the answer has left.
    pub(crate) heard: oneshot::Receiver<()>,
}

/// Everything that can end the daemon.
pub(crate) struct ShutdownSignals {
    requests: mpsc::Receiver<ShutdownRequest>,
    /// Why there is no house any more.
    homeless: oneshot::Receiver<String>,
    failure: oneshot::Receiver<Result<(), LogFault>>,
    term: Signal,
    int: Signal,
    asked: Vec<ShutdownRequest>,
}

impl ShutdownSignals {
    pub(crate) fn new(
        requests: mpsc::Receiver<ShutdownRequest>,
        homeless: oneshot::Receiver<String>,
        failure: oneshot::Receiver<Result<(), LogFault>>,
    ) -> std::io::Result<Self> {
        let (term, int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(Self { requests, homeless, failure, term, int, asked: Vec::new() })
    }

    /// The next one. An error if there is no controller any more.
    pub(crate) async fn next(&mut self) -> Result<Shutdown, DaemonFault> {
        tokio::select! {
            Some(request) = self.requests.recv() => {
                let how = request.how;
                self.asked.push(request);
                Ok(how)
            }
            Ok(why) = &mut self.homeless => {
                warn!("{why}; the agents keep running");
                Ok(Shutdown::LeaveAgents)
            }
            _ = self.term.recv() => {
                info!("Received exit signal SIGTERM");
                Ok(Shutdown::LeaveAgents)
            }
            _ = self.int.recv() => {
                info!("Received exit signal SIGINT");
                Ok(Shutdown::LeaveAgents)
            }
            failed = &mut self.failure => {
                let fault = match failed {
                    Ok(Err(LogFault::Broken(why))) => DaemonFault::Broken(why),
                    Ok(Err(fault)) => DaemonFault::Log(fault.to_string()),
                    Ok(Ok(())) | Err(_) => DaemonFault::Broken("the controller has ended".to_owned()),
                };
                warn!("{fault}");
                Err(fault)
            }
        }
    }

    /// Ends the agents, unless another request wants the daemon to go at once. What still runs
    /// afterwards is in the daemon's log.
    pub(crate) async fn suspend(&mut self, jobs: &Jobs) -> Result<Vec<String>, DaemonFault> {
        let mut suspended = std::pin::pin!(suspend_all(jobs));
        loop {
            tokio::select! {
                () = &mut suspended => break,
                call = self.next() => match call? {
                    Shutdown::LeaveAgents => break,
                    // That is under way.
                    Shutdown::SuspendAgents => {}
                },
            }
        }
        let left = loop {
            tokio::select! {
                left = running(jobs) => break left,
                call = self.next() => drop(call?),
            }
        };
        let named = |session: &Arc<Session>| match session.process() {
            Some(process) => format!("{} (pid {})", session.name, process.pid),
            None => session.name.clone(),
        };
        let left: Vec<_> = left.iter().map(named).collect();
        if !left.is_empty() {
            info!("these agents could not be suspended and keep running: {}", left.join(", "));
        }
        Ok(left)
    }

    pub(crate) async fn tell(self, left: &[String]) {
        for request in self.asked {
            if request.told.send(left.to_vec()).is_ok() {
                drop(tokio::time::timeout(FAREWELL_TIME, request.heard).await);
            }
        }
    }
}

/// Sessions that have a process, or are about to.
async fn running(jobs: &Jobs) -> Vec<Arc<Session>> {
    let sessions = jobs.mailbox.query(Query::Living).await;
    if jobs.mailbox.mail.is_closed() {
        // What runs is not known any more; that the controller is gone ends everything.
        std::future::pending::<()>().await;
    }
    let runs = |s: &Arc<Session>| s.expects_process() || matches!(s.phase, Phase::Starting(_));
    sessions.into_iter().filter(runs).collect()
}

/// Ends every agent, in parallel. One that cannot be stopped yet is asked again at each news, for
/// as long as the slowest may take.
async fn suspend_all(jobs: &Jobs) {
    let mut news = jobs.mailbox.news.subscribe();
    let config = jobs.config();
    let pause = &config.pause;
    let ladder = u64::from(pause.interrupt_secs) + u64::from(pause.terminate_secs);
    let patience = Duration::from_secs((ladder + BESIDE_LADDER_SECS).max(SUSPEND_SECS_MIN));
    let begun = Instant::now();
    let mut pressed = false;
    while begun.elapsed() < patience {
        let sessions = running(jobs).await;
        if sessions.is_empty() {
            save_all(jobs).await;
            // A loop that was between two iterations may have begun the next one meanwhile.
            if running(jobs).await.is_empty() {
                return;
            }
            continue;
        }
        let late = !pressed && begun.elapsed() + LAST_PRESS > patience;
        let press = if late { Press::Last } else { Press::Gentle };
        for session in sessions {
            if let Some(command) = ending(&session, press) {
                // A refusal means that it cannot be ended yet; the next round sees.
                drop(jobs.mailbox.ask(Input::Command(command), None).await);
            }
        }
        pressed |= late;
        tokio::select! {
            // After a gap in the news the sessions are looked at all the same.
            _ = news.recv() => {}
            () = sleep(ROUND) => {}
        }
    }
    save_all(jobs).await;
}

/// Waits until what agents have left is saved.
async fn save_all(jobs: &Jobs) {
    if tokio::time::timeout(SAVING_TIME, jobs.rest()).await.is_err() {
        warn!("not everything is saved; the next start does that");
    }
}

/// How hard an agent is pressed to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Press {
    Gentle,
    /// The time is nearly up.
    Last,
}

/// What brings this session nearer to its end.
fn ending(session: &Session, press: Press) -> Option<Command> {
    let late = press == Press::Last;
    let stop = Command::Stop { session: session.id.clone(), cause: StopCause::Shutdown };
    match &session.phase {
        Phase::Live | Phase::Starting(_) => Some(stop),
        // A second press kills: only once the first has had its time.
        Phase::Stopping { .. } => late.then_some(stop),
        // A turn may have no end; the pause would wait for it. What is past that has a bound of its
        // own, and is overruled only when the time is nearly up.
        Phase::Pausing(pause) => (late || pause.step == PauseStep::Boundary).then_some(stop),
        Phase::Rest(_) | Phase::Chore { .. } => None,
    }
}
