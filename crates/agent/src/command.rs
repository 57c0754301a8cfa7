//! Any program: no session id of its own, no words about itself, only a screen.

use crate::agent::Agent;
use crate::dialect::{Dialect, Interrupt, Shown, Source};
use crate::heard::Heard;
use crate::launch::{Approach, LaunchPlan, Places};
use crate::storage::FileLocation;
use glis_core::plain::without_escapes;
use glis_core::session::Session;
use glis_core::spec::{Mode, RefOrigin, SignSource, Takes, Traits};
use glis_core::talk::{ALLOW, Ask, DENY};

const SIGINT: i32 = 2;

pub(crate) struct AnyCommand;

impl Agent for AnyCommand {
    fn traits(&self, _mode: Mode, _argv: &[String]) -> Traits {
        Traits { refs: RefOrigin::None, signs: SignSource::Screen, takes: Takes::Anytime }
    }

    fn check(&self, _mode: Mode, argv: &[String]) -> Result<(), String> {
        if argv.first().is_none_or(String::is_empty) {
            return Err("the agent `command` needs a program after `--`".to_owned());
        }
        Ok(())
    }

    fn launch(&self, session: &Session, _how: Approach, _places: &Places) -> LaunchPlan {
        LaunchPlan { argv: session.spec.argv.clone(), ..LaunchPlan::default() }
    }

    fn transcript(&self, _agent_ref: &str, _places: &Places) -> Option<FileLocation> {
        None
    }

    fn dialect(&self, mode: Mode) -> Box<dyn Dialect> {
        Box::new(Plain { mode })
    }
}

struct Plain {
    mode: Mode,
}

impl Dialect for Plain {
    fn hear(&mut self, _offset: u64, _bytes: &[u8]) -> Vec<Heard> {
        Vec::new()
    }

    /// A line, as it would be typed. An unknown program need not know about pasting.
    fn say(&self, text: &str) -> Vec<u8> {
        let end = match self.mode {
            Mode::Terminal => '\r',
            Mode::Headless => '\n',
        };
        let text = without_escapes(text);
        let mut line: String =
            text.chars().filter(|c| !c.is_control() || matches!(c, '\t' | '\n')).collect();
        line.push(end);
        line.into_bytes()
    }

    fn interrupt(&self) -> Interrupt {
        match self.mode {
            Mode::Terminal => Interrupt::Bytes(vec![3]),
            Mode::Headless => Interrupt::Signal(SIGINT),
        }
    }

    fn answer(&self, ask: &Ask, answer: &str) -> Result<Vec<u8>, String> {
        Ok(self.say(match answer {
            // More than that could be the answer to its next question.
            ALLOW if ask.text.contains("Press Enter") => "",
            ALLOW => "y",
            DENY => "n",
            other => other,
        }))
    }

    fn shows(&self, _lines: &[String]) -> Shown {
        Shown::Prompt
    }

    fn source(&self) -> Source {
        Source::Screen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_typed_line_without_hidden_keys() {
        let plain = Plain { mode: Mode::Terminal };
        assert_eq!(plain.say("ls\x1b[A\x03 -l"), b"ls -l\r".to_vec());
        assert_eq!(Plain { mode: Mode::Headless }.say("a\tb"), b"a\tb\n".to_vec());
    }

    #[test]
    fn a_command_needs_a_program() {
        assert!(AnyCommand.check(Mode::Terminal, &[]).is_err());
        assert!(AnyCommand.check(Mode::Terminal, &["sh".to_owned()]).is_ok());
    }
}
