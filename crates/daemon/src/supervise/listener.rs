//! Listening to one run of an agent: what it says is written down, what that means is passed on.

use super::backfill::{Known, STRETCH_BYTES, remind};
use super::pending::OnScreen;
use super::supervisor::Supervisor;
use super::trace::Trace;
use crate::day::Amounts;
use crate::mailbox::Mail;
use crate::reading::{read_across, read_from};
use glis_agent::{Agent, Dialect, Heard, Outcome, Places, Rows, Said, Source, hooks};
use glis_core::event::Spot;
use glis_core::input::{Hearing, Sign};
use glis_core::session::{Process, Session};
use glis_core::spec::RefOrigin;
use glis_core::talk::{Ask, AskKind};
use glis_core::{House, Input, SessionId};
use glis_record::conversation::{self, ANSWERED, Conversation, Heard as Place};
use glis_record::durable;
use glis_record::location::Files;
use glis_record::output::OutputLog;
use glis_record::rows;
use glis_record::vault::Vault;
use glis_screen::Output as _;
use glis_wire::view::Voice;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::warn;

/// Between two looks at a transcript that grows, for its copy.
const VAULT_PACE: Duration = Duration::from_secs(2);
/// A copy that takes long is taken less often in the middle of a turn: so many times as long is waited
/// for the next. A conversation of 23 MB out of a database takes half a second, and a fiftieth of a
/// core is not noticed.
const VAULT_SHARE: u32 = 50;

pub(super) struct Listener {
    pub(super) supervisor: Arc<Supervisor>,
    pub(super) id: SessionId,
    pub(super) generation: u32,
    pub(super) dialect: Box<dyn Dialect>,
    pub(super) conversation: Conversation,
    agent_ref: Option<String>,
    agent: &'static dyn Agent,
    /// Where the agent keeps its files.
    places: Places,
    /// The files of the transcript, once they were found.
    files: Files,
    /// How far they were read, as if they were one.
    transcript_at: u64,
    /// How far its hooks were listened to, once it was found where those of this run begin.
    pub(super) hooks_at: Option<u64>,
    /// How its id is found, where it does not tell it.
    trace: Option<Trace>,
    /// What it asks on its screen. Several may wait there in a row.
    pub(super) on_screen: Vec<OnScreen>,
    pub(super) vault_pace: Duration,
    /// The message that was handed over last and not yet seen to be taken.
    handed: Option<String>,
    /// What its agent has used, as it was told last.
    used: Amounts,
    /// Length of the log as far as it was listened to, or reported.
    pub(super) end: u64,
    /// The agent has shown that it is ready.
    pub(super) ready: bool,
    /// Whether it is listened to as it speaks.
    pub(super) hearing: Hearing,
}

/// What a holder has left of its agent's output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// All of it, as far as it knows.
    Whole,
    /// What it had read when it was killed, or as much of that as the disk has.
    Torn,
}

/// Which of an agent's words are listened to.
#[derive(Clone, Copy)]
enum Heed {
    Stream,
    Transcript,
    Hooks,
}

impl Listener {
    /// Listens from where the log and the conversation end, but not to what came before this run,
    /// which began at `began_at`. Of a run that is over that is not known, and nothing is said to it.
    pub(super) fn new(
        supervisor: &Arc<Supervisor>,
        session: &Session,
        began_at: Option<u64>,
    ) -> io::Result<Self> {
        let agent = glis_agent::find(&session.spec.agent)
            .ok_or_else(|| io::Error::other(format!("no agent {:?}", session.spec.agent)))?;
        let dir = supervisor.dir(&session.id);
        let home =
            supervisor.environments.noted(&session.id).agent_home.clone().unwrap_or_default();
        let places = Places { home, ..supervisor.agents.clone() };
        let agent_ref = session.agent.agent_ref.clone();
        let mut dialect = agent.dialect(session.spec.mode);
        let run = session.run.as_ref();
        dialect.begin_at(run.map_or(session.talk.seen.transcript, |run| run.transcript_at));
        let conversation = Conversation::open(&dir, session.agent.generation, crate::clock::now)?;
        // Everything since the last sign that is accounted for, or the last entry that was written
        // down, whichever came first. Both lie at the end of a line.
        let known = conversation.stream_seen().min(session.talk.seen.stream);
        let end = known.max(began_at.unwrap_or_default());
        if let Some(began_at) = began_at
            && dialect.source() == Source::Stream
        {
            remind(dialect.as_mut(), &OutputLog::new(&dir), began_at, end)?;
        }
        Ok(Self {
            conversation,
            dialect,
            agent,
            places,
            files: Files::default(),
            vault_pace: VAULT_PACE,
            handed: session.in_flight().map(|message| message.text.clone()),
            supervisor: Arc::clone(supervisor),
            id: session.id.clone(),
            generation: session.agent.generation,
            agent_ref,
            transcript_at: 0,
            hooks_at: None,
            trace: None,
            used: (0, 0),
            on_screen: Vec::new(),
            end,
            ready: session.is_ready(),
            hearing: Hearing::Live,
        })
    }

    /// Takes output as it comes. Returns the agent's session ids that were not known before.
    pub(super) async fn hear(&mut self, at: u64, bytes: &[u8]) -> io::Result<Vec<String>> {
        let heard = self.dialect.hear(at, bytes);
        self.end = at + bytes.len() as u64;
        let ids = self.take_in(heard, Heed::Stream).await?;
        self.supervisor.live.set_saying(&self.id, self.dialect.saying().unwrap_or_default());
        // The runtime has one thread, and lets a task go on for as long as a flood has more: a hundred
        // reads of this kind are seconds in which no command would be answered.
        tokio::task::yield_now().await;
        Ok(ids)
    }

    /// Takes everything that is on disk and was not listened to: the last words of an agent that
    /// is gone. What of its output is missing there is in its own transcript.
    pub(super) async fn hear_the_rest(&mut self, output: Output) -> io::Result<()> {
        let heard = self.hear_what_is_left().await;
        self.supervisor.live.set_saying(&self.id, "");
        let kept = self.keep_words().await;
        self.keep_transcript().await;
        let (supervisor, id) = (Arc::clone(&self.supervisor), self.id.clone());
        let look = move || Ok(supervisor.live.gap_at(&id).is_some());
        let has_gap = self.supervisor.run_blocking(look).await.unwrap_or(true);
        if output == Output::Torn || has_gap {
            self.recall().await?;
        }
        heard.and(kept)
    }

    async fn recall(&mut self) -> io::Result<()> {
        let Some(id) = self.agent_ref.clone().filter(|_| self.dialect.source() == Source::Stream)
        else {
            return Ok(());
        };
        let dir = self.dir();
        let copies = Vault::of(&dir, &id).copies(&self.files().await);
        let (known, bytes) = self
            .supervisor
            .run_blocking(move || {
                let known = Known::of(&conversation::file_of(&dir), &id)?;
                Ok((known, read_across(&copies, 0)?))
            })
            .await?;
        let lost = known.lack(self.dialect.read(0, &bytes));
        self.take_in(lost, Heed::Transcript).await?;
        self.sync().await
    }

    async fn hear_what_is_left(&mut self) -> io::Result<()> {
        self.hearing = Hearing::CatchingUp;
        match self.dialect.source() {
            Source::Stream => {
                let log = OutputLog::new(self.dir());
                loop {
                    let (log, from) = (log.clone(), self.end);
                    let stretch =
                        self.supervisor.run_blocking(move || log.read(from, STRETCH_BYTES)).await?;
                    if stretch.bytes.is_empty() {
                        return Ok(());
                    }
                    self.hear(stretch.at, &stretch.bytes).await?;
                }
            }
            Source::Transcript => self.read_on().await.map(drop),
            Source::Screen => Ok(()),
        }
    }

    /// Reads on in what the agent's hooks have written, and in its transcript. Returns as
    /// [`Listener::hear`] does.
    pub(super) async fn read_on(&mut self) -> io::Result<Vec<String>> {
        let path = self.dir().join(hooks::FILE);
        let (known, generation) = (self.hooks_at, self.generation);
        let (from, bytes) = self
            .supervisor
            .run_blocking(move || {
                let mut bytes = read_from(&path, known.unwrap_or_default())?;
                // What was told by the hooks of former processes is about former turns, and may be about
                // another conversation.
                let former = known.map_or_else(|| hooks::begun(&bytes, generation), |_| 0);
                drop(bytes.drain(..former));
                Ok((known.unwrap_or_default() + former as u64, bytes))
            })
            .await?;
        let heard = self.dialect.overhear(from, &bytes);
        self.supervisor.live.set_folder(&self.id, self.dialect.folder());
        self.hooks_at = Some(from + bytes.len() as u64);
        let mut ids = self.take_in(heard, Heed::Hooks).await?;
        ids.extend(self.find_ref().await);
        ids.extend(self.read_transcript().await?);
        Ok(ids)
    }

    /// An agent that tells neither its id nor what it asks: the one is found in what its process has
    /// open, the other on its screen.
    pub(super) fn trace_by(&mut self, session: &Session, process: &Process) {
        let silent = session.spec.traits.refs == RefOrigin::Learned
            && self.dialect.source() == Source::Transcript;
        let worktree = session.place.worktree.as_deref().filter(|_| silent);
        self.trace = worktree.and_then(|worktree| Trace::new(process, worktree));
        if silent {
            // Only its screen tells when what it asked there is gone.
            let asked = session.asked().iter().find(|ask| ask.kind == AskKind::Approval);
            self.on_screen = asked.cloned().map(OnScreen::seen).into_iter().collect();
        }
    }

    async fn find_ref(&mut self) -> Option<String> {
        let mut trace = self.trace.take()?;
        let (agent, current) = (self.agent, self.agent_ref.clone());
        let looked = self.supervisor.run_blocking(move || {
            let found = trace.look(agent, current.as_deref());
            Ok((trace, found))
        });
        let (trace, found) = looked.await.ok()?;
        let confirmed = trace.confirmed;
        let name = trace.writes_to.as_deref().and_then(Path::file_name);
        let is_known = |name| self.files.own().iter().any(|own| own.file_name() == Some(name));
        if name.is_some_and(|name| !is_known(name)) {
            // It goes on in another file.
            self.files = Files::default();
        }
        self.trace = Some(trace);
        let id = found?;
        if let Some(strays) = self.strays_to(&id).await {
            self.sign(Spot::Screen, strays).await;
            return None;
        }
        if !confirmed && self.files().await.transcript.is_some() {
            // It was to go on in a conversation that there is, and is in another.
            let why = format!("it came back in another conversation, {id}");
            self.sign(Spot::Screen, Sign::RefRejected(why)).await;
            return None;
        }
        self.follow_ref(&id);
        self.sign(Spot::Screen, Sign::RefKnown(id.clone())).await;
        Some(id)
    }

    async fn read_transcript(&mut self) -> io::Result<Vec<String>> {
        let paths = self.files().await.own();
        let from = self.transcript_at;
        let bytes = self.supervisor.run_blocking(move || read_across(&paths, from)).await?;
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        let heard = self.dialect.read(self.transcript_at, &bytes);
        self.transcript_at += bytes.len() as u64;
        self.take_in(heard, Heed::Transcript).await
    }

    /// Writes down what was said and passes on what it means, in that order: what is passed on is
    /// never heard again.
    async fn take_in(&mut self, heard: Vec<Heard>, heed: Heed) -> io::Result<Vec<String>> {
        let mut grew = false;
        let mut ids = Vec::new();
        for Heard { at, mut sign, said } in heard {
            let (spot, place) = match heed {
                Heed::Stream => (Spot::Stream(at), Place::Stream(at)),
                Heed::Transcript => (Spot::Transcript(at), Place::Transcript(at)),
                Heed::Hooks => (Spot::Hook(at), Place::Hook(at)),
            };
            let said = said.or_else(|| self.took_unnamed(sign.as_ref()));
            if let Some(said) = said {
                let said = self.as_decided(said).await;
                self.conversation.add(place, self.agent_ref.as_deref(), said)?;
                grew = true;
            }
            if let Some(Sign::RefKnown(id)) = &sign
                && self.agent_ref.as_ref() != Some(id)
            {
                if let Some(strays) = self.strays_to(id).await {
                    sign = Some(strays);
                } else {
                    self.follow_ref(id);
                    ids.push(id.clone());
                }
            }
            if let Some(sign) = sign {
                self.ready |= sign == Sign::Ready;
                self.note_question(&sign);
                let sign = self.meant(sign).await;
                if sign.ends_turn() {
                    self.sync().await?;
                    self.keep_transcript().await;
                }
                self.sign(spot, sign).await;
            }
        }
        if grew {
            self.supervisor.live.conversation_grew();
            self.tell_used().await;
        }
        Ok(ids)
    }

    /// Tells what its agent has used, if that is more than was told. Behind what the words mean: a turn that has ended
    /// is not cut for what it has used.
    pub(super) async fn tell_used(&mut self) {
        let used = self.conversation.account().amounts();
        if self.hearing == Hearing::Live && used != self.used {
            self.used = used;
            self.supervisor.tell_used(&self.id, used).await;
        }
    }

    /// A question of an agent in a terminal stands on its screen.
    fn note_question(&mut self, sign: &Sign) {
        if let Sign::Asked(ask) = sign {
            self.on_screen.retain(|open| open.ask.id != ask.id);
            if self.dialect.source() == Source::Transcript {
                self.on_screen.push(OnScreen::new(ask.clone()));
            }
        }
        if let Sign::AskGone(id) = sign {
            self.on_screen.retain(|open| open.ask.id != *id);
        }
    }

    /// An agent that does not repeat a message when it takes it: it is what it was last handed.
    fn took_unnamed(&mut self, sign: Option<&Sign>) -> Option<Said> {
        match sign {
            Some(Sign::TookMessage { text: None }) => {
                self.handed.take().map(|text| Said::new(Voice::User, text))
            }
            Some(Sign::TookMessage { text: Some(_) }) => {
                self.handed = None;
                None
            }
            Some(_) | None => None,
        }
    }

    /// Remembers what is about to be handed over.
    pub(super) fn hand_over(&mut self, text: &str) {
        self.handed = Some(text.to_owned());
    }

    /// The files of the agent's transcript, as far as they exist yet.
    async fn files(&mut self) -> Files {
        if let (None, Some(id)) = (&self.files.transcript, self.agent_ref.clone()) {
            let (agent, places) = (self.agent, self.places.clone());
            let find = move || Ok(Files::find(agent, &id, &places));
            self.files = self.supervisor.run_blocking(find).await.unwrap_or_default();
        }
        self.files.clone()
    }

    /// The agent's conversation, where it lies in a database.
    pub(super) fn rows(&self) -> Option<Rows> {
        self.agent.rows(self.agent_ref.as_deref()?, &self.places)
    }

    /// Copies what is new in the transcript into the vault.
    pub(super) async fn keep_transcript(&mut self) {
        let began = Instant::now();
        let Some(id) = self.agent_ref.as_deref() else { return };
        let vault = Vault::of(&self.dir(), id);
        let (rows, files) = (self.rows(), self.files().await);
        let keep = move || match rows {
            Some(rows) => vault.keep_rows(&rows),
            None => vault.keep_files(&files),
        };
        let kept = self.supervisor.run_blocking(keep).await;
        if let Err(fault) = kept {
            warn!(session = %self.id, "copy of its transcript: {fault}");
        }
        self.vault_pace = VAULT_PACE.max(began.elapsed() * VAULT_SHARE);
    }

    /// A sync that failed is not tried again: the next one would succeed and prove nothing.
    async fn sync(&mut self) -> io::Result<()> {
        self.conversation.catch_up()?;
        let file = self.conversation.file();
        let Err(fault) = self.supervisor.run_blocking(move || file.sync_data()).await else {
            return Ok(());
        };
        let what = format!("the conversation of session {} ({fault})", self.id);
        drop(self.supervisor.mailbox.mail.send(Mail::NotDurable(what)).await);
        Err(fault)
    }

    /// What an agent has said last must outlive a power cut before anything is built on its end: our
    /// record of it, and its own, without which it could not go on.
    async fn keep_words(&mut self) -> io::Result<()> {
        self.sync().await?;
        let dir = self.dir();
        let (paths, rows) = (self.files().await.own(), self.rows());
        self.supervisor
            .run_blocking(move || {
                durable::sync_names(&dir)?;
                rows.map_or(Ok(()), |rows| rows::sync(&rows))?;
                paths.iter().try_for_each(|path| durable::sync(path))
            })
            .await
    }

    /// What it means that the agent goes by the id of another session. Two that write to one
    /// conversation undo each other's words.
    async fn strays_to(&self, id: &str) -> Option<Sign> {
        let (own, id) = (self.id.clone(), id.to_owned());
        let look = move |house: &House| house.also_in(&own, &id).map(|other| other.name.clone());
        let other = self.supervisor.mailbox.house(look).await??;
        let why = format!("it went over to the conversation of session {other:?}");
        Some(Sign::RefRejected(why))
    }

    /// The agent goes by another id than we thought: its transcript is elsewhere.
    fn follow_ref(&mut self, id: &str) {
        self.files = Files::default();
        self.agent_ref = Some(id.to_owned());
        self.transcript_at = 0;
        self.dialect.begin_at(0);
    }

    /// Writes down a message that the agent itself will not confirm.
    pub(super) fn note_message(&mut self, content: String) -> io::Result<()> {
        self.conversation.add(Place::Ours, None, Said::new(Voice::User, content))?;
        self.supervisor.live.conversation_grew();
        Ok(())
    }

    /// Writes down that a turn was cut off, where only the screen tells it.
    pub(super) fn note_cut(&mut self) -> io::Result<()> {
        let said = Said { outcome: Some(Outcome::Interrupted), ..Said::new(Voice::System, "") };
        self.conversation.add(Place::Ours, self.agent_ref.as_deref(), said)?;
        self.supervisor.live.conversation_grew();
        Ok(())
    }

    /// Writes down a message that can never be handed over, whole, and why.
    pub(super) async fn note_unsent(&mut self, text: &str, why: &str) -> io::Result<()> {
        let content = format!("not sent: {why}\n{text}");
        self.conversation.add(Place::Ours, None, Said::new(Voice::System, content))?;
        self.supervisor.live.conversation_grew();
        self.sync().await
    }

    /// Writes down what an agent's question was answered with: none tells it among its words. What a plain
    /// program asks for may be a password.
    pub(super) fn note_answer(&mut self, ask: &Ask, answer: &str) -> io::Result<()> {
        if ask.kind != AskKind::Question || self.dialect.source() == Source::Screen {
            return Ok(());
        }
        let content = format!("{ANSWERED}{answer}\n{}", ask.text);
        let agent_ref = self.agent_ref.as_deref();
        self.conversation.add(Place::Ours, agent_ref, Said::new(Voice::System, content))?;
        self.supervisor.live.conversation_grew();
        Ok(())
    }

    /// The folder of its session.
    pub(super) fn dir(&self) -> PathBuf {
        self.supervisor.dir(&self.id)
    }

    /// The session as the log has it, with everything that was told before this.
    pub(super) async fn session(&self) -> Option<Session> {
        self.supervisor.session(&self.id).await
    }

    pub(super) async fn sign(&self, spot: Spot, sign: Sign) {
        let (session, generation) = (self.id.clone(), self.generation);
        let hearing = self.hearing;
        self.supervisor
            .mailbox
            .tell(Input::Sign { session, generation, spot, hearing, sign })
            .await;
    }
}
