//! What is typed, carried out.

use super::asks::show_again;
use super::say::{Say, What};
use super::turn::mark_of;
use super::{Asked, Bot, Topic};
use crate::button::{Act, resume_all_key, resume_key};
use crate::command::{self, Command, Typed};
use crate::outbox::{Lane, What as Sent};
use crate::policy::{AttachedKind, Said};
use crate::store::{Card, Change, Follow, Mark, StoreFault};
use crate::text::{Text, clean};
use crate::words::{self, About, Done, Gate};
use glis_client::Fault;
use glis_client::labels::unstarted;
use glis_core::pause::{PauseMode, PauseReason};
use glis_core::session::Deferral;
use glis_core::spec::IdleLimit;
use glis_core::{Refusal, Status};
use glis_wire::client::{Action, NewSession, PauseAll, Request, Response, Trouble};
use glis_wire::view::SessionView;
use std::time::Duration;

/// A card that the network shows is noted as soon as the network has answered; one that does not answer must
/// not hold up everything that is said in its chat.
const CARD_WAIT: Duration = Duration::from_secs(5);
/// So many sessions have a button below the list.
const SWITCHES_MAX: usize = 24;

impl Bot {
    /// Words for the current session, or the answer to what it asks.
    pub(super) fn words(&self, asked: &Asked, said: &Said) -> Result<(), StoreFault> {
        match &said.file {
            None => self.plain_words(asked, said, &said.text),
            Some(file) if file.kind == AttachedKind::Voice => self.voice(asked, said, file),
            Some(file) => self.words_with_file(asked, said, file),
        }
    }

    /// The card that a message answers; one that is not open any more takes no answer, and no other session gets
    /// it for a message. A card that the network has may not be noted yet: a reply to it
    /// would be taken for a message, so that the sender is waited for.
    pub(super) fn answers(&self, asked: &Asked, said: &Said) -> Result<Option<Card>, StoreFault> {
        let Some(message) = said.reply_to else { return Ok(None) };
        let chat = asked.place.chat;
        self.on_the_way.wait(chat, CARD_WAIT);
        self.store().look().card_at(chat, message)
    }

    /// Words that came alone, typed or spoken.
    pub(super) fn plain_words(
        &self,
        asked: &Asked,
        said: &Said,
        text: &str,
    ) -> Result<(), StoreFault> {
        match self.answers(asked, said)? {
            Some(card) => self.answer_by_words(asked, &card, text),
            None => self
                .with_current(asked, |session| self.send_words(asked, &session, text, Vec::new())),
        }
    }

    /// Hands a message over.
    pub(super) fn send_words(
        &self,
        asked: &Asked,
        session: &SessionView,
        text: &str,
        files: Vec<String>,
    ) -> Result<(), StoreFault> {
        // Heard of from now on, as far as this user and chat do not already.
        let follow = match self.told_so_far(asked.place.chat, &session.id)? {
            Ok(told) => follow_of(asked, session, told),
            Err(fault) => return self.complain(asked, fault),
        };
        self.change(|change| change.follow(&follow))?;
        if session.status == Status::Suspended && self.gate_now() == Gate::Open {
            // It is told before the session wakes, which takes a moment; in the lane of what the agent
            // will say, so that this does not come before it.
            let line = words::resuming(session.seconds_since_activity);
            let say = Say::text(asked.place, Lane::Final, line);
            let now = self.now();
            self.change(|change| say.put(change, asked.user, now))?;
        }
        let with_files = !files.is_empty();
        let action = Action::Send { text: text.to_owned(), files };
        let request = Request::Act { session: session.id.clone(), action };
        match self.carry(asked, &request)? {
            Ok(Response::Queued { session, status, .. }) => {
                self.answer(asked, &self.queued(asked, &session, status), |_| Ok(()))
            }
            // A file could not be copied.
            Err(Fault::Trouble { kind: Trouble::BadInput, message }) if with_files => {
                self.offer_again(asked, format!("{}. Nothing was sent.", clean(&message)))
            }
            Ok(_) => self.complain(asked, Fault::unfit()),
            Err(fault) => self.complain(asked, fault),
        }
    }

    pub(super) fn command(&self, asked: &Asked, command: Command) -> Result<(), StoreFault> {
        match command {
            Command::New { name, persona, repo } => {
                self.make(asked, name, persona, repo.as_deref())
            }
            Command::Sessions | Command::Switch { name: None } => self.sessions(asked),
            Command::Switch { name: Some(name) } => self.switch(asked, &name),
            Command::Archive { name: Some(name) } => match self.show(&asked.caller, &name) {
                Ok(session) => self.archive(asked, &session),
                Err(fault) => self.complain(asked, fault),
            },
            Command::Archive { name: None } => {
                self.with_current(asked, |session| self.archive(asked, &session))
            }
            Command::Timeout { minutes } => self
                .with_current(asked, |session| self.timeout(asked, &session, minutes.as_deref())),
            Command::Pause { mode } => {
                self.with_current(asked, |session| self.pause(asked, &session.id, mode))
            }
            Command::Resume => self.with_current(asked, |session| self.resume(asked, &session.id)),
            Command::Restart => self.with_current(asked, |session| {
                let text = words::restart(&session.name);
                let restart = Act::Restart { session: session.id };
                let keys = vec![vec![
                    ("Restart".to_owned(), restart),
                    ("Leave it".to_owned(), Act::Leave),
                ]];
                self.answer(asked, &[Say::card(asked.place, Lane::Reply, text, keys)], |_| Ok(()))
            }),
            Command::Stop => self.with_current(asked, |session| {
                self.done(asked, &session.id, Action::Stop, |session, (done, about)| {
                    words::stopped(session, (done, self.gate_now(), about))
                })
            }),
            Command::Status => {
                self.with_current(asked, |session| self.reply(asked, words::status(&session)))
            }
            Command::Diff => self.with_current(asked, |session| self.diff(asked, &session)),
            Command::Log => {
                self.with_current(asked, |session| match self.desk.conversation(&session.id) {
                    Ok(entries) => self.reply(asked, words::log(&session.name, &entries)),
                    Err(fault) => self.complain(asked, fault),
                })
            }
            Command::PauseAll => {
                let all = PauseAll {
                    mode: PauseMode::Boundary,
                    on_timeout: None,
                    clearing: None,
                    reason: PauseReason::User,
                };
                self.gate(asked, &Request::PauseAll(all))
            }
            Command::ResumeAll => self.gate(asked, &Request::ResumeAll { from_log: false }),
            Command::Plan { verb, repo } => self.plan(asked, verb, repo.as_deref()),
            Command::Help => self.reply(asked, words::help()),
            Command::Unclear { usage } => self.reply(asked, usage),
        }
    }

    fn make(
        &self,
        asked: &Asked,
        name: Option<String>,
        persona: Option<String>,
        repo: Option<&str>,
    ) -> Result<(), StoreFault> {
        let Some(place) = self.place_of(repo) else {
            let known: Vec<&str> = self.repos.keys().map(String::as_str).collect();
            return self.reply(asked, words::no_repo(repo, &known));
        };
        let request = Request::New(Box::new(NewSession {
            name,
            repo: place.clone(),
            headless: true,
            persona,
            ..NewSession::default()
        }));
        match self.carry(asked, &request)? {
            Ok(Response::Made { session, notes }) => {
                let follow = follow_of(asked, &session, Mark::default());
                let text = words::made(&session, &notes);
                let say = Say::text(asked.place, Lane::Reply, text);
                let chat = asked.place.chat;
                self.answer(asked, &[say], |change| {
                    change.set_current(chat, Some(&session.id))?;
                    change.follow(&follow)?;
                    match asked.topic {
                        Topic::Own => ask_for_topic(change, chat, &session),
                        Topic::None => Ok(()),
                    }
                })
            }
            Ok(_) => self.complain(asked, Fault::unfit()),
            Err(fault) => self.complain(asked, fault),
        }
    }

    /// The repository that is meant.
    pub(super) fn place_of(&self, repo: Option<&str>) -> Option<&String> {
        match repo {
            Some(name) => self.repos.get(name),
            None => self.repo.as_ref(),
        }
    }

    fn sessions(&self, asked: &Asked) -> Result<(), StoreFault> {
        let all = match self.desk.call(&asked.caller, Request::List { all: false }) {
            Ok(Response::Sessions(all)) => all,
            Ok(_) => return self.complain(asked, Fault::unfit()),
            Err(fault) => return self.complain(asked, fault),
        };
        if all.is_empty() {
            return self.reply(asked, words::NO_SESSIONS);
        }
        let current = self.store().look().current(asked.place.chat)?;
        let others = all.iter().filter(|session| Some(&session.id) != current.as_ref());
        let keys: Vec<(String, Act)> = others
            .take(SWITCHES_MAX)
            .map(|session| (session.name.clone(), Act::Switch { session: session.id.clone() }))
            .collect();
        let rows = keys.chunks(3).map(<[_]>::to_vec).collect();
        let text = words::sessions(&all, current.as_deref());
        self.answer(asked, &[Say::card(asked.place, Lane::Reply, text, rows)], |_| Ok(()))
    }

    /// Makes a session the current one. What it asks already is shown. Where the chat has topics it gets one, and
    /// the topic of another session stays that session's.
    pub(super) fn switch(&self, asked: &Asked, name: &str) -> Result<(), StoreFault> {
        let session = match self.show(&asked.caller, name) {
            Ok(session) => session,
            Err(fault) => return self.complain(asked, fault),
        };
        let chat = asked.place.chat;
        let follow = match self.told_so_far(chat, &session.id)? {
            Ok(told) => follow_of(asked, &session, told),
            Err(fault) => return self.complain(asked, fault),
        };
        let known = self.store().look().follows_of(&session.id)?;
        let own = known.into_iter().find(|it| it.chat == chat).and_then(|follow| follow.thread);
        let text = match (asked.topic, asked.place.thread) {
            (Topic::Own, Some(thread)) if own != Some(thread) => words::switched_outside(&session),
            (Topic::Own | Topic::None, _) => words::switched(&session),
        };
        // Before what it asks.
        let lane = if session.asks.is_empty() { Lane::Reply } else { Lane::Approval };
        let say = Say::text(asked.place, lane, text);
        let now = self.now();
        self.change(|change| {
            change.set_current(chat, Some(&session.id))?;
            change.follow(&follow)?;
            match (asked.topic, own) {
                (Topic::Own, None) => ask_for_topic(change, chat, &session)?,
                (Topic::Own, Some(_)) | (Topic::None, _) => {}
            }
            say.put(change, asked.user, now)?;
            show_again(change, (&session, chat), now)?;
            change.done(asked.update)
        })
    }

    /// What a chat was told of a session; where it does not hear of it yet, all that was said so far. That is
    /// known by its last entry and not by the time: a clock that is set back would make everything that follows
    /// look older.
    pub(super) fn told_so_far(
        &self,
        chat: i64,
        session: &str,
    ) -> Result<Result<Mark, Fault>, StoreFault> {
        let known = self.store().look().follows_of(session)?;
        if let Some(known) = known.into_iter().find(|follow| follow.chat == chat) {
            return Ok(Ok(known.told));
        }
        let entries = self.desk.conversation(session);
        Ok(entries.map(|entries| entries.last().map(mark_of).unwrap_or_default()))
    }

    /// What a session is called in a chat that hears of it.
    pub(super) fn name_in(
        &self,
        chat: i64,
        session: Option<&str>,
    ) -> Result<Option<String>, StoreFault> {
        let Some(session) = session else { return Ok(None) };
        let follows = self.store().look().follows_of(session)?;
        Ok(follows.into_iter().find(|follow| follow.chat == chat).map(|follow| follow.name))
    }

    fn archive(&self, asked: &Asked, session: &SessionView) -> Result<(), StoreFault> {
        let text = words::archive(session);
        let archive = Act::Archive { session: session.id.clone() };
        let keys = vec![vec![("Archive".to_owned(), archive), ("Leave it".to_owned(), Act::Leave)]];
        self.answer(asked, &[Say::card(asked.place, Lane::Reply, text, keys)], |_| Ok(()))
    }

    fn timeout(
        &self,
        asked: &Asked,
        session: &SessionView,
        typed: Option<&str>,
    ) -> Result<(), StoreFault> {
        let Some(typed) = typed else { return self.reply(asked, words::timeout(session)) };
        match words::minutes(typed) {
            Ok(minutes) => {
                let limit = IdleLimit::Secs(minutes * 60);
                let told = words::timeout_set(minutes);
                self.done(asked, &session.id, Action::LimitIdle { limit }, |_, _| told)
            }
            Err(why) => self.reply(asked, why),
        }
    }

    /// Pauses a session. One that is not in a safe state can be paused all the same, by a button.
    pub(super) fn pause(
        &self,
        asked: &Asked,
        session: &str,
        mode: Option<PauseMode>,
    ) -> Result<(), StoreFault> {
        let action = Action::Pause { mode, on_timeout: None, clearing: None, for_secs: None };
        let tell = |session: &SessionView, (done, about): (Done, About<'_>)| {
            words::paused(session, (done, self.gate_now(), about))
        };
        match self.attempt(asked, session, action, tell)? {
            Err(fault @ Fault::Refused(Refusal::NotSafe { .. })) => {
                let crate::told::Told { message, .. } = (self.explain)(fault);
                let force = Act::ForcePause { session: session.to_owned() };
                let keys = vec![vec![
                    ("Pause all the same".to_owned(), force),
                    ("Leave it".to_owned(), Act::Leave),
                ]];
                let say = Say::card(asked.place, Lane::Reply, clean(&message), keys);
                self.answer(asked, &[say], |_| Ok(()))
            }
            Err(fault) => self.complain(asked, fault),
            Ok(()) => Ok(()),
        }
    }

    pub(super) fn resume(&self, asked: &Asked, session: &str) -> Result<(), StoreFault> {
        self.done(asked, session, Action::Resume { prompt: None }, words::resumed)
    }

    fn diff(&self, asked: &Asked, session: &SessionView) -> Result<(), StoreFault> {
        let (files, patch) = match self.desk.diff(&session.id) {
            Ok(diff) => diff,
            Err(fault) => return self.complain(asked, fault),
        };
        let text = words::diff(&session.name, &files);
        let mut says = vec![Say::text(asked.place, Lane::Reply, text)];
        if !patch.trim().is_empty() {
            let name = format!("{}.patch", session.name);
            let content = glis_core::redact::redact(&patch).into_owned();
            let what = What::File { name, content, caption: String::new() };
            says.push(Say::new(asked.place, Lane::Reply, what));
        }
        self.answer(asked, &says, |_| Ok(()))
    }

    /// What is said about a message that is stored.
    fn queued(&self, asked: &Asked, session: &SessionView, status: Status) -> Vec<Say> {
        let card = |text: &str, keys| vec![Say::card(asked.place, Lane::Reply, text, keys)];
        let stays = match status {
            Status::Paused => Some(words::IS_PAUSED),
            Status::Interrupted => Some(words::IS_INTERRUPTED),
            Status::Created | Status::Suspended | Status::Failed
                if unstarted(session).is_some() =>
            {
                Some(words::IS_NOT_STARTED)
            }
            Status::Created
            | Status::Suspended
            | Status::Failed
            | Status::Idle
            | Status::Busy
            | Status::Waiting
            | Status::Pausing
            | Status::Resuming
            | Status::Completed
            | Status::Archived => None,
        };
        match (stays, session.waits_to_start) {
            (_, Some(Deferral::Gate)) => card(words::ALL_PAUSED, resume_all_key()),
            // No session is resumed alone while everything is paused.
            (Some(_), _) if self.gate_now() == Gate::Shut => {
                card(words::FIRST_RESUME_ALL, resume_all_key())
            }
            (Some(stays), _) => card(stays, resume_key(&session.id)),
            (None, Some(Deferral::Limit)) => {
                words::waits(session).map(|line| card(line, Vec::new())).unwrap_or_default()
            }
            (None, None) if status == Status::Waiting => {
                let line = words::waits_for_answer(&session.name);
                vec![Say::text(asked.place, Lane::Reply, line)]
            }
            (None, None) => Vec::new(),
        }
    }

    /// Does something with a session, and tells that it is done.
    pub(super) fn done(
        &self,
        asked: &Asked,
        session: &str,
        action: Action,
        tell: impl FnOnce(&SessionView, (Done, About<'_>)) -> String,
    ) -> Result<(), StoreFault> {
        match self.attempt(asked, session, action, tell)? {
            Ok(()) => Ok(()),
            Err(fault) => self.complain(asked, fault),
        }
    }

    /// The same; what it came to nothing by is for the caller to tell.
    fn attempt(
        &self,
        asked: &Asked,
        session: &str,
        action: Action,
        tell: impl FnOnce(&SessionView, (Done, About<'_>)) -> String,
    ) -> Result<Result<(), Fault>, StoreFault> {
        let request = Request::Act { session: session.to_owned(), action };
        Ok(match self.carry(asked, &request)? {
            Ok(Response::Done { session, already }) => {
                let done = if already { Done::Before } else { Done::Now };
                let about = self.about(asked, &session)?;
                self.reply(asked, tell(&session, (done, about)))?;
                Ok(())
            }
            Ok(_) => Err(Fault::unfit()),
            Err(fault) => Err(fault),
        })
    }

    /// What came long after it was typed is not carried out by itself.
    pub(super) fn offer_late(&self, asked: &Asked, said: &Said) -> Result<(), StoreFault> {
        let minutes = (self.now() / 1000 - said.at).max(0) / 60;
        let session = self.meant(asked)?.filter(|_| is_for_session(said, self.name()));
        let text = words::late(&words::what_was_said(said), minutes);
        self.offer(asked, session, (text, "Do it now"))
    }

    /// What was not done is done by a button with these words, for the session that is meant now.
    pub(super) fn offer(
        &self,
        asked: &Asked,
        session: Option<String>,
        (text, label): (Text, &str),
    ) -> Result<(), StoreFault> {
        let name = self.name_in(asked.place.chat, session.as_deref())?;
        let text = words::is_for(text, name.as_deref());
        let run = Act::RunLate { update: asked.update, session };
        let keys = vec![vec![(label.to_owned(), run), ("Leave it".to_owned(), Act::Leave)]];
        self.answer(asked, &[Say::card(asked.place, Lane::Reply, text, keys)], |_| Ok(()))
    }
}

/// Whether it matters which session is the current one.
fn is_for_session(said: &Said, bot: &str) -> bool {
    match command::read(&said.text, bot) {
        Typed::Words => true,
        Typed::Command(command) => command.is_for_session(),
        Typed::NotForUs => false,
    }
}

/// A session is to have a topic of its own.
fn ask_for_topic(change: &Change<'_>, chat: i64, session: &SessionView) -> Result<(), StoreFault> {
    if change.look().is_topic_on_its_way(chat, &session.id)? {
        return Ok(());
    }
    let topic = Sent::Topic { session: session.id.clone(), name: session.name.clone() };
    change.push((chat, None), Lane::Reply, &topic, None)
}

/// This chat hears of a session, from behind what was told.
fn follow_of(asked: &Asked, session: &SessionView, told: Mark) -> Follow {
    Follow {
        session: session.id.clone(),
        chat: asked.place.chat,
        thread: None,
        user: asked.user,
        name: session.name.clone(),
        told,
    }
}
