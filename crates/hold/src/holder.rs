//! A holder: what it owns, and what it does for its clients.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use glis_wire::hold::{Hello, Limit, PROTOCOL, Process, Report, Size, place};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::process::Pid;

use crate::client::{Client, Room};
use crate::clients::Clients;
use crate::environment::Environment;
use crate::errors::Errors;
use crate::family::Family;
use crate::folder::Folder;
use crate::frost::Frost;
use crate::input::{Flow, Input, Queue};
use crate::kill::Killer;
use crate::mending::{self, Mending};
use crate::output::Output;
use crate::spawn::Spawned;
use crate::stage::Stage;
use crate::{complain, sizes, socket};

/// A daemon and many terminals; who comes later is turned away.
const CLIENTS_MAX: usize = 64;

/// No descriptor was to be had: try again then, instead of turning in circles.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// Complaints of earlier generations are kept up to this size.
const COMPLAINTS_BYTES_MAX: u64 = 64 * 1024;

/// Whom an event concerns; clients come after these.
pub(crate) const TOKEN_SIGNALS: u64 = 0;
pub(crate) const TOKEN_LISTENER: u64 = 1;
pub(crate) const TOKEN_OUTPUT: u64 = 2;
pub(crate) const TOKEN_INPUT: u64 = 3;
pub(crate) const TOKEN_ERRORS: u64 = 4;
pub(crate) const TOKEN_CLIENTS: u64 = 16;

/// What does not change while the holder lives, but for the size.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) session: String,
    pub(crate) generation: u32,
    pub(crate) process: Process,
    /// Offset where this generation's output begins.
    pub(crate) began_at: u64,
    /// The terminal's size in force; `None` with pipes.
    pub(crate) size: Option<Size>,
    pub(crate) environment: Environment,
    pub(crate) limits: Vec<Limit>,
    /// Where the session's folder is, or was.
    pub(crate) dir: String,
    /// Bytes of output that are kept.
    pub(crate) log_bytes_max: u64,
}

/// What is made before the agent is.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) folder: Folder,
    /// Locks that end with this process, by path.
    pub(crate) locks: Vec<(String, File)>,
    pub(crate) epoll: OwnedFd,
    /// The file that signals are read from.
    pub(crate) signals: OwnedFd,
    pub(crate) listener: OwnedFd,
    /// The log, which has no source yet.
    pub(crate) output: Output,
}

#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) facts: Facts,
    pub(crate) folder: Folder,
    pub(crate) locks: Vec<(String, File)>,
    pub(crate) agent: Pid,
    pub(crate) output: Output,
    pub(crate) input: Input,
    pub(crate) errors: Option<Errors>,
    pub(crate) far_end: Option<OwnedFd>,
    pub(crate) clients: Clients,
    pub(crate) stage: Stage,
    pub(crate) killer: Killer,
    pub(crate) mending: Mending,
    pub(crate) frost: Frost,
    pub(crate) epoll: OwnedFd,
    pub(crate) signals: OwnedFd,
}

impl Holder {
    /// Puts a running agent and the parts together.
    pub(crate) fn begin(facts: Facts, parts: Parts, spawned: Spawned) -> io::Result<Self> {
        let Spawned { pid, ends } = spawned;
        let agent = pid.as_raw_pid();
        let family = Family::of_agent(&facts.session, agent);
        let mut holder = Self {
            facts,
            folder: parts.folder,
            locks: parts.locks,
            agent: pid,
            output: parts.output,
            input: Input {
                queue: Queue::default(),
                handed: Some(0),
                pipe: ends.input,
                armed: false,
            },
            errors: ends.errors.map(Errors::new),
            far_end: ends.far_end,
            clients: Clients {
                all: Vec::new(),
                listener: parts.listener,
                next: TOKEN_CLIENTS,
                audience: (0, 0),
                accept_again_at: None,
            },
            stage: Stage::default(),
            killer: Killer::new(family, Some(agent)),
            mending: Mending::default(),
            frost: Frost::default(),
            epoll: parts.epoll,
            signals: parts.signals,
        };
        holder.watch(TOKEN_SIGNALS, holder.signals.as_fd(), EventFlags::IN)?;
        holder.watch(TOKEN_LISTENER, holder.clients.listener.as_fd(), EventFlags::IN)?;
        holder.watch(TOKEN_OUTPUT, ends.output.as_fd(), EventFlags::IN)?;
        if let Some(source) = holder.errors.as_ref().and_then(|errors| errors.source.as_ref()) {
            holder.watch(TOKEN_ERRORS, source.as_fd(), EventFlags::IN)?;
        }
        holder.output.source = Some(ends.output);
        if let Some(size) = holder.facts.size {
            holder.note_size(size);
        }
        mending::watch(&holder.folder);
        Ok(holder)
    }

    /// Writes what parts this generation's output from the one before, if there was one.
    pub(crate) fn put_seam(&mut self, seam: &str) {
        if self.facts.began_at > 0
            && let Err(gap) = self.output.put(seam.as_bytes())
        {
            complain("output is lost to the log", &gap.why);
        }
    }

    /// Who this is, for a client that asks first of all.
    pub(crate) fn hello(&self) -> Hello {
        Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            session: self.facts.session.clone(),
            generation: self.facts.generation,
            holder_pid: glis_os::process::own_pid(),
            process: self.facts.process.clone(),
            end: self.output.end(),
            began_at: self.facts.began_at,
            oldest: self.output.oldest(),
            size: self.facts.size,
            clients: self.clients.audience.0,
            attached: Some(self.clients.audience.1),
            handed: self.input.handed,
            ended: self.stage.record().cloned(),
            folder_lost: self.mending.folder_lost,
        }
    }

    /// Lets go of the process that started this one. Complaints go to a file from here on.
    pub(crate) fn detach(&self) -> io::Result<()> {
        let nothing =
            rustix::fs::openat(CWD, "/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        rustix::stdio::dup2_stdin(&nothing)?;
        rustix::stdio::dup2_stdout(&nothing)?;
        rustix::stdio::dup2_stderr(&nothing)?;
        self.complain_in_folder()
    }

    /// Complaints go to a file of the session's folder.
    pub(crate) fn complain_in_folder(&self) -> io::Result<()> {
        let complaints = self.folder.append(place::COMPLAINTS)?;
        if complaints.metadata()?.len() > COMPLAINTS_BYTES_MAX {
            complaints.set_len(0)?;
        }
        Ok(rustix::stdio::dup2_stderr(&complaints)?)
    }

    /// Drains the agent and tells everybody if the disk does not take it.
    pub(crate) fn take_output(&mut self) {
        if let Err(gap) = self.output.drain() {
            complain("output is lost to the log", &gap.why);
            self.clients.tell_all(&Report::Gap { at: gap.at, why: gap.why.to_string() });
        }
    }

    /// Notes a size, because the screen is later derived from the output and its sizes.
    pub(crate) fn note_size(&self, size: Size) {
        if let Err(fault) = sizes::note(&self.folder, self.output.end(), size) {
            complain("a size was not noted", &fault);
        }
    }

    /// Where input goes, as long as there is an agent to read it.
    pub(crate) fn input_end(&self) -> Option<BorrowedFd<'_>> {
        match self.facts.size {
            Some(_) => self.output.source.as_ref().map(OwnedFd::as_fd),
            None => self.input.pipe.as_ref().map(OwnedFd::as_fd),
        }
    }

    /// Asks to be woken when the agent takes input again, or no longer.
    pub(crate) fn arm_input(&mut self, flow: Flow) {
        let wanted = flow == Flow::Blocked;
        if self.input.armed == wanted {
            return;
        }
        self.input.armed = wanted;
        let Some(end) = self.input_end() else { return };
        let (write, both) = (EventFlags::OUT, EventFlags::IN | EventFlags::OUT);
        let data = EventData::new_u64;
        let outcome = match (self.facts.size.is_some(), wanted) {
            (true, true) => epoll::modify(&self.epoll, end, data(TOKEN_OUTPUT), both),
            (true, false) => epoll::modify(&self.epoll, end, data(TOKEN_OUTPUT), EventFlags::IN),
            // A pipe without a reader is always an event; it is awaited only when needed.
            (false, true) => epoll::add(&self.epoll, end, data(TOKEN_INPUT), write),
            (false, false) => epoll::delete(&self.epoll, end),
        };
        if let Err(fault) = outcome {
            complain("input cannot be awaited", &fault);
        }
    }

    fn watch(&self, token: u64, end: BorrowedFd<'_>, flags: EventFlags) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, end, EventData::new_u64(token), flags)?)
    }

    /// Takes another socket in place of the one whose file is gone. Connections stay.
    pub(crate) fn listen_on(&mut self, listener: OwnedFd) -> io::Result<()> {
        self.watch(TOKEN_LISTENER, listener.as_fd(), EventFlags::IN)?;
        self.clients.listener = listener;
        Ok(())
    }

    pub(crate) fn accept_clients(&mut self) {
        self.clients.accept_again_at = None;
        loop {
            match socket::accept(&self.clients.listener) {
                Ok(Some(_)) if self.clients.all.len() >= CLIENTS_MAX => {}
                Ok(Some(client)) => self.welcome(client),
                Ok(None) => break,
                Err(fault) => {
                    complain("a client cannot be accepted", &fault);
                    self.clients.accept_again_at = Some(Instant::now() + ACCEPT_PAUSE);
                    break;
                }
            }
        }
        // While descriptors are short the listener would be an event without end.
        let flags = if self.clients.accept_again_at.is_some() {
            EventFlags::empty()
        } else {
            EventFlags::IN
        };
        let (listener, data) = (&self.clients.listener, EventData::new_u64(TOKEN_LISTENER));
        let _ = epoll::modify(&self.epoll, listener, data, flags);
    }

    fn welcome(&mut self, socket: OwnedFd) {
        // What a daemon said that has died meanwhile counts before what the next one is told.
        self.hear_out();
        let id = self.clients.next;
        if self.watch(id, socket.as_fd(), EventFlags::IN).is_err() {
            return;
        }
        self.clients.next += 1;
        let mut client = Client::new(id, socket);
        client.tell(&Report::Hello(self.hello()));
        self.clients.all.push(client);
    }

    /// Gives every client what it is due, and lets go of those that are broken.
    pub(crate) fn settle(&mut self, now: Instant) {
        let end = self.output.end();
        for client in &mut self.clients.all {
            if client.watch.is_some_and(|beyond| end > beyond) {
                client.watch = None;
                client.tell(&Report::Output { end });
            }
        }
        self.count_audience();
        let mut progress = false;
        for client in &mut self.clients.all {
            if client.room == Room::Awaited {
                continue;
            }
            progress |= client.serve(&mut self.output, self.stage.record());
            let room = if client.is_behind(end) { Room::Awaited } else { Room::Supposed };
            // The wish is registered only when it changes: it costs a system call.
            if (room == Room::Supposed) != (client.room == Room::Supposed) && !client.broken {
                let mut flags = EventFlags::IN;
                flags.set(EventFlags::OUT, room == Room::Awaited);
                let data = EventData::new_u64(client.id);
                client.broken |= epoll::modify(&self.epoll, &client.socket, data, flags).is_err();
            }
            client.room = room;
        }
        if progress {
            self.stage.progressed(now);
        }
        if self.clients.all.iter().any(|client| client.broken) {
            self.clients.all.retain(|client| !client.broken);
            self.settle(now);
        }
    }

    fn count_audience(&mut self) {
        let following = self.clients.all.iter().filter(|client| client.cursor.is_some());
        let counted = following.fold((0, 0), |(all, attached), client| {
            (all + 1, attached + u32::from(client.is_attached()))
        });
        if counted != self.clients.audience {
            self.clients.audience = counted;
            let (clients, attached) = (counted.0, Some(counted.1));
            self.clients.tell_all(&Report::Audience { clients, attached });
        }
    }
}
