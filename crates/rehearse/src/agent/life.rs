//! The agent's life, from greeting to farewell.

use std::io;

use super::{Agent, Greeting, Phase, Stdin, Transcribes};
use crate::face::{Message, Mode};
use crate::record::Body;
use crate::turn;

impl Agent {
    /// Lives: greets, takes one message after the other, and says farewell.
    pub(crate) fn live(&mut self, prompt: Option<String>) -> io::Result<()> {
        self.greet()?;
        match prompt {
            Some(text) => self.queue.push_back(Message { text, id: None }),
            None if matches!(self.greeting, Greeting::Withheld) => {}
            None => self.show(|face, out| face.mode(Mode::Idle, out))?,
        }
        loop {
            if self.phase == Phase::Leaving {
                break;
            } else if let Some(message) = self.queue.pop_front() {
                self.take_turn(message)?;
            } else if self.stdin == Stdin::Ended {
                break;
            } else {
                self.wait(None, None)?;
            }
        }
        self.kill_company();
        self.show(|face, out| face.farewell(out))?;
        if let Some(raw) = &self.raw {
            raw.leave();
        }
        Ok(())
    }

    fn greet(&mut self) -> io::Result<()> {
        if matches!(self.greeting, Greeting::Withheld) {
            return Ok(());
        }
        let last = if self.hello.resumed { self.transcript.last_exchange()? } else { Vec::new() };
        match self.greeting {
            Greeting::Told => {
                let session = self.session();
                self.show(|face, out| face.greet(&session, &last, out))?;
            }
            Greeting::Late(_) | Greeting::Never | Greeting::Withheld => {
                self.show(|face, out| face.greet_without_id(out))?;
            }
        }
        if self.hello.resumed && self.transcribes == Transcribes::Faithfully {
            self.record(Body::Resumed)?;
        }
        Ok(())
    }

    fn take_turn(&mut self, message: Message) -> io::Result<()> {
        if self.phase == Phase::Idle {
            self.phase = Phase::Busy;
        }
        self.show(|face, out| face.mode(Mode::Working, out))?;
        let Message { text, id } = message;
        self.record(Body::User { text: text.clone(), id })?;
        self.record(Body::TurnStarted)?;
        self.greet_late()?;
        let result = turn::perform(self, &text)?;
        self.record(Body::TurnEnded { result })?;
        if self.phase != Phase::Leaving {
            self.phase = Phase::Idle;
        }
        self.show(|face, out| face.mode(Mode::Idle, out))
    }
}
