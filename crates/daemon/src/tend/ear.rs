//! Listening to one run of an agent: what it says is written down, what that means is passed on.

use crate::adapters::Adapters;
use crate::controller::{Look, Mail};
use crate::conversation::{Conversation, Heard as Place};
use crate::output::OutputLog;
use crate::screens;
use glis_agent::{Dialect, Heard, Said, Source};
use glis_core::event::Spot;
use glis_core::input::{Hearing, Sign};
use glis_core::session::Session;
use glis_core::{Input, SessionId};
use glis_wire::view::Voice;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// How much of the output is read at once after the fact.
const STRETCH_BYTES: usize = 256 * 1024;

pub(super) struct Ear {
    pub(super) hands: Arc<Adapters>,
    pub(super) id: SessionId,
    pub(super) generation: u32,
    pub(super) dialect: Box<dyn Dialect>,
    conversation: Conversation,
    agent_ref: Option<String>,
    transcript: Option<PathBuf>,
    transcript_at: u64,
    /// Length of the log as far as it was listened to, or reported.
    pub(super) end: u64,
    /// The agent has shown that it is ready.
    pub(super) ready: bool,
    /// Whether it is listened to as it speaks.
    pub(super) hearing: Hearing,
}

impl Ear {
    /// Listens from where the log and the conversation end, but not to what came before this run.
    pub(super) fn new(hands: &Arc<Adapters>, session: &Session, began_at: u64) -> io::Result<Self> {
        let agent = glis_agent::find(&session.spec.agent)
            .ok_or_else(|| io::Error::other(format!("no agent {:?}", session.spec.agent)))?;
        let dir = hands.home.session(&session.id.0);
        let agent_ref = session.agent_ref.clone();
        let conversation = Conversation::open(&dir, agent_ref.as_deref())?;
        // Everything since the last sign that is accounted for, or the last entry that was written
        // down, whichever came first. Both lie at the end of a line.
        let known = conversation.stream_seen().min(session.seen.stream);
        Ok(Self {
            conversation,
            dialect: agent.dialect(session.spec.mode),
            transcript: agent_ref
                .as_ref()
                .and_then(|id| agent.transcript(id, &hands.places).map(PathBuf::from)),
            hands: Arc::clone(hands),
            id: session.id.clone(),
            generation: session.generation,
            agent_ref,
            transcript_at: 0,
            end: began_at.max(known),
            ready: session.ready,
            hearing: Hearing::Live,
        })
    }

    /// Takes output as it comes. Returns the agent's session ids that were not known before.
    pub(super) async fn hear(&mut self, at: u64, bytes: &[u8]) -> io::Result<Vec<String>> {
        let heard = self.dialect.hear(at, bytes);
        self.end = at + bytes.len() as u64;
        self.take_in(heard, Source::Stream).await
    }

    /// Takes everything that is on disk and was not listened to: the last words of an agent that
    /// is gone.
    pub(super) async fn hear_the_rest(&mut self) -> io::Result<Vec<String>> {
        self.hearing = Hearing::CatchingUp;
        match self.dialect.source() {
            Source::Stream => {
                let log = OutputLog::new(self.hands.home.session(&self.id.0));
                let mut ids = Vec::new();
                loop {
                    let stretch = log.read(self.end, STRETCH_BYTES)?;
                    if stretch.bytes.is_empty() {
                        return Ok(ids);
                    }
                    ids.extend(self.hear(stretch.at, &stretch.bytes).await?);
                }
            }
            Source::Transcript => self.read_transcript().await,
            Source::Screen => Ok(Vec::new()),
        }
    }

    /// Reads on in the transcript. Returns as [`Ear::hear`] does.
    pub(super) async fn read_transcript(&mut self) -> io::Result<Vec<String>> {
        let Some(path) = &self.transcript else { return Ok(Vec::new()) };
        let bytes = super::left::read_from(path, self.transcript_at)?;
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        let heard = self.dialect.read(self.transcript_at, &bytes);
        self.transcript_at += bytes.len() as u64;
        self.take_in(heard, Source::Transcript).await
    }

    /// Writes down what was said and passes on what it means, in that order: what is passed on is
    /// never heard again.
    async fn take_in(&mut self, heard: Vec<Heard>, source: Source) -> io::Result<Vec<String>> {
        let mut grew = false;
        let mut ids = Vec::new();
        for Heard { at, sign, said } in heard {
            let (spot, place) = match source {
                Source::Stream => (Spot::Stream(at), Place::Stream(at)),
                Source::Transcript | Source::Screen => {
                    (Spot::Transcript(at), Place::Transcript(at))
                }
            };
            if let Some(said) = said {
                self.conversation.add(place, self.agent_ref.as_deref(), said)?;
                grew = true;
            }
            if let Some(Sign::RefKnown(id)) = &sign
                && self.agent_ref.as_ref() != Some(id)
            {
                self.follow_ref(id).await;
                ids.push(id.clone());
            }
            if let Some(sign) = sign {
                self.ready |= sign == Sign::Ready;
                if sign == Sign::TurnEnded {
                    self.sync().await?;
                }
                self.sign(spot, sign).await;
            }
        }
        if grew {
            self.hands.talk.send_modify(|length| *length += 1);
        }
        Ok(ids)
    }

    /// A sync that failed is not tried again: the next one would succeed and prove nothing.
    async fn sync(&self) -> io::Result<()> {
        let Err(fault) = self.conversation.sync() else { return Ok(()) };
        let what = format!("the conversation of session {} ({fault})", self.id);
        drop(self.hands.line.mail.send(Mail::NotDurable(what)).await);
        Err(fault)
    }

    /// The agent goes by another id than we thought: its transcript is elsewhere.
    async fn follow_ref(&mut self, id: &str) {
        let session = self.hands.line.look(Look::One(self.id.0.clone())).await;
        let agent = session.first().and_then(|session| glis_agent::find(&session.spec.agent));
        if let Some(agent) = agent {
            self.transcript = agent.transcript(id, &self.hands.places).map(PathBuf::from);
        }
        self.agent_ref = Some(id.to_owned());
        self.transcript_at = 0;
    }

    /// Writes down a message that the agent itself will not confirm.
    pub(super) fn note_message(&mut self, content: String) -> io::Result<()> {
        let said = Said { voice: Voice::User, content, tool: None, pending: None };
        self.conversation.add(Place::Ours, None, said)?;
        self.hands.talk.send_modify(|length| *length += 1);
        Ok(())
    }

    pub(super) async fn look_for_prompt(&mut self) {
        if self.ready {
            return;
        }
        let lines = screens::glance(&self.hands.home.session(&self.id.0)).unwrap_or_default();
        if self.dialect.shows_ready(&lines) {
            self.ready = true;
            self.sign(Spot::Screen, Sign::Ready).await;
        }
    }

    pub(super) async fn sign(&self, spot: Spot, sign: Sign) {
        let (session, generation) = (self.id.clone(), self.generation);
        let hearing = self.hearing;
        self.hands.line.tell(Input::Sign { session, generation, spot, hearing, sign }).await;
    }
}
