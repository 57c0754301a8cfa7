//! The loop: one wait, then what has happened, then what each client is due.

use std::mem::MaybeUninit;
use std::time::Instant;

use glis_wire::hold::place;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventFlags};
use rustix::io::Errno;
use rustix::process::Signal;

use crate::client::Room;
use crate::complain;
use crate::holder::{
    Holder, TOKEN_ERRORS, TOKEN_INPUT, TOKEN_LISTENER, TOKEN_OUTPUT, TOKEN_SIGNALS,
};

const EVENTS_PER_TURN: usize = 32;

impl Holder {
    /// Works until the agent has ended and everybody has heard of it.
    pub(crate) fn hold(mut self) {
        let mut room = [MaybeUninit::<Event>::uninit(); EVENTS_PER_TURN];
        loop {
            let timeout = self.deadline().map(|at| at.saturating_duration_since(Instant::now()));
            let timeout = timeout.and_then(|left| Timespec::try_from(left).ok());
            match epoll::wait(&self.epoll, &mut room, timeout.as_ref()) {
                Ok((events, _)) => {
                    for event in events {
                        self.respond(event.data.u64(), event.flags);
                    }
                }
                Err(Errno::INTR) => {}
                // Without events nothing can be done in order; what is left is to end in order.
                Err(_) => self.stop_for(Signal::TERM),
            }
            let now = Instant::now();
            if self.output.rest_at().is_some_and(|at| at <= now) {
                self.output.rest();
            }
            if self.clients.accept_again_at.is_some_and(|at| at <= now) {
                self.accept_clients();
            }
            if self.mending.at.is_some_and(|at| at <= now) {
                self.mend();
            }
            self.spread_frost(now);
            self.climb(now);
            self.flow_input();
            self.settle(now);
            if self.may_leave(Instant::now()) {
                // Clients that have connected already are told as well; after that none can connect.
                if let Err(fault) = self.folder.remove(place::SOCKET) {
                    complain("the socket stays behind", &fault);
                }
                self.accept_clients();
                self.settle(now);
                if self.may_leave(Instant::now()) {
                    return;
                }
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let due = [
            self.stage.deadline(),
            self.output.rest_at(),
            self.clients.accept_again_at,
            self.mending.at,
        ];
        let due = due.into_iter().chain([self.frost.deadline()]);
        due.flatten().min()
    }

    fn respond(&mut self, token: u64, flags: EventFlags) {
        match token {
            TOKEN_SIGNALS => self.take_signals(),
            TOKEN_LISTENER => self.accept_clients(),
            TOKEN_OUTPUT => {
                // Writability is looked at in every turn; only readable output is news here.
                if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
                    self.take_output();
                }
            }
            TOKEN_INPUT => {}
            TOKEN_ERRORS => {
                if let Some(errors) = &mut self.errors {
                    errors.drain(&self.folder);
                }
            }
            id => {
                if let Some(client) = self.clients.find(id) {
                    if flags.contains(EventFlags::OUT) {
                        client.room = Room::Found;
                    }
                    if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
                        self.listen_to(id);
                    }
                }
            }
        }
    }

    /// The signals that have come in; the numbers lie first in fixed records.
    fn take_signals(&mut self) {
        let mut record = [0_u8; 128];
        while let Ok(len) = rustix::io::read(&self.signals, &mut record) {
            let Some(number) = record[..len].first_chunk::<4>() else { return };
            match Signal::from_named_raw(i32::from_ne_bytes(*number)) {
                Some(Signal::CHILD) => {
                    self.reap();
                    self.frost.look_again();
                }
                Some(Signal::URG | Signal::IO) => self.mending.wanted(),
                Some(signal @ (Signal::TERM | Signal::INT | Signal::HUP)) => self.stop_for(signal),
                Some(_) | None => {}
            }
        }
    }
}
