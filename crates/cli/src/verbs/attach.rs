//! The verb that puts a session on the terminal, and what it does when the session's process ends.

use super::{Out, ask, unexpected};
use crate::attach::{
    Aside, AttachSpec, CTRL_Q, Companion, Leave, Offer, Painting, Standing, attach as attach_to,
};
use crate::complaint::{Complaint, Kind};
use crate::control;
use crate::words;
use glis_client::{Client, Streamed};
use glis_core::Status;
use glis_core::spec::Mode;
use glis_wire::client::{Action, Request, Response};
use glis_wire::view::SessionView;
use rustix::pipe::{PipeFlags, pipe_with};
use serde_json::json;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Before a daemon that could not be asked is asked again.
const PACE: Duration = Duration::from_secs(1);

pub(super) fn attach(name: &str, out: &Out) -> Result<(), Complaint> {
    if !crate::tty::is_terminal() {
        return Err(Complaint::new(Kind::Usage, "attach needs a terminal").hint(format!(
            "`glis screen {name}` prints the screen, `glis output {name}` the bytes"
        )));
    }
    let (session, left) = until_left(name)?;
    let (word, text) = match left {
        Leave::Detached => {
            ("detached", format!("detached from `{}`; it keeps running", session.name))
        }
        Leave::NotRunning | Leave::Ended(_) | Leave::Lost | Leave::Kept => {
            ("not_running", words::is(&session))
        }
    };
    let document = json!({"session": session.name, "left": word, "status": session.status});
    out.document(&document, || text)
}

/// Shows a session on the terminal until the user leaves, for a face that has its own words for the rest.
pub fn show(name: &str) -> Result<(), Complaint> {
    until_left(name).map(drop)
}

/// The session as it is afterwards, and why it is shown no longer.
fn until_left(name: &str) -> Result<(SessionView, Leave), Complaint> {
    let mut control = control::connect()?;
    let Painted { session, painting, size, holder_dir } = painted(&mut control, name)?;
    let companion = Company::of(&session);
    let id = session.id.clone();
    let again = move |_| {
        let painted = painted_anew(&mut control, &id);
        painted.map(|painted| painted.painting).map_err(io::Error::other)
    };
    let left = attach_to(AttachSpec {
        paint: painting.bytes,
        paint_size: Some(size),
        from: painting.at,
        holder_dir,
        detach: CTRL_Q,
        keys_unwanted: (session.mode == Mode::Headless).then(|| words::keys_unwanted(&session)),
        repaint: Some(Box::new(again)),
        companion: Some(Box::new(companion)),
    });
    let left = left.map_err(not_shown)?;
    // It may have become another than the one that was attached to.
    let request = Request::Show { session: session.id.clone() };
    let running = control::connect_running().ok().flatten();
    let now = running.map(|mut control| ask(&mut control, request));
    let session = if let Some(Ok(Response::Session(now))) = now { *now } else { session };
    Ok((session, left))
}

/// Why a session is shown no longer. What the daemon said to it keeps its kind, and with it the exit
/// status.
fn not_shown(fault: io::Error) -> Complaint {
    match fault.downcast::<Complaint>() {
        Ok(complaint) => complaint,
        Err(fault) => Complaint::new(Kind::Failed, format!("attach: {fault}")),
    }
}

/// A session's screen, and the way to its holder.
struct Painted {
    session: SessionView,
    painting: Painting,
    size: glis_wire::hold::Size,
    holder_dir: Option<PathBuf>,
}

fn painted(control: &mut Client, name: &str) -> Result<Painted, Complaint> {
    let mut bytes = Vec::new();
    let answer = control.call_seeing::<Complaint>(
        Request::Attach { session: name.to_owned() },
        |streamed| {
            if let Streamed::Bytes(_, part) = streamed {
                bytes.extend(part);
            }
            Ok(())
        },
    )?;
    let Response::Attached { session, from, size, holder_dir } = answer else {
        return Err(unexpected());
    };
    let painting = Painting { at: from, bytes };
    let holder_dir = holder_dir.map(PathBuf::from);
    Ok(Painted { session: *session, painting, size, holder_dir })
}

/// As [`painted`]; the daemon may have been replaced since it was last asked.
fn painted_anew(control: &mut Client, name: &str) -> Result<Painted, Complaint> {
    painted(control, name).or_else(|_| {
        *control = control::connect_again()?;
        painted(control, name)
    })
}

/// Asks the daemon what becomes of a session, beside the terminal that shows it.
struct Company {
    control: Option<Client>,
    id: String,
    keeps_process: bool,
    status: Status,
    refused: Arc<Mutex<Option<String>>>,
}

impl Company {
    fn of(session: &SessionView) -> Self {
        let (id, status, keeps_process) =
            (session.id.clone(), session.status, session.keep_process);
        Self { control: None, id, keeps_process, status, refused: Arc::default() }
    }

    fn painted(&mut self) -> Result<Painted, Complaint> {
        let mut control = match self.control.take() {
            Some(control) => control,
            None => control::connect_again()?,
        };
        let painted = painted_anew(&mut control, &self.id)?;
        self.control = Some(control);
        Ok(painted)
    }
}

impl Companion for Company {
    fn look(&mut self) -> io::Result<Standing> {
        let painted = self.painted().map_err(io::Error::other)?;
        let Painted { session, painting, size, holder_dir } = painted;
        self.status = session.status;
        let offer = if session.can_resume { Offer::Resume } else { Offer::Leave };
        let (line, generation) = (words::resting(&session), session.generation);
        Ok(Standing { painting, size, holder_dir, generation, line, offer })
    }

    fn until_changed(&mut self) -> io::Result<Aside> {
        let (session, known) = (self.id.clone(), self.status);
        let statuses = Status::ALL.into_iter().filter(|status| *status != known).collect();
        let request = Request::Wait { session, statuses, timeout_ms: None };
        beside(move || {
            let waited =
                control::connect_again().and_then(|mut control| Ok(control.call(request)?));
            if waited.is_err() {
                // The next look asks again; not at once, in case no daemon answers at all.
                std::thread::sleep(PACE);
            }
        })
    }

    fn resume(&mut self) -> io::Result<Aside> {
        let (session, refused) = (self.id.clone(), Arc::clone(&self.refused));
        let request = Request::Act { session, action: Action::Resume { prompt: None } };
        beside(move || {
            let done = control::connect().and_then(|mut control| Ok(control.call(request)?));
            let why = done.err().map(|complaint| complaint.message);
            *refused.lock().unwrap_or_else(PoisonError::into_inner) = why;
        })
    }

    fn not_resumed(&mut self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn until_kept(&mut self) -> io::Result<Option<Aside>> {
        if !self.keeps_process {
            return Ok(None);
        }
        let (session, statuses) = (self.id.clone(), vec![Status::Paused]);
        let request = Request::Wait { session, statuses, timeout_ms: None };
        let wait = move || loop {
            let waited =
                control::connect_again().and_then(|mut control| Ok(control.call(request.clone())?));
            match waited {
                // What is gone is paused no more.
                Err(complaint) if complaint.kind != Kind::NotFound => std::thread::sleep(PACE),
                Ok(_) | Err(_) => return,
            }
        };
        beside(wait).map(Some)
    }
}

/// Does something in another thread. The end of the pipe that it holds closes with it.
fn beside(work: impl FnOnce() + Send + 'static) -> io::Result<Aside> {
    let (done, held) = pipe_with(PipeFlags::CLOEXEC)?;
    let thread = std::thread::Builder::new().name("beside".to_owned());
    drop(thread.spawn(move || {
        work();
        drop(held);
    })?);
    Ok(Aside { done })
}
