//! Looking at sessions for front ends: what the log knows, and what their files tell.

use crate::access::Accesses;
use crate::check_list;
use crate::environments::Environments;
use crate::launch::Launcher;
use crate::live::Live;
use crate::looks::Looks;
use crate::pools::{Kind, Pools};
use crate::screens::{Picture, Screens};
use crate::tasks::beside;
use crate::timers::Timers;
use crate::view::{self, Beside};
use crate::worktrees;
use glis_core::session::Session;
use glis_core::{Status, TimerKey};
use glis_wire::home::Home;
use glis_wire::view::{SessionRow, SessionView};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What is said of a session whose files could not be read in time.
const NO_ANSWER: &str =
    "its files could not be read in time: the disk that they are on does not answer";

pub(crate) struct Views {
    pub(crate) home: Home,
    pub(crate) live: Arc<Live>,
    pub(crate) environments: Arc<Environments>,
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) screens: Arc<Screens>,
    pub(crate) timers: Arc<Timers>,
    pub(crate) accesses: Arc<Accesses>,
    pub(crate) pools: Pools,
    pub(crate) looks: Arc<Looks>,
}

impl Views {
    /// A session with what its files tell.
    pub(crate) async fn one(self: &Arc<Self>, session: &Session) -> SessionView {
        let seen = self.each(vec![Arc::new(session.clone())], |view| view).await;
        let seen = seen.into_iter().next().unwrap_or_else(|| self.unread(session));
        SessionView { saying: self.live.saying(&session.id), ..seen }
    }

    /// What a list shows of sessions.
    pub(crate) async fn rows(self: &Arc<Self>, sessions: Vec<Arc<Session>>) -> Vec<SessionRow> {
        self.each(sessions, |view| view.row).await
    }

    /// So much of sessions with what their files tell.
    async fn each<T: Send + 'static>(
        self: &Arc<Self>,
        sessions: Vec<Arc<Session>>,
        part: fn(SessionView) -> T,
    ) -> Vec<T> {
        let (views, sessions) = (Arc::clone(self), Arc::new(sessions));
        let seen = self.looks.each(&sessions, move |session| part(views.look_at(session))).await;
        let told = |(session, seen): (&Arc<Session>, Option<_>)| {
            seen.unwrap_or_else(|| part(self.unread(session)))
        };
        sessions.iter().zip(seen).map(told).collect()
    }

    fn look_at(&self, session: &Session) -> SessionView {
        crate::failpoint::reach("show", &session.name);
        let id = &session.id;
        let beside = Beside {
            audience: self.live.audience(id),
            gap_at: self.live.gap_at(id),
            env: self.environments.noted(id),
            digest: self.live.digest(id),
            lost: self.launcher.lost_conversation(session),
            detached: worktrees::detached(session),
            elsewhere: worktrees::elsewhere(session, self.live.folder(id)),
            accessed_at: self.accesses.last(&self.home.session(&id.0), id),
            tally: check_list::of(session),
            has_draft: self.live.has_draft(id),
            memory_bytes: session.process().map(|process| glis_os::memory::of_tree(process.pid)),
            ..self.by_clock(session)
        };
        let mut view = view::session(session, beside);
        let dir = self.home.session(&id.0);
        if session.process().is_some() && !dir.is_dir() {
            let name = &session.name;
            view.warnings.push(format!(
                "its folder {} is gone while its process runs; `glis pause {name}` and `glis stop \
                 {name}` still work",
                dir.display()
            ));
        }
        view
    }

    /// A session of which only the log tells.
    fn unread(&self, session: &Session) -> SessionView {
        let mut view = view::session(session, self.by_clock(session));
        view.warnings.push(NO_ANSWER.to_owned());
        // What is not known is nothing new.
        view.row.seen = true;
        view
    }

    fn by_clock(&self, session: &Session) -> Beside {
        let config = self.timers.config();
        let of_task = session.spec.task.is_some();
        let usual = if of_task { config.idle.task_timeout } else { config.idle.timeout };
        let at_hand = self.live.is_at_hand(&session.id);
        let spell = session.idle_spell().filter(|_| config.idle.enabled && !at_hand);
        let left = spell
            .and_then(|spell| self.timers.left(session.id.clone().into(), TimerKey::Idle(spell)));
        let at = |left: Duration| {
            let left = i64::try_from(left.as_millis()).unwrap_or(i64::MAX);
            crate::clock::now().as_millisecond().saturating_add(left)
        };
        Beside {
            usual_idle_secs: usual.as_secs(),
            suspend_at: left.map(at),
            unmerged: self.live.unmerged(&session.id),
            ..Beside::default()
        }
    }

    /// Notes that a person looks at a session. One that was removed is left as it is.
    pub(crate) fn looked_at(self: &Arc<Self>, session: &Session) {
        if session.status() == Status::Archived {
            return;
        }
        let (views, id) = (Arc::clone(self), session.id.clone());
        let times = (crate::clock::now(), session.times.ended_at);
        let note = move || {
            if let Some(write) = views.accesses.note(&views.home.session(&id.0), &id, times) {
                write();
            }
        };
        let pools = self.pools.clone();
        beside(async move { pools.run_blocking(Kind::Look, note).await });
    }

    /// A session's screen as of now.
    pub(crate) async fn screen(self: &Arc<Self>, session: &Session) -> io::Result<Picture> {
        let (views, id, dir) = (Arc::clone(self), session.id.clone(), self.folder_of(session));
        let look = move || views.screens.look(&dir, &id);
        self.pools.run_blocking(Kind::Look, look).await.map_err(io::Error::other)?
    }

    /// Its screen as it was at an offset of its output.
    pub(crate) async fn past_screen(
        self: &Arc<Self>,
        session: &Session,
        at: u64,
    ) -> io::Result<Picture> {
        let (views, id, dir) = (Arc::clone(self), session.id.clone(), self.folder_of(session));
        let look = move || views.screens.look_back(&dir, &id, at);
        self.pools.run_blocking(Kind::Look, look).await.map_err(io::Error::other)?
    }

    /// Where a session's files are. One that was put aside is read where it was put.
    pub(crate) fn folder_of(&self, session: &Session) -> PathBuf {
        let (home, id) = (&self.home, session.id.0.as_str());
        let is_aside = session.status() == Status::Archived;
        if is_aside { home.trash().join(id).join("session") } else { home.session(id) }
    }
}
