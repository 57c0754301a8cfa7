//! What becomes of a session that a terminal shows: the daemon is asked beside it.

use super::{Painting, Scene};
use crate::control;
use crate::words;
use glis_client::{Client, Painted};
use glis_core::Status;
use glis_verbs::{Complaint, Kind};
use glis_wire::client::{Action, Request};
use glis_wire::view::SessionView;
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Before a daemon that could not be asked is asked again.
const PACE: Duration = Duration::from_secs(1);

/// How a session stands that is looked at.
pub(super) struct Standing {
    pub(super) scene: Scene,
    /// Which start of its process this is about.
    pub(super) generation: u32,
    /// What became of it, in a line.
    pub(super) line: String,
    /// What can be done about it.
    pub(super) offer: Offer,
}

/// What can be done about a session that does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offer {
    /// It can be brought back.
    Resume,
    /// It can only be left.
    Leave,
}

/// Something done beside the terminal, by another thread.
pub(super) struct Aside {
    /// Can be read, or hangs up, when it is done.
    pub(super) done: OwnedFd,
}

/// A session, and what the terminal shows of it.
pub(crate) fn scene_of(painted: Painted) -> (SessionView, Scene) {
    let Painted { session, bytes, from, size, holder_dir } = painted;
    (session, Scene { painting: Painting { at: from, bytes }, size: Some(size), holder_dir })
}

/// A session's screen; the daemon may have been replaced since it was last asked.
pub(crate) fn painted_anew(control: &mut Client, name: &str) -> Result<Painted, Complaint> {
    control.paint(name).or_else(|_| {
        *control = control::connect_again()?;
        Ok(control.paint(name)?)
    })
}

/// Asks the daemon what becomes of a session, beside the terminal that shows it, and can bring it back.
pub struct Company {
    control: Option<Client>,
    id: String,
    keeps_process: bool,
    status: Status,
    refused: Arc<Mutex<Option<String>>>,
}

impl Company {
    pub(crate) fn of(session: &SessionView) -> Self {
        let (id, status, keeps_process) =
            (session.id.clone(), session.status, session.keep_process);
        Self { control: None, id, keeps_process, status, refused: Arc::default() }
    }

    fn painted(&mut self) -> Result<Painted, Complaint> {
        let mut control = self.control.take().map_or_else(control::connect_again, Ok)?;
        let painted = painted_anew(&mut control, &self.id)?;
        self.control = Some(control);
        Ok(painted)
    }

    pub(super) fn look(&mut self) -> io::Result<Standing> {
        let (session, scene) = scene_of(self.painted().map_err(io::Error::other)?);
        self.status = session.status;
        let offer = if session.can_resume { Offer::Resume } else { Offer::Leave };
        let (line, generation) = (words::resting(&session), session.generation);
        Ok(Standing { scene, generation, line, offer })
    }

    /// Waits until it is otherwise than it was at the last look.
    pub(super) fn until_changed(&mut self) -> io::Result<Aside> {
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

    pub(super) fn resume(&mut self) -> io::Result<Aside> {
        let (session, refused) = (self.id.clone(), Arc::clone(&self.refused));
        let request = Request::Act { session, action: Action::Resume { prompt: None } };
        beside(move || {
            let done = control::connect().and_then(|mut control| Ok(control.call(request)?));
            let why = done.err().map(|complaint| complaint.message);
            *refused.lock().unwrap_or_else(PoisonError::into_inner) = why;
        })
    }

    /// Why it was not brought back, once that is known.
    pub(super) fn not_resumed(&mut self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Waits until a pause has stopped its process in place, which that cannot tell itself; `None` where
    /// no pause does so.
    pub(super) fn until_kept(&mut self) -> io::Result<Option<Aside>> {
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
