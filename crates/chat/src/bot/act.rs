//! What is typed, carried out: by whom, for which session, or for everything at once.

use super::asks::show_again;
use super::say::Say;
use super::turn::mark_of;
use super::{Asked, Bot, BotFault, Dealt, Fresh, Topic, unfit};
use crate::button::{Act, confirm, resume_all_key, resume_key};
use crate::command::{self, Command, Does, Typed};
use crate::outbox::{Item, Lane, What as Sent};
use crate::policy::{AttachedKind, Place, Said};
use crate::store::{Card, Change, Follow, Mark, StoreFault, Update};
use crate::text::{Text, clean};
use crate::words::{self, About, Done, Gate, in_chat};
use glis_client::labels::{self, unstarted};
use glis_client::{Fault, usable};
use glis_core::pause::{PauseMode, PauseReason};
use glis_core::redact::redact;
use glis_core::session::Deferral;
use glis_core::spec::IdleLimit;
use glis_core::{Refusal, Status};
use glis_verbs::Complaint;
use glis_wire::client::{Action, NewSession, PauseAll, Request, Response, Trouble};
use glis_wire::view::{CostBy, SessionView};
use serde_json::Value;
use std::time::Duration;

/// A card that the network shows is noted as soon as the network has answered; one that does not answer must
/// not hold up everything that is said in its chat: it is looked for so often.
const CARD_LOOKS: u32 = 100;
/// Between two looks.
const CARD_PAUSE: Duration = Duration::from_millis(50);
/// So many sessions have a button below the list.
const SWITCHES_MAX: usize = 24;

impl Bot {
    /// Words for the current session, or the answer to what it asks.
    pub(super) fn words(&self, asked: &Asked, said: &Said) -> Dealt {
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
        // What is sent waits until its number is noted.
        let is_card = |item: &Item| {
            item.chat == chat && matches!(item.what, Sent::Post { card: Some(_), .. })
        };
        for _ in 0..CARD_LOOKS {
            let card = self.store().look().card_at(chat, message)?;
            if card.is_some() || !self.store().look().has_waiting(is_card)? {
                return Ok(card);
            }
            std::thread::sleep(CARD_PAUSE);
        }
        self.store().look().card_at(chat, message)
    }

    /// Words that came alone, typed or spoken.
    pub(super) fn plain_words(&self, asked: &Asked, said: &Said, text: &str) -> Dealt {
        match self.answers(asked, said)? {
            Some(card) => self.answer_by_words(asked, &card, text),
            None => self
                .with_current(asked, |session| self.send_words(asked, &session, text, Vec::new())),
        }
    }

    pub(super) fn send_words(
        &self,
        asked: &Asked,
        session: &SessionView,
        text: &str,
        files: Vec<String>,
    ) -> Dealt {
        // Heard of from now on, as far as this user and chat do not already.
        let follow = follow_of(asked, session, self.told_so_far(asked.place.chat, &session.id)?);
        self.change(|change| change.follow(&follow))?;
        if session.status == Status::Suspended && self.gate_now() == Gate::Open {
            // It is told before the session wakes, which takes a moment; in the lane of what the agent
            // will say, so that this does not come before it.
            let line = words::resuming(session.seconds_since_activity);
            let say = Say::text(asked.place, Lane::Final, line);
            self.change(|change| say.put(change, asked.user))?;
        }
        let with_files = !files.is_empty();
        let action = Action::Send { text: text.to_owned(), files };
        match self.call(asked, Request::Act { session: session.id.clone(), action }) {
            Ok(Response::Queued { session, status, .. }) => {
                self.answer(asked, &self.queued(asked, &session, status), |_| Ok(()))
            }
            // A file could not be copied.
            Err(Fault::Trouble { kind: Trouble::BadInput, message }) if with_files => {
                self.offer_again(asked, format!("{}. Nothing was sent.", clean(&message)))
            }
            Ok(_) => Err(unfit()),
            Err(fault) => Err(fault.into()),
        }
    }

    pub(super) fn command(&self, asked: &Asked, command: Command) -> Dealt {
        match command.does {
            Does::New { name, persona, repo } => self.make(asked, name, persona, repo.as_deref()),
            Does::Sessions | Does::Switch { name: None } => self.sessions(asked),
            Does::Switch { name: Some(name) } => self.switch(asked, &name),
            Does::Archive { name: Some(name) } => self.archive(asked, &self.show(asked, &name)?),
            Does::Archive { name: None } => {
                self.with_current(asked, |session| self.archive(asked, &session))
            }
            Does::Timeout { minutes } => self
                .with_current(asked, |session| self.timeout(asked, &session, minutes.as_deref())),
            Does::Budget { budget } => self.with_current(asked, |session| {
                let Some(budget) = budget else {
                    return self.reply(asked, labels::budgeted(&session));
                };
                let action = Action::Budget { budget };
                self.done(asked, &session.id, action, |session, _| labels::budgeted(session))
            }),
            Does::Put { action } => self.with_current(asked, |session| {
                let Some(action) = action else { return self.reply(asked, labels::put(&session)) };
                self.done(asked, &session.id, action, |session, _| labels::put(session))
            }),
            Does::Pause { mode } => {
                self.with_current(asked, |session| self.pause(asked, &session.id, mode))
            }
            Does::Resume => self.with_current(asked, |session| self.resume(asked, &session.id)),
            Does::Restart => self.with_current(asked, |session| {
                let text = words::restart(&session.name);
                let restart = Act::Restart { session: session.row.id };
                self.reply_with(asked, text, confirm("Restart", restart))
            }),
            Does::Stop => self.with_current(asked, |session| {
                self.done(asked, &session.id, Action::Stop, |session, (done, about)| {
                    words::stopped(session, (done, self.gate_now(), about))
                })
            }),
            Does::Status => {
                self.with_current(asked, |session| self.reply(asked, words::status(&session)))
            }
            Does::Diff => self.with_current(asked, |session| self.diff(asked, &session)),
            Does::Log => self.with_current(asked, |session| {
                let entries = self.its.desk.conversation(&session.id)?;
                self.reply(asked, words::log(&session.name, &entries))
            }),
            Does::Cost => self.cost(asked),
            Does::Personas => self.personas(asked),
            Does::PauseAll => {
                let all = PauseAll {
                    mode: PauseMode::Boundary,
                    on_timeout: None,
                    clearing: None,
                    reason: PauseReason::User,
                };
                self.gate(asked, Request::PauseAll(all))
            }
            Does::ResumeAll => self.gate(asked, Request::ResumeAll { from_log: false }),
            Does::Plan { verb, repo } => self.plan(asked, verb, repo.as_deref()),
            Does::Help => self.reply(asked, words::help()),
            Does::Unclear { usage } => self.reply(asked, usage),
        }
    }

    fn make(
        &self,
        asked: &Asked,
        name: Option<String>,
        persona: Option<String>,
        repo: Option<&str>,
    ) -> Dealt {
        let Some(place) = self.place_of(repo) else { return self.no_repo(asked, repo) };
        let wanted =
            NewSession { name, repo: place, headless: true, persona, ..NewSession::default() };
        let Response::Made { session, notes } = self.call(asked, Request::New(Box::new(wanted)))?
        else {
            return Err(unfit());
        };
        let follow = follow_of(asked, &session, Mark::default());
        let say = Say::text(asked.place, Lane::Reply, words::made(&session, &notes));
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

    /// The repository that is meant.
    pub(super) fn place_of(&self, repo: Option<&str>) -> Option<String> {
        match repo {
            Some(name) => self.its.repos.get(name).cloned(),
            None => self.its.repo.clone(),
        }
    }

    pub(super) fn no_repo(&self, asked: &Asked, repo: Option<&str>) -> Dealt {
        let known: Vec<&str> = self.its.repos.keys().map(String::as_str).collect();
        self.reply(asked, words::no_repo(repo, &known))
    }

    fn sessions(&self, asked: &Asked) -> Dealt {
        let list = self.call(asked, Request::List { all: false })?;
        let Response::Sessions { rows: mut all, more } = list else { return Err(unfit()) };
        all.sort_by(|one, other| one.place().cmp(&other.place()));
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
        self.reply_with(asked, words::sessions(&all, more, current.as_deref()), rows)
    }

    fn cost(&self, asked: &Asked) -> Dealt {
        let (by, since) = (CostBy::Session, Some("today".to_owned()));
        let costs = self.call(asked, Request::Cost { by, since })?;
        let Response::Costs(costs) = costs else { return Err(unfit()) };
        self.reply(asked, words::costs(&costs))
    }

    fn personas(&self, asked: &Asked) -> Dealt {
        let choices = self.call(asked, Request::Choices { repo: None })?;
        let Response::Choices(choices) = choices else { return Err(unfit()) };
        self.reply(asked, words::personas(&choices.personas))
    }

    /// Makes a session the current one. What it asks already is shown. Where the chat has topics it gets one, and
    /// the topic of another session stays that session's.
    pub(super) fn switch(&self, asked: &Asked, name: &str) -> Dealt {
        let session = self.show(asked, name)?;
        let chat = asked.place.chat;
        let follow = follow_of(asked, &session, self.told_so_far(chat, &session.id)?);
        let known = self.store().look().follow_in(&session.id, chat)?;
        let own = known.and_then(|follow| follow.thread);
        self.change(|change| {
            change.set_current(chat, Some(&session.id))?;
            change.follow(&follow)
        })?;
        // From here on this chat hears of it; what it has asked since it was looked at was told to nobody here.
        let session = self.show(asked, &session.id)?;
        let text = match (asked.topic, asked.place.thread) {
            (Topic::Own, Some(thread)) if own != Some(thread) => words::switched_outside(&session),
            (Topic::Own | Topic::None, _) => words::switched(&session),
        };
        // Before what it asks.
        let lane = if session.asks.is_empty() { Lane::Reply } else { Lane::Approval };
        let say = Say::text(asked.place, lane, text);
        self.answer(asked, &[], |change| {
            match (asked.topic, own) {
                (Topic::Own, None) => ask_for_topic(change, chat, &session)?,
                (Topic::Own, Some(_)) | (Topic::None, _) => {}
            }
            say.put(change, asked.user)?;
            show_again(change, &session, chat)
        })
    }

    /// What a chat was told of a session; where it does not hear of it yet, all that was said so far. That is
    /// known by its last entry and not by the time: a clock that is set back would make everything that follows
    /// look older.
    pub(super) fn told_so_far(&self, chat: i64, session: &str) -> Dealt<Mark> {
        let known = self.store().look().follow_in(session, chat)?;
        if let Some(known) = known {
            return Ok(known.told);
        }
        let entries = self.its.desk.conversation(session)?;
        Ok(entries.last().map(mark_of).unwrap_or_default())
    }

    /// What a session is called in a chat that hears of it.
    pub(super) fn name_in(
        &self,
        chat: i64,
        session: Option<&str>,
    ) -> Result<Option<String>, StoreFault> {
        let Some(session) = session else { return Ok(None) };
        let follow = self.store().look().follow_in(session, chat)?;
        Ok(follow.map(|follow| follow.name))
    }

    fn archive(&self, asked: &Asked, session: &SessionView) -> Dealt {
        let archive = Act::Archive { session: session.id.clone() };
        self.reply_with(asked, words::archive(session), confirm("Archive", archive))
    }

    fn timeout(&self, asked: &Asked, session: &SessionView, typed: Option<&str>) -> Dealt {
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
    pub(super) fn pause(&self, asked: &Asked, session: &str, mode: Option<PauseMode>) -> Dealt {
        let action = Action::Pause { mode, on_timeout: None, clearing: None, for_secs: None };
        let tell = |session: &SessionView, (done, about): (Done, About<'_>)| {
            words::paused(session, (done, self.gate_now(), about))
        };
        match self.done(asked, session, action, tell) {
            Err(BotFault::House(fault @ Fault::Refused(Refusal::NotSafe { .. }))) => {
                let text = clean(&Complaint::from(fault).message);
                let force = Act::ForcePause { session: session.to_owned() };
                self.reply_with(asked, text, confirm("Pause all the same", force))
            }
            done => done,
        }
    }

    pub(super) fn resume(&self, asked: &Asked, session: &str) -> Dealt {
        self.done(asked, session, Action::Resume { prompt: None }, words::resumed)
    }

    fn diff(&self, asked: &Asked, session: &SessionView) -> Dealt {
        let (files, patch) = self.its.desk.diff(&session.id)?;
        let say = Say::text(asked.place, Lane::Reply, words::diff(&session.name, &files));
        self.answer(asked, &[], |change| {
            say.put(change, asked.user)?;
            if patch.trim().is_empty() {
                return Ok(());
            }
            let name = format!("{}.patch", session.name);
            let (content, caption) = (redact(&patch).into_owned(), String::new());
            let to = (asked.place.chat, asked.place.thread);
            change.push(to, Lane::Reply, Sent::File { name, content, caption })
        })
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
            _ => None,
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
    ) -> Dealt {
        let request = Request::Act { session: session.to_owned(), action };
        let Response::Done { session, already } = self.call(asked, request)? else {
            return Err(unfit());
        };
        let done = if already { Done::Before } else { Done::Now };
        let about = self.about(asked, &session)?;
        self.reply(asked, tell(&session, (done, about)))
    }

    /// What came long after it was typed is not carried out by itself.
    pub(super) fn offer_late(&self, asked: &Asked, said: &Said, at: i64) -> Dealt {
        let minutes = (self.now() / 1000 - at).max(0) / 60;
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
    ) -> Dealt {
        let name = self.name_in(asked.place.chat, session.as_deref())?;
        let text = words::is_for(text, name.as_deref());
        let run = Act::RunLate { update: asked.update, session };
        self.reply_with(asked, text, confirm(label, run))
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
    let is_its = |item: &Item| {
        item.chat == chat
            && matches!(&item.what, Sent::Topic { session: of, .. } if *of == session.id)
    };
    if change.look().has_waiting(is_its)? {
        return Ok(());
    }
    let topic = Sent::Topic { session: session.id.clone(), name: session.name.clone() };
    change.push((chat, None), Lane::Reply, topic)
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

impl Bot {
    /// Whether everything is paused, or is about to be.
    pub(super) fn gate_now(&self) -> Gate {
        match self.look(Request::DaemonStatus) {
            Ok(Response::Daemon(daemon)) if daemon.gate.state != "running" => Gate::Shut,
            Ok(_) | Err(_) => Gate::Open,
        }
    }

    pub(super) fn gate(&self, asked: &Asked, request: Request) -> Dealt {
        let Response::Gate { gate, already, each } = self.call(asked, request)? else {
            return Err(unfit());
        };
        match (gate.state.as_str(), already) {
            ("running", true) => self.reply(asked, words::NOT_ALL_PAUSED),
            ("running", false) => self.tell_resumed(asked, each),
            _ => self.reply(asked, words::gate(&gate)),
        }
    }

    /// Tells what goes on now that everything may, and what does not.
    fn tell_resumed(&self, asked: &Asked, each: Vec<Response>) -> Dealt {
        let Response::Sessions { rows: all, .. } = self.look(Request::List { all: false })? else {
            return Err(unfit());
        };
        let paused = all.iter().filter(|session| session.status == Status::Paused);
        let paused: Vec<&str> = paused.map(|session| session.name.as_str()).collect();
        let (mut resumed, mut failed) = (Vec::new(), Vec::new());
        for response in each {
            match usable(response) {
                Ok(Response::Done { session, .. }) => resumed.push(session.row.name),
                Ok(_) => {}
                Err(fault) => {
                    let message = clean(&Complaint::from(fault).message);
                    failed.push(in_chat(&message, About::Session(None)));
                }
            }
        }
        self.reply(asked, words::all_resumed(&resumed, &paused, &failed))
    }
}

/// So much of a user's name is shown.
const NAME_CHARS: usize = 40;

/// The user whom an update is from, and what they are called.
pub(super) fn called(update: &Value) -> Option<(i64, String)> {
    let from =
        update.pointer("/message/from").or_else(|| update.pointer("/callback_query/from"))?;
    let name = from.get("first_name")?.as_str()?;
    Some((from.get("id")?.as_i64()?, words::short(name, NAME_CHARS)))
}

impl Bot {
    /// Whether something is said to the bot: all that is said in a private chat and in the topic of a session, and
    /// elsewhere in a group what is a command, answers the bot or names it. The rest people say to each other.
    pub(super) fn is_addressed(&self, asked: &Asked, said: &Said) -> Result<bool, StoreFault> {
        let Place { chat, thread } = asked.place;
        let name = &self.its.me.name;
        // The number of a group is below zero.
        if chat > 0
            || said.reply_to_user == Some(self.its.me.number)
            || command::read(&said.text, name) != Typed::Words
            || command::named(&said.text, name).is_some()
        {
            return Ok(true);
        }
        let Some(thread) = thread else { return Ok(false) };
        Ok(self.store().look().of_topic(chat, thread)?.is_some())
    }

    /// What was said is for the session that is meant now, whichever is when it is carried out.
    pub fn settle_meaning(&self, fresh: &Fresh) -> Dealt {
        let meant = self.meant(&self.asked(&fresh.what))?.unwrap_or_default();
        let settle = |update: &mut Update| update.meant = Some(meant);
        Ok(self.change(|change| change.edit_update(fresh.what.update, settle))?)
    }

    /// The session that is meant: the one that this was settled to be for, that has said what is answered, whose topic
    /// it is, or the current one.
    pub(super) fn meant(&self, asked: &Asked) -> Result<Option<String>, StoreFault> {
        let settled = self.store().look().update(asked.update)?;
        if let Some(settled) = settled.and_then(|update| update.meant) {
            return Ok(Some(settled).filter(|id| !id.is_empty()));
        }
        let speaker = match asked.reply_to {
            Some(message) => self.store().look().said_by(asked.place.chat, message)?,
            None => None,
        };
        if speaker.is_some() { Ok(speaker) } else { self.here(asked) }
    }

    /// Whether a session is the one that is talked to in this place now, for words that tell what to type.
    pub(super) fn about<'s>(
        &self,
        asked: &Asked,
        session: &'s SessionView,
    ) -> Result<About<'s>, StoreFault> {
        let is_here = self.here(asked)?.as_deref() == Some(session.id.as_str());
        Ok(About::Session(is_here.then_some(session.name.as_str())))
    }

    /// The session that is talked to in this place: the one whose topic it is, or the current one.
    pub(super) fn here(&self, asked: &Asked) -> Result<Option<String>, StoreFault> {
        let store = self.store();
        let look = store.look();
        let Place { chat, thread } = asked.place;
        let topic = match thread {
            Some(thread) => look.of_topic(chat, thread)?,
            None => None,
        };
        match (topic, asked.topic, thread) {
            (Some(id), ..) => Ok(Some(id)),
            // The topic of a session that was archived, or one of people: what is written there is for no other
            // session.
            (None, Topic::Own, Some(_)) => Ok(None),
            (None, ..) => look.current(chat),
        }
    }

    /// Does something with the session that is meant in this place.
    pub(super) fn with_current(
        &self,
        asked: &Asked,
        act: impl FnOnce(SessionView) -> Dealt,
    ) -> Dealt {
        let shown = match self.meant(asked)? {
            Some(id) => self.show(asked, &id),
            None => Err(Fault::Refused(Refusal::NoSuchSession { given: String::new() })),
        };
        match shown {
            Ok(session) => act(session),
            Err(Fault::Refused(Refusal::NoSuchSession { .. })) => {
                match (asked.topic, asked.place.thread) {
                    (Topic::Own, Some(_)) => self.reply(asked, words::NO_SESSION_IN_TOPIC),
                    (Topic::Own, None) | (Topic::None, _) => self.reply(asked, words::NO_SESSION),
                }
            }
            Err(fault) => Err(fault.into()),
        }
    }
}
