//! Calls whose daemon died in the middle of them: the log tells which were carried out, and those that were not are
//! made again. The daemon itself does nothing twice, and a person would have to look and repeat it.

use super::asks::bot_itself;
use super::{Asked, Bot};
use crate::desk::{Caller, who};
use crate::store::StoreFault;
use glis_client::Fault;
use glis_core::Status;
use glis_core::redact::redact;
use glis_wire::client::{Action, Request, Response, Trouble};
use serde_json::Value;

/// So often a call is made whose daemon dies: each has the daemon die in the middle of it.
pub(super) const CALLS_MAX: u32 = 8;

impl Bot {
    /// Makes a call that changes something. It is carried out once, whoever dies when.
    pub(super) fn carry(
        &self,
        asked: &Asked,
        request: &Request,
    ) -> Result<Result<Response, Fault>, StoreFault> {
        if trace_of(request).is_some()
            && let Err(fault) = self.note_begin(asked)?
        {
            return Ok(Err(fault));
        }
        let mut number = 0;
        loop {
            let answer = self.desk.call(&nth(&asked.caller, number), request.clone());
            number += 1;
            if number == CALLS_MAX || !is_unknown(&answer) {
                return Ok(answer);
            }
            match self.what_came_of(asked, request)? {
                Ok(None) => {}
                Ok(Some(done)) => return Ok(Ok(done)),
                Err(fault) => return Ok(Err(fault)),
            }
        }
    }

    /// Notes where the log ended before anything was done for an update. Found again after a crash, the note of
    /// the first time counts.
    fn note_begin(&self, asked: &Asked) -> Result<Result<(), Fault>, StoreFault> {
        if self.store().look().began(asked.update)?.is_some() {
            return Ok(Ok(()));
        }
        match self.desk.call(&bot_itself(), Request::DaemonStatus) {
            Ok(Response::Daemon(daemon)) => {
                let begin = (daemon.log_id, daemon.last_seq);
                self.change(|change| change.note_began(asked.update, &begin)).map(Ok)
            }
            Ok(_) => Ok(Err(Fault::unfit())),
            Err(fault) => Ok(Err(fault)),
        }
    }

    /// What a call has led to that no daemon has answered; `None` if it was not carried out, or does no harm if it
    /// is made again.
    fn what_came_of(
        &self,
        asked: &Asked,
        request: &Request,
    ) -> Result<Result<Option<Response>, Fault>, StoreFault> {
        if let Request::Act { session, action: Action::Remove { .. } } = request {
            return Ok(self.removed(session));
        }
        let Some(trace) = trace_of(request) else { return Ok(Ok(None)) };
        let Some((log_id, last)) = self.store().look().began(asked.update)? else {
            return Ok(Ok(None));
        };
        let events = match self.desk.events(&log_id, last + 1) {
            Ok(events) => events,
            Err(fault) => return Ok(Err(fault)),
        };
        let left = events.iter().find(|event| trace.is_left_by(event, &who(asked.user)));
        let session = left.and_then(|event| event.get("session")).and_then(Value::as_str);
        let Some(session) = session else { return Ok(Ok(None)) };
        Ok(self.show(&asked.caller, session).map(|session| {
            let (session, status) = (Box::new(session.clone()), session.status);
            Some(match trace {
                Trace::Made { .. } => Response::Made { session, notes: Vec::new() },
                Trace::Queued { .. } => {
                    Response::Queued { session, message: 0, before: 0, status, idle_secs: None }
                }
                Trace::Restarted { .. } | Trace::Answered { .. } => {
                    Response::Done { session, already: false }
                }
            })
        }))
    }

    fn removed(&self, session: &str) -> Result<Option<Response>, Fault> {
        let shown = self.look_at(session)?;
        let is_gone = shown.status == Status::Archived;
        Ok(is_gone.then(|| Response::Done { session: Box::new(shown), already: true }))
    }
}

/// The same call under a name of its own.
pub(super) fn nth(caller: &Caller, number: u32) -> Caller {
    match number {
        0 => caller.clone(),
        _ => Caller { user: caller.user, key: format!("{}-{number}", caller.key) },
    }
}

fn is_unknown(answer: &Result<Response, Fault>) -> bool {
    matches!(answer, Err(Fault::Trouble { kind: Trouble::Unknown, .. }))
}

/// What a call leaves in the log that must not be made twice.
enum Trace<'r> {
    Made { name: Option<&'r str> },
    Queued { session: &'r str, text: &'r str },
    Restarted { session: &'r str },
    Answered { session: &'r str, ask: Option<&'r str> },
}

fn trace_of(request: &Request) -> Option<Trace<'_>> {
    if let Request::New(new) = request {
        return Some(Trace::Made { name: new.name.as_deref() });
    }
    let Request::Act { session, action } = request else { return None };
    if let Action::Send { text, .. } = action {
        Some(Trace::Queued { session, text })
    } else if let Action::Answer { ask, .. } = action {
        Some(Trace::Answered { session, ask: ask.as_deref() })
    } else {
        matches!(action, Action::Restart { .. }).then_some(Trace::Restarted { session })
    }
}

impl Trace<'_> {
    /// Whether this event is what the call of this user has led to. Two calls of one user that ask for the very
    /// same, in two chats at once, are not told apart.
    fn is_left_by(&self, event: &Value, who: &str) -> bool {
        let text = |at: &str| event.pointer(at).and_then(Value::as_str);
        let own = text("/from/face") == Some("chat") && text("/from/who") == Some(who);
        let is = |name: &str| own && text("/event") == Some(name);
        let of = |session: &str| text("/session") == Some(session);
        match self {
            Trace::Made { name } => {
                is("session_created") && name.is_none_or(|name| text("/name") == Some(name))
            }
            Trace::Queued { session, text: said } => {
                // The places of files are named behind it, and events show no secrets.
                let queued = text("/text").unwrap_or_default();
                is("message_queued") && of(session) && queued.starts_with(&*redact(said))
            }
            Trace::Restarted { session } => is("restart_began") && of(session),
            Trace::Answered { session, ask } => {
                is("answer_began") && of(session) && ask.is_none_or(|ask| text("/ask") == Some(ask))
            }
        }
    }
}
