//! The rooms of the daemon: each subsystem made once, and handed to those that need it.

use crate::access::Accesses;
use crate::cards::sessions_folder;
use crate::common::Common;
use crate::compact::Compactor;
use crate::create::Creator;
use crate::day::Day;
use crate::dispatch::Dispatcher;
use crate::doctor::Doctor;
use crate::environments::Environments;
use crate::fault::DaemonFault;
use crate::gate::GateStore;
use crate::jobs::Jobs;
use crate::judging::Judging;
use crate::keeper::{Keeper, Standing};
use crate::launch::{self, Launcher};
use crate::links::Links;
use crate::live::Live;
use crate::locks::is_locked;
use crate::log::LogFault;
use crate::lookback::LookBack;
use crate::looks::Looks;
use crate::mailbox::{Mail, Mailbox, Query};
use crate::notify::Notifier;
use crate::places::Places;
use crate::plans::Plans;
use crate::pools::{Kind, Pools};
use crate::premises::Premises;
use crate::pressure;
use crate::provision::Provision;
use crate::run_records::RunRecords;
use crate::screens::Screens;
use crate::serve::{self, Daemon, Keys, Owed, ServerState};
use crate::settings::Settings;
use crate::shutdown::{Shutdown, ShutdownSignals};
use crate::strays::Strays;
use crate::strikes::Strikes;
use crate::supervise::Supervisor;
use crate::tasks::beside;
use crate::timers::Timers;
use crate::trees::{self, Trees};
use crate::views::Views;
use glis_core::input::{Input, World};
use glis_core::leftover::Leftovers;
use glis_core::session::{Phase, Session};
use glis_core::{Command, SessionId, Status};
use glis_wire::build::Build;
use glis_wire::home::Home;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::net::UnixListener;
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, oneshot};
use tracing::{info, warn};

/// All processes of a machine are looked at in some milliseconds.
const STRAYS_TIME: Duration = Duration::from_secs(1);

/// The subsystems, as they are made. No subsystem sees this: each is handed what it needs.
pub(crate) struct Rooms {
    /// Those that carry effects out.
    parts: Arc<Dispatcher>,
    mailbox: Mailbox,
    pools: Pools,
    environments: Arc<Environments>,
    live: Arc<Live>,
    accesses: Arc<Accesses>,
    places: Arc<Places>,
    creator: Arc<Creator>,
}

impl Rooms {
    /// They belong to the runtime that this is called in.
    pub(crate) fn new(
        home: &Home,
        settings: Settings,
        strikes: Strikes,
        mailbox: Mailbox,
        umask: u32,
        standing: Standing,
    ) -> Self {
        let (home, settings) = (home.clone(), Arc::new(settings));
        let (pools, screens) = (Pools::default(), Arc::new(Screens::default()));
        let links = Arc::new(Links::default());
        let environments = Arc::new(Environments::new(home.clone()));
        let live = Arc::new(Live::new(home.clone()));
        let config = || Arc::clone(&settings);
        let common = Arc::new(Common {
            home: home.clone(),
            settings: config(),
            environments: Arc::clone(&environments),
            umask,
        });
        let all = || Arc::clone(&common);
        let timers = Arc::new(Timers::new(mailbox.clone(), config(), pools.clone()));
        let time = timers.time.clone();
        let jobs = Jobs::new(mailbox.clone(), config(), strikes, pools.clone(), time);
        let works = || Arc::clone(&jobs);
        let provision = Provision::new(all());
        let trees = Trees::new(all(), works(), Arc::clone(&provision));
        let launcher = Launcher::new(all(), Arc::clone(&trees));
        let accesses = Arc::<Accesses>::default();
        let compactor =
            Arc::new(Compactor { common: all(), jobs: works(), accesses: Arc::clone(&accesses) });
        let look_back =
            Arc::new(LookBack { common: all(), jobs: works(), trees: Arc::clone(&trees) });
        let supervisor = Arc::new(Supervisor {
            agents: launch::agents(&home),
            home: home.clone(),
            settings: config(),
            mailbox: mailbox.clone(),
            environments: Arc::clone(&environments),
            live: Arc::clone(&live),
            links: Arc::clone(&links),
            runtime: Handle::current(),
            pools: pools.clone(),
            day: Arc::new(Day::new(home.clone())),
        });
        let places = Places::new(config(), pools.clone(), mailbox.clone());
        let gate = GateStore::new(home.clone(), pools.clone(), mailbox.clone());
        let creator = Arc::new(Creator { common: all(), mailbox: mailbox.clone(), jobs: works() });
        let records = RunRecords::new(Arc::clone(&live), pools.clone());
        let plans = Plans::new(all(), works(), Arc::clone(&trees), Arc::clone(&creator), records);
        let judging = Judging { common: all(), jobs: works() };
        let parts = Arc::new(Dispatcher {
            home,
            settings,
            jobs,
            trees,
            compactor,
            look_back,
            provision,
            launcher,
            supervisor,
            links,
            screens,
            timers,
            gate,
            judging,
            plans,
            keeper: Arc::new(Keeper::new(standing, pools.clone(), umask)),
        });
        Self { parts, mailbox, pools, environments, live, accesses, places, creator }
    }

    pub(crate) fn dispatcher(&self) -> Arc<Dispatcher> {
        Arc::clone(&self.parts)
    }

    /// What carries out what plans decide on.
    pub(crate) fn plans(&self) -> Arc<Plans> {
        Arc::clone(&self.parts.plans)
    }

    /// Lets go of what can be read again or is over.
    pub(crate) fn forget(&self) {
        self.live.forget();
        self.accesses.forget();
        self.environments.forget();
        self.parts.jobs.bounds.turns.forget();
    }

    pub(crate) fn notifier(&self) -> Notifier {
        Notifier {
            home: self.parts.home.clone(),
            settings: Arc::clone(&self.parts.settings),
            mailbox: self.mailbox.clone(),
            pools: self.pools.clone(),
            time: self.parts.timers.time.clone(),
        }
    }

    /// Removes what a save that was killed left behind, beside everything else.
    pub(crate) fn sweep(&self, repositories: BTreeSet<PathBuf>) {
        let pools = self.pools.clone();
        let sweep = move || trees::sweep(repositories);
        beside(async move { pools.run_blocking(Kind::Tree, sweep).await });
    }

    fn server(&self, daemon: Daemon) -> ServerState {
        let (home, settings) = (self.parts.home.clone(), Arc::clone(&self.parts.settings));
        let (mailbox, pools) = (self.mailbox.clone(), self.pools.clone());
        ServerState {
            places: Arc::clone(&self.places),
            views: Arc::new(Views {
                home: home.clone(),
                live: Arc::clone(&self.live),
                environments: Arc::clone(&self.environments),
                launcher: Arc::clone(&self.parts.launcher),
                screens: Arc::clone(&self.parts.screens),
                timers: Arc::clone(&self.parts.timers),
                accesses: Arc::clone(&self.accesses),
                pools: pools.clone(),
                looks: Looks::new(pools.clone()),
            }),
            creator: Arc::clone(&self.creator),
            plans: Arc::clone(&self.parts.plans),
            doctor: Doctor {
                home: home.clone(),
                settings: Arc::clone(&settings),
                mailbox: mailbox.clone(),
                trees: Arc::clone(&self.parts.trees),
                launcher: Arc::clone(&self.parts.launcher),
                live: Arc::clone(&self.live),
            },
            trees: Arc::clone(&self.parts.trees),
            gate: Arc::clone(&self.parts.gate),
            home,
            settings,
            mailbox,
            pools,
            daemon,
        }
    }

    /// Finds out what became of everything that was under way, before any front end is let in.
    pub(crate) async fn recover(&self, sessions: Vec<Arc<Session>>) {
        // Beside a session at rest nothing lives, unless the log has lost its end.
        let at_rest = |session: &Session| {
            matches!(session.phase, Phase::Rest(_))
                && !session.expects_process()
                && session.upkeep.saving.is_none()
                && !is_locked(&self.parts.home.session(&session.id.0))
        };
        self.bar().await;
        let ran: BTreeSet<SessionId> =
            sessions.iter().filter(|session| session.runs()).map(|s| s.id.clone()).collect();
        let mut tasks = tokio::task::JoinSet::new();
        for session in sessions {
            if !at_rest(&session) {
                let supervisor = Arc::clone(&self.parts.supervisor);
                tasks.spawn(async move { supervisor.recover(Session::clone(&session)).await });
            } else if session.needs_a_daemon() {
                let world = World::Gone { left: Leftovers::default() };
                let session = session.id.clone();
                self.mailbox.tell(Input::Observed { session, world }).await;
            }
        }
        while tasks.join_next().await.is_some() {}
        self.places.tell().await;
        let plans = Arc::clone(&self.parts.plans);
        self.mailbox.house(move |house| plans.catch_up(house)).await;
        self.mailbox.tell(Input::AllObserved).await;
        if self.parts.settings.now().resume.interrupted {
            beside(bring_back(self.mailbox.clone(), ran));
        }
    }

    /// What has taken the daemon down twice is not gone on with: that is on record before anything else
    /// happens.
    async fn bar(&self) {
        let strikes = &self.parts.jobs.strikes;
        let out = strikes.out();
        if out.is_empty() {
            return;
        }
        for (session, strike) in out {
            let why = "the daemon died of it twice".to_owned();
            warn!(session = %session, "{}: {why}", strike.what);
            self.mailbox.tell(Input::Broke { session, what: strike.what, why }).await;
        }
        // Questions are answered after everything before them is durable.
        drop(self.mailbox.query(Query::Living).await);
        strikes.forget_out();
    }

    /// Finds agents of this home that are on no record, before a front end is told what there is.
    async fn look_for_strays(&self) -> Arc<Strays> {
        let strays = Arc::<Strays>::default();
        let all = self.mailbox.query(Query::All).await;
        let known = all.iter().map(|session| session.id.0.clone()).collect();
        let (own, folder) = (Arc::clone(&strays), sessions_folder(&self.parts.home));
        let look = self.pools.run_blocking(Kind::Look, move || own.look(&folder, &known));
        // A process that the kernel cannot tell of now is found later, and nothing waits for it.
        drop(tokio::time::timeout(STRAYS_TIME, look).await);
        strays
    }

    /// Serves front ends until the daemon is told to end.
    pub(crate) async fn serve(
        &self,
        (premises, build, called): (&Arc<Premises>, Build, Arc<Notify>),
        listener: UnixListener,
        failure: oneshot::Receiver<Result<(), LogFault>>,
    ) -> Result<(), DaemonFault> {
        let (shutdown, requests) = mpsc::channel(4);
        let (fresh, listeners) = mpsc::channel(1);
        let (moved, homeless) = oneshot::channel();
        let mut signals = ShutdownSignals::new(requests, homeless, failure)?;
        let (guard, home) = (Arc::clone(premises), self.parts.home.clone());
        let (places, mailbox) = (Arc::clone(&self.places), self.mailbox.clone());
        let guarding = tokio::spawn(async move {
            moved.send(guard.guard(&home, &places, &mailbox, fresh).await).ok();
        });
        let (since, ending) = (Instant::now(), AtomicBool::new(false));
        let keys = Keys::new(&self.parts.home.state, self.pools.clone());
        let (owed, watches) = (Owed::default(), Arc::default());
        let strays = self.look_for_strays().await;
        pressure::begin(self.mailbox.clone(), Arc::clone(&self.parts.settings));
        let daemon = Daemon { build, since, shutdown, ending, keys, owed, watches, strays, called };
        let state = Arc::new(self.server(daemon));
        let serving = tokio::spawn(serve::serve(Arc::clone(&state), listener, listeners));
        let called = match signals.next().await {
            // The log is the first to miss the folder that it lies in.
            Err(_) if !premises.is_in_place() => {
                serving.abort();
                guarding.abort();
                info!("{}; the agents keep running", premises.moved());
                return Ok(());
            }
            Err(fault) => {
                state.daemon.owed.fail().await;
                // What a fault of ours has broken off is not told as the log's.
                if matches!(fault, DaemonFault::Log(_)) {
                    state.daemon.owed.tell().await;
                }
                return Err(fault);
            }
            Ok(called) => called,
        };
        self.parts.keeper.dismiss().await;
        let left = match called {
            Shutdown::LeaveAgents => Vec::new(),
            Shutdown::SuspendAgents => {
                // What began from now on would only have to be ended too.
                state.daemon.ending.store(true, Ordering::Relaxed);
                self.places.close().await;
                signals.suspend(&self.parts.jobs).await?
            }
        };
        signals.tell(&left).await;
        serving.abort();
        guarding.abort();
        let (answer, closed) = oneshot::channel();
        drop(self.mailbox.mail.send(Mail::Close(answer)).await);
        drop(closed.await);
        info!("ended");
        Ok(())
    }
}

/// Resumes the agents that died while no daemon ran, where the user wants that. Any other that is
/// interrupted has been seen as such before, and waits for its user.
async fn bring_back(mailbox: Mailbox, ran: BTreeSet<SessionId>) {
    let found = mailbox.query(Query::Living).await;
    let died = |session: &&Arc<Session>| {
        session.status() == Status::Interrupted && ran.contains(&session.id)
    };
    for session in found.iter().filter(died) {
        let prompt = session.continuation();
        let resume = Command::Resume { session: session.id.clone(), prompt };
        match mailbox.ask(Input::Command(resume), None).await {
            Some(Ok(_)) => info!(session = %session.id, "interrupted, and resumed"),
            Some(Err(refusal)) => {
                warn!(session = %session.id, "not resumed: {refusal:?}");
            }
            None => return,
        }
    }
}
