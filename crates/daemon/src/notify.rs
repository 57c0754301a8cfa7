//! Tells the user, who looks at something else, what a session needs or has come to.
//!
//! It follows the events. What they tell is gathered for a moment and told if it is still so: a
//! question that a rule has answered meanwhile, or a turn that the next message has begun, is no news.
//! Up to where it has told is kept in a file, so that what happened while no daemon ran is told too.

mod news;
mod teller;

use self::news::{Kind, News};
use self::teller::Teller;
use crate::mailbox::{Mailbox, Published, Query};
use crate::plan_view;
use crate::pools::{self, Pools};
use crate::settings::Settings;
use crate::timers::Time;
use crate::view;
use glis_core::redact::redact;
use glis_core::{Event, House, PlanEvent, PlanId, Recorded, RunId, Session, SessionId, Subject};
use glis_record::durable;
use glis_wire::home::Home;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tracing::warn;

/// So long is gathered what comes together: about what a rule needs for its verdict, and no more than a
/// person takes for at once.
const GATHERING: Duration = Duration::from_secs(1);
/// So far back is looked at for what happened while no daemon ran. Further back nothing is news.
const PAST: u64 = 10_000;
const READ: u32 = 500;
/// Where it is kept up to which event was told.
const PLACE: &str = "notified";

/// Follows the events and tells of them.
pub(crate) struct Notifier {
    pub(crate) home: Home,
    pub(crate) settings: Arc<Settings>,
    pub(crate) mailbox: Mailbox,
    pub(crate) pools: Pools,
    pub(crate) time: Time,
}

/// Who something is told of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum About {
    Session(SessionId),
    Run(PlanId, RunId),
    Task(PlanId, String),
    /// A plan of which nothing more begins.
    Plan(PlanId),
    /// The budget of the day.
    Day,
}

/// What was told last of each, until the user has had a hand in it.
type Told = HashMap<About, (Kind, String)>;
type Due = BTreeMap<About, News>;

impl Notifier {
    /// Follows what is published until the daemon ends. `last` is the last event of before.
    pub(crate) async fn run(self, mut news: broadcast::Receiver<Arc<Published>>, last: u64) {
        let (mut next, mut told) = (self.place(last).await + 1, Told::new());
        let desktop = self.pools.run(pools::Kind::Look, teller::for_the_desktop).await;
        let mut due = self.catch_up(&mut next, &mut told).await;
        loop {
            match Teller::new(&self.settings.now().notify, desktop.as_ref()) {
                Some(teller) if !due.is_empty() => {
                    self.gather(&mut news, &mut next, &mut due, &mut told).await;
                    self.tell(teller, std::mem::take(&mut due), &mut told).await;
                    self.keep_place(next - 1).await;
                }
                Some(_) => {}
                None => due.clear(),
            }
            match news.recv().await {
                Ok(published) => take(&published.recorded, &mut next, &mut due, &mut told),
                Err(RecvError::Lagged(_)) => due = self.catch_up(&mut next, &mut told).await,
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// Reads the log up to its end.
    async fn catch_up(&self, next: &mut u64, told: &mut Told) -> Due {
        let mut due = BTreeMap::new();
        loop {
            let batch = self.mailbox.read(*next, READ).await;
            if batch.is_empty() {
                return due;
            }
            for recorded in &batch {
                take(recorded, next, &mut due, told);
            }
        }
    }

    async fn gather(
        &self,
        news: &mut broadcast::Receiver<Arc<Published>>,
        next: &mut u64,
        due: &mut Due,
        told: &mut Told,
    ) {
        let over = self.time.sleep(GATHERING);
        tokio::pin!(over);
        loop {
            tokio::select! {
                published = news.recv() => match published {
                    Ok(published) => take(&published.recorded, next, due, told),
                    Err(RecvError::Lagged(_)) => due.extend(self.catch_up(next, told).await),
                    Err(RecvError::Closed) => return,
                },
                () = &mut over => return,
            }
        }
    }

    /// Tells what is still so and was not told before.
    async fn tell(&self, teller: Teller, due: Due, told: &mut Told) {
        let config = self.settings.now();
        let mut notices = Vec::new();
        for (about, news) in due {
            let Some((session, text)) = self.still_so(&about, &news).await else { continue };
            let same = (news.kind, text.clone());
            if !config.notify.on.contains(&news.kind) || told.get(&about) == Some(&same) {
                continue;
            }
            notices.push(notice(&about, session.as_ref(), &news, &text));
            told.insert(about, same);
        }
        let done = self.pools.run_blocking(pools::Kind::Ask, move || teller.tell(&notices)).await;
        if let Err(fault) = done {
            warn!("a notification failed: {fault}");
        }
    }

    /// Who it is about, and what a person reads, if it is still so.
    async fn still_so(&self, about: &About, news: &News) -> Option<(Option<Session>, String)> {
        match about {
            About::Session(id) => {
                let found = self.mailbox.query(Query::One(id.0.clone())).await;
                let session = found.into_iter().next().filter(|session| news.holds(session))?;
                let text = news.text(&session);
                Some((Some(Arc::unwrap_or_clone(session)), text))
            }
            About::Task(..) => {
                let Event::Plan(PlanEvent::TaskProposed { task, title }) = &news.recorded.event
                else {
                    return None;
                };
                Some((None, news::proposed(task, title.as_deref())))
            }
            About::Day => {
                let Event::Spending(event) = news.recorded.event.clone() else { return None };
                let look = move |house: &House| news::about_budget(&event, &house.day().spending);
                Some((None, format!("today: {}", self.mailbox.house(look).await??)))
            }
            About::Plan(plan) => {
                let plan = plan.clone();
                let look = move |house: &House| news::of_plan(house.plan(&plan)?);
                Some((None, self.mailbox.house(look).await??))
            }
            About::Run(plan, run) => {
                let (plan, run) = (plan.clone(), run.clone());
                let look = move |house: &House| {
                    let plan = house.plan(&plan)?;
                    let run = plan.run(&run)?;
                    // One that went on by itself, or was begun anew, needs nobody.
                    let run = plan.latest_run(&run.task).filter(|latest| latest.id == run.id)?;
                    let text = news::of_run(plan, run)?;
                    Some((plan_view::session_of(house, run).cloned(), text))
                };
                self.mailbox.house(look).await?
            }
        }
    }

    async fn place(&self, last: u64) -> u64 {
        let path = self.home.state.join(PLACE);
        let read = move || std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
        let place = self.pools.run(pools::Kind::Look, read).await;
        // A place behind the end is that of another log.
        place.filter(|place| *place <= last).unwrap_or(last).max(last.saturating_sub(PAST))
    }

    async fn keep_place(&self, place: u64) {
        let folder = self.home.state.clone();
        let write = move || durable::replace(&folder, PLACE, format!("{place}\n").as_bytes());
        // Where it cannot be kept, something is told twice, by the next daemon.
        drop(self.pools.run(pools::Kind::Look, write).await);
    }
}

/// Takes note of an event: what it leads to, or that the user had a hand in it.
fn take(recorded: &Recorded, next: &mut u64, due: &mut Due, told: &mut Told) {
    if recorded.seq < *next {
        return;
    }
    *next = recorded.seq + 1;
    let about = match (&recorded.subject, &recorded.event) {
        (Subject::Session(id), _) => About::Session(id.clone()),
        (Subject::Plan(plan), Event::Plan(event)) => match (event, plan_view::run_of(event)) {
            (PlanEvent::TaskProposed { task, .. }, _) => About::Task(plan.clone(), task.clone()),
            (PlanEvent::Stopped { .. }, _) => About::Plan(plan.clone()),
            (_, Some(run)) => About::Run(plan.clone(), run.clone()),
            (_, None) => return,
        },
        (Subject::House, Event::Spending(_)) => About::Day,
        (Subject::House | Subject::Plan(_), _) => return,
    };
    if matches!(
        recorded.event,
        Event::AnswerBegan { .. }
            | Event::MessageQueued { .. }
            | Event::Plan(PlanEvent::RunFinishing { .. })
    ) {
        told.remove(&about);
    }
    let Some(news) = News::of(recorded) else { return };
    // A loop that has paused itself has said why.
    if news::is_out_of_time(&recorded.event) {
        due.entry(about).or_insert(news);
    } else {
        due.insert(about, news);
    }
}

/// What a hook is given. Everything in it may be shown on any screen.
fn notice(about: &About, session: Option<&Session>, news: &News, text: &str) -> Value {
    let mut notice = json!({
        "kind": news.kind,
        "session": session.map(|session| json!({"id": session.id, "name": session.name})),
        "status": session.map(Session::status),
        "text": redact(text),
        "event": view::event(&news.recorded),
    });
    match about {
        About::Session(_) | About::Day => {}
        About::Plan(plan) => notice["plan"] = json!(plan),
        About::Run(plan, run) => {
            notice["plan"] = json!(plan);
            notice["run"] = json!(run);
        }
        About::Task(plan, task) => {
            notice["plan"] = json!(plan);
            notice["task"] = json!(task);
        }
    }
    notice
}
