//! The box for a new session, or a loop.

use crate::editor::Editor;
use glis_core::looping::{FAILURES_MAX, LoopContext, LoopSpec};
use glis_core::name::made_from;
use glis_wire::client::NewSession;

/// The agents that can be chosen; the first leaves it to the configuration.
pub(crate) const AGENTS: [Option<&str>; 6] =
    [None, Some("claude"), Some("codex"), Some("gemini"), Some("opencode"), Some("rehearsal")];

/// A field of the box.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Field {
    #[default]
    Prompt,
    Name,
    Agent,
    Model,
    Base,
    AutoYes,
    Repeat,
    Max,
    Until,
}

impl Field {
    /// What is written before it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Name => "name",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Base => "base",
            Self::AutoYes => "auto-yes",
            Self::Repeat => "repeat",
            Self::Max => "at most",
            Self::Until => "until",
        }
    }

    /// What it is if nothing is typed.
    pub(crate) fn usual(self) -> &'static str {
        match self {
            Self::Name => "made from the prompt",
            Self::Model => "the agent's own choice",
            Self::Base => "the current commit",
            Self::Max => "as many iterations as it takes",
            Self::Until => "a command that succeeds, such as `cargo test`",
            Self::Prompt | Self::Agent | Self::AutoYes | Self::Repeat => "",
        }
    }
}

/// Whether it is told its prompt once, or again and again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Repeat {
    #[default]
    Once,
    Loop,
}

/// The box for a new session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct NewBox {
    pub(crate) repo: String,
    pub(crate) prompt: Editor,
    pub(crate) name: Editor,
    /// An index into [`AGENTS`].
    pub(crate) agent: usize,
    pub(crate) model: Editor,
    pub(crate) base: Editor,
    pub(crate) auto_yes: bool,
    pub(crate) repeat: Repeat,
    pub(crate) max: Editor,
    pub(crate) until: Editor,
    pub(crate) field: Field,
    /// Why what was typed is not taken.
    pub(crate) fault: Option<String>,
}

impl NewBox {
    /// Its fields from the top. The limits of a loop are asked of a loop alone.
    pub(crate) fn fields(&self) -> Vec<Field> {
        let mut fields = vec![
            Field::Prompt,
            Field::Name,
            Field::Agent,
            Field::Model,
            Field::Base,
            Field::AutoYes,
            Field::Repeat,
        ];
        if self.repeat == Repeat::Loop {
            fields.extend([Field::Max, Field::Until]);
        }
        fields
    }

    /// The text of a field, if it has one.
    pub(crate) fn text(&self, field: Field) -> Option<&Editor> {
        match field {
            Field::Prompt => Some(&self.prompt),
            Field::Name => Some(&self.name),
            Field::Model => Some(&self.model),
            Field::Base => Some(&self.base),
            Field::Max => Some(&self.max),
            Field::Until => Some(&self.until),
            Field::Agent | Field::AutoYes | Field::Repeat => None,
        }
    }

    /// The text of the field in hand, if it has one.
    pub(crate) fn text_in_hand(&mut self) -> Option<&mut Editor> {
        match self.field {
            Field::Prompt => Some(&mut self.prompt),
            Field::Name => Some(&mut self.name),
            Field::Model => Some(&mut self.model),
            Field::Base => Some(&mut self.base),
            Field::Max => Some(&mut self.max),
            Field::Until => Some(&mut self.until),
            Field::Agent | Field::AutoYes | Field::Repeat => None,
        }
    }

    /// What is chosen in a field that has no text.
    pub(crate) fn choice(&self, field: Field) -> &'static str {
        match (field, self.repeat) {
            (Field::Agent, _) => {
                AGENTS.get(self.agent).copied().flatten().unwrap_or("as configured")
            }
            (Field::AutoYes, _) if self.auto_yes => "on: rules answer what they allow",
            (Field::AutoYes, _) => "off: you are asked",
            (Field::Repeat, Repeat::Once) => "no: one conversation",
            (Field::Repeat, Repeat::Loop) => "loop: the prompt again and again",
            (
                Field::Prompt
                | Field::Name
                | Field::Model
                | Field::Base
                | Field::Max
                | Field::Until,
                _,
            ) => "",
        }
    }

    /// The choice in hand becomes the next one, or the one before.
    pub(crate) fn turn(&mut self, by: usize) {
        match self.field {
            Field::Agent => self.agent = (self.agent + by) % AGENTS.len(),
            Field::AutoYes => self.auto_yes = !self.auto_yes,
            Field::Repeat => {
                self.repeat = match self.repeat {
                    Repeat::Once => Repeat::Loop,
                    Repeat::Loop => Repeat::Once,
                };
            }
            Field::Prompt
            | Field::Name
            | Field::Model
            | Field::Base
            | Field::Max
            | Field::Until => {}
        }
    }

    /// Goes on by so many fields, round and round.
    pub(crate) fn step(&mut self, by: isize) {
        let fields = self.fields();
        let at = fields.iter().position(|field| *field == self.field).unwrap_or(0);
        let count = isize::try_from(fields.len()).unwrap_or(1);
        let to = (isize::try_from(at).unwrap_or(0) + by).rem_euclid(count);
        self.field = fields.get(to.unsigned_abs()).copied().unwrap_or_default();
    }

    /// The name that it gets if none is typed, as far as that is known here.
    pub(crate) fn proposed(&self) -> Option<String> {
        made_from(self.prompt.text())
    }

    /// What is asked for, or the field in which something is wrong, and what.
    pub(crate) fn wanted(&self) -> Result<NewSession, (Field, String)> {
        let typed =
            |editor: &Editor| Some(editor.text().trim().to_owned()).filter(|t| !t.is_empty());
        let prompt = typed(&self.prompt);
        let looped = match self.repeat {
            Repeat::Once => None,
            Repeat::Loop if prompt.is_none() => {
                return Err((Field::Prompt, "a loop needs a prompt".to_owned()));
            }
            Repeat::Loop => Some(LoopSpec {
                max: typed(&self.max).map(|text| most(&text)).transpose()?,
                until: typed(&self.until),
                context: LoopContext::Fresh,
                auto_commit: false,
                max_cost_micros: None,
                max_failures: FAILURES_MAX,
                file: None,
            }),
        };
        Ok(NewSession {
            name: typed(&self.name),
            agent: AGENTS.get(self.agent).copied().flatten().map(ToOwned::to_owned),
            prompt,
            repo: self.repo.clone(),
            base: typed(&self.base),
            model: typed(&self.model),
            auto_yes: self.auto_yes,
            looped,
            ..NewSession::default()
        })
    }
}

fn most(text: &str) -> Result<u32, (Field, String)> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| (Field::Max, format!("`{text}` is no number of iterations")))
}
