//! What clients ask for, and what comes of it.

use std::os::fd::{AsFd as _, OwnedFd};

use glis_wire::frame::{Frame, FrameFault};
use glis_wire::hold::{MESSAGE, Order, Report, Size};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::process::Signal;
use rustix::termios::LocalModes;

use crate::client::Client;
use crate::folder::lock_at;
use crate::holder::Holder;
use crate::input::{Flow, Piece};
use crate::spawn::winsize;

/// As much as is read from a client at once.
const PIECE_BYTES: usize = 4096;

/// Stands for the daemon that started the agent, which is no client.
const NO_CLIENT: u64 = 0;

/// What a terminal in canonical mode keeps of a line, its end not counted. The rest is dropped
/// without a word.
const LINE_BYTES_MAX: usize = 4095;

/// Pieces read from one client before the others have their turn.
const PIECES_PER_TURN: usize = 16;

/// Turns of one client in a row: more than a socket holds, and a bound for one that never stops.
const TURNS_MAX: usize = 64;

impl Holder {
    /// Reads what a client has said and carries it out. Nonsense closes its connection.
    pub(crate) fn listen_to(&mut self, id: u64) {
        let mut piece = [0; PIECE_BYTES];
        for _ in 0..PIECES_PER_TURN {
            let Some(client) = self.clients.find(id) else { return };
            match rustix::io::read(&client.socket, &mut piece) {
                Ok(0) => client.broken = true,
                Ok(len) => client.decoder.feed(&piece[..len]),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(_) => client.broken = true,
            }
            if client.broken {
                return;
            }
            self.obey_frames(id);
        }
        // A window that is dragged says its size a hundred times; the last one counts.
        self.apply_size_of(id);
    }

    /// Reads all that has been said so far. Where that does not end, nothing is known of the input.
    pub(crate) fn hear_out(&mut self) {
        let ids: Vec<u64> = self.clients.all.iter().map(|client| client.id).collect();
        for id in ids {
            let heard_out = (0..TURNS_MAX).any(|_| {
                self.listen_to(id);
                self.clients
                    .find(id)
                    .is_none_or(|client| client.broken || is_silent(&client.socket))
            });
            if !heard_out {
                self.input.handed = None;
            }
        }
    }

    fn obey_frames(&mut self, id: u64) {
        loop {
            let Some(client) = self.clients.find(id) else { return };
            match client.decoder.next_frame() {
                Ok(None) => return,
                Ok(Some(Frame::Raw { tag, bytes })) => self.take_input(id, tag, bytes),
                Ok(Some(frame @ Frame::Words(_))) => match Order::read(&frame) {
                    Ok(order) => self.obey(id, order),
                    Err(fault) => self.doubt(id, &frame, &fault),
                },
                Err(_) => client.broken = true,
            }
            if self.clients.find(id).is_some_and(|client| client.broken) {
                return;
            }
        }
    }

    /// An order of a later version is refused; what is no JSON at all is not spoken to.
    fn doubt(&mut self, id: u64, frame: &Frame, fault: &FrameFault) {
        if frame.words::<serde_json::Value>().is_ok() {
            self.clients.refuse(id, 0, &fault.to_string());
        } else if let Some(client) = self.clients.find(id) {
            client.broken = true;
        }
    }

    fn obey(&mut self, id: u64, order: Order) {
        let Some(client) = self.clients.find(id) else { return };
        match order {
            Order::Follow { from } => {
                client.cursor = Some(from);
                client.knows_end = false;
            }
            Order::Watch { beyond } => client.watch = Some(beyond),
            Order::Resize(size) => client.resize(size.clamped()),
            Order::Signal { number } => self.signal_agent(id, number),
            Order::Stop(ladder) => self.stop(ladder),
            Order::Children(children) => self.killer.spare_children(children),
            Order::Freeze { order } => self.freeze(id, order),
            Order::Thaw { order } => self.thaw(id, order),
            Order::Lock { path } => self.lock(id, path),
            Order::Environment => {
                let (env, limits) = (self.facts.environment.variables(), self.facts.limits.clone());
                client.tell(&Report::Environment { env, limits });
            }
            Order::Reading => {
                let reads = glis_os::terminal::is_read(self.agent.as_raw_pid());
                client.tell(&Report::Reading { reads });
            }
            Order::Collected => {
                if !self.stage.collect() {
                    self.clients.refuse(id, 0, "the agent has not ended");
                }
            }
        }
    }

    fn take_input(&mut self, id: u64, order: u64, bytes: Vec<u8>) {
        if self.stage.end.is_some() || self.input_end().is_none() {
            self.clients.refuse(id, order, "the agent reads no more input");
            return;
        }
        if self.frost.is_there() {
            self.clients.refuse(id, order, "the agent is stopped in place");
            return;
        }
        // On pipes a protocol is spoken, and one key in the middle of it garbles all that follows.
        // A client that speaks it numbers its orders; an attached terminal does not.
        if order == 0 && self.facts.size.is_none() {
            self.clients.refuse(id, order, "an agent on pipes takes no keys");
            return;
        }
        if order != 0
            && let Some(length) = self.cuts_line(&bytes)
        {
            let why = format!(
                "its terminal takes lines of {LINE_BYTES_MAX} bytes at most and would cut one of {length}"
            );
            self.clients.tell(id, &Report::Refused { order, why, for_good: true });
            return;
        }
        if let Some(client) = self.clients.find(id) {
            client.is_active();
        }
        self.apply_size_of(id);
        if self.input.queue.add(id, order, bytes).is_ok() {
            if order & MESSAGE != 0 {
                self.input.handed = self.input.handed.map(|_| order);
            }
        } else {
            self.clients.refuse(
                id,
                order,
                "the agent does not read its input, and too much waits already",
            );
        }
    }

    /// The length of a line that the kernel would cut, if it edits lines for the program and one of
    /// them is too long.
    fn cuts_line(&self, bytes: &[u8]) -> Option<usize> {
        let terminal = self.facts.size.and(self.output.source.as_ref())?;
        let ends_line = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let longest = bytes.split(ends_line).map(<[u8]>::len).max()?;
        // Asked only where it matters: most input is short.
        let too_long = longest > LINE_BYTES_MAX;
        let modes = too_long.then(|| rustix::termios::tcgetattr(terminal).ok()).flatten()?;
        modes.local_modes.contains(LocalModes::ICANON).then_some(longest)
    }

    /// Gives the agent the words that came with its launch.
    pub(crate) fn say_first(&mut self, words: &str) {
        if !words.is_empty()
            && self.input.queue.add(NO_CLIENT, 0, words.as_bytes().to_vec()).is_ok()
        {
            self.flow_input();
        }
    }

    /// Hands input over as far as the agent takes it.
    pub(crate) fn flow_input(&mut self) {
        if self.input.queue.is_empty() {
            return;
        }
        let terminal = self.facts.size.is_some();
        let end = if terminal { &self.output.source } else { &self.input.pipe };
        let through = |piece: &Piece| {
            if piece.order != 0 {
                self.clients.tell(piece.client, &Report::Wrote { order: piece.order });
            }
        };
        let flow = match end {
            Some(end) => self.input.queue.flow(end.as_fd(), through),
            None => Flow::Closed,
        };
        self.arm_input(flow);
        if flow == Flow::Closed {
            self.close_input();
        }
    }

    /// Ends the agent's input. What still waits is refused.
    pub(crate) fn close_input(&mut self) {
        self.arm_input(Flow::Closed);
        self.input.pipe = None;
        for piece in self.input.queue.give_up() {
            self.clients.refuse(piece.client, piece.order, "the agent reads no more input");
        }
    }

    fn apply_size_of(&mut self, id: u64) {
        let wanted = self.clients.find(id);
        let wanted = wanted.and_then(Client::size_due);
        if let Some(size) = wanted {
            self.apply_size(size);
        }
    }

    fn apply_size(&mut self, size: Size) {
        // With pipes there is no size in force and nothing to apply.
        if self.facts.size.is_none_or(|now| now == size) {
            return;
        }
        let Some(terminal) = &self.output.source else { return };
        if rustix::termios::tcsetwinsize(terminal, winsize(size)).is_err() {
            return;
        }
        self.facts.size = Some(size);
        self.note_size(size);
        self.clients.tell_all(&Report::Resized { at: self.output.end(), size });
    }

    fn signal_agent(&mut self, id: u64, number: i32) {
        let outcome = match Signal::from_named_raw(number) {
            None => Err("there is no such signal".to_owned()),
            Some(_) if self.stage.end.is_some() => Err("the agent has ended".to_owned()),
            Some(signal) => rustix::process::kill_process_group(self.agent, signal)
                .map_err(|fault| fault.to_string()),
        };
        if let Err(why) = outcome {
            self.clients.refuse(id, 0, &why);
        }
    }

    fn lock(&mut self, id: u64, path: String) {
        if self.locks.iter().any(|(held, _)| *held == path) {
            return;
        }
        match lock_at(&path) {
            Ok(file) => self.locks.push((path, file)),
            Err(fault) => self.clients.refuse(id, 0, &format!("{path}: {fault}")),
        }
    }
}

fn is_silent(socket: &OwnedFd) -> bool {
    let mut byte = [0];
    let peeked = rustix::net::recv(socket, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT);
    matches!(peeked, Err(Errno::AGAIN))
}
