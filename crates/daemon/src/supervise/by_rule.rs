//! Answers of the rules. One may wait for its question to come to the screen, and nothing is pressed in a
//! person's name that they have forbidden meanwhile.

use super::link::Link;
use super::listener::Listener;
use crate::holder::reads_terminal;
use crate::rules;
use glis_core::AskId;
use glis_core::input::Sign;
use glis_core::session::{Phase, Session};
use glis_core::talk::{ALLOW, Ask, DENY};
use glis_core::verdict::{Answerer, Verdict, Want};
use std::io;
use std::sync::Arc;

impl Listener {
    /// Takes the folder from a command that may run in another one: what was called meanwhile is no program.
    pub(super) async fn placed(&self, mut sign: Sign) -> Sign {
        let Sign::Asked(ask) = &mut sign else { return sign };
        let Some(Want::Command { folder, .. }) = &mut ask.wants else { return sign };
        let called = self.dialect.called();
        if folder.is_some() && !called.is_empty() {
            let session = self.session().await;
            let look =
                move || Ok(session.is_some_and(|session| rules::are_programs(&session, &called)));
            if !self.supervisor.run_blocking(look).await.unwrap_or(false) {
                *folder = None;
            }
        }
        sign
    }
}

impl Link {
    /// Whether the rules would still give this answer, as they, their files and the agent's process are by
    /// now, and whether they may.
    pub(super) async fn rules_still_say(&self, id: &AskId, answer: &str) -> bool {
        let Some(session) = self.listener.session().await else { return false };
        let Some(ask) = left_to_rules(&session, id).cloned() else { return false };
        let supervisor = &self.listener.supervisor;
        let settings = Arc::clone(&supervisor.settings);
        let dir = self.listener.dir();
        let reads = ask.is_from_screen() && reads_terminal(&dir, &self.process).await;
        let judge = move || Ok(rules::verdict(&settings, &session, &ask, || reads));
        let says = match supervisor.run_blocking(judge).await {
            Ok(Verdict::Accept { .. }) => answer == ALLOW,
            Ok(Verdict::Reject { .. }) => answer == DENY,
            Ok(Verdict::Manual { .. }) | Err(_) => false,
        };
        // Files are slow: a person may have been faster.
        says && self.is_for_rules(id).await
    }

    /// Whether the rules may still answer this.
    pub(super) async fn is_for_rules(&self, id: &AskId) -> bool {
        let session = self.listener.session().await;
        session.is_some_and(|session| left_to_rules(&session, id).is_some())
    }

    /// Takes back an answer of the rules that was not taken yet: no key of it is pressed any more.
    pub(super) async fn withdraw(&mut self, id: AskId) -> io::Result<()> {
        let open = self.listener.on_screen.iter_mut().find(|open| open.ask.id == id);
        match open.and_then(|open| open.answer.take()) {
            Some(_) => self.tell_withdrawn(id).await,
            None => Ok(()),
        }
    }

    /// Tells that a person has to answer it.
    pub(super) async fn tell_withdrawn(&self, ask: AskId) -> io::Result<()> {
        let why = "auto-yes was switched off, or its rules say something else by now".to_owned();
        self.not_given(ask, why).await
    }
}

/// The question that rules are answering, if nobody has taken it from them.
fn left_to_rules<'s>(session: &'s Session, id: &AskId) -> Option<&'s Ask> {
    let theirs = |ask: &&Ask| ask.id == *id && ask.answering && ask.answerer == Answerer::Rules;
    let ask = session.asked().iter().find(theirs)?;
    (session.spec.auto_yes && session.phase == Phase::Live).then_some(ask)
}
