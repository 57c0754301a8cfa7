//! What goes back and forth between a person and an agent: messages, questions, turns.

use crate::ids::{AskId, MessageId};
use crate::timer::WallMs;
use crate::tree::PathList;
use crate::verdict::{Answerer, Want};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub text: String,
    #[serde(rename = "leg")]
    pub delivery: Delivery,
    /// It carries the note that the last turn was cut off.
    #[serde(default)]
    pub noted: bool,
    /// It carries the note that these were changed behind the agent's back.
    pub changed: Option<PathList>,
    /// In doubt since a conversation that the agent has left: what it goes on with tells nothing of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_former: bool,
    /// How often the holder has refused it since it was last sent for.
    #[serde(default)]
    pub refused: u32,
    /// Why it was refused the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// Refused so often, which takes some four seconds, a message waits for something that a person should see.
const REFUSED_MAX: u32 = 5;

impl Message {
    /// Whether the conversation that the agent is in can tell if it was taken.
    pub(crate) fn is_doubted_here(&self) -> bool {
        self.delivery == Delivery::Doubtful && !self.of_former
    }

    /// Whether it is refused again and again. It is still tried.
    pub(crate) fn is_stuck(&self) -> bool {
        self.refused >= REFUSED_MAX && self.delivery != Delivery::Doubtful
    }

    /// The question whether it is to be sent again, with what kept it from being delivered, if that is known.
    pub(crate) fn doubt(&self) -> Ask {
        let not_delivered = self.refusal.clone().filter(|_| self.is_stuck());
        let id = AskId(format!("doubt-{}", self.id.0));
        Ask { not_delivered, ..Ask::new(id, AskKind::Doubt, self.text.clone()) }
    }
}

/// How far a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    Queued,
    /// Perhaps handed over, not yet seen to be taken.
    Sent,
    /// The process ended or we died in between: only a person can tell.
    Doubtful,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    pub id: AskId,
    /// Approval, question, or our own doubt.
    pub kind: AskKind,
    pub text: String,
    /// An answer may be on its way.
    #[serde(default)]
    pub answering: bool,
    /// What can be answered, where that is not any text. If there are none, only the user can
    /// choose, at the agent's terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<String>>,
    /// What it wants to do, where a rule can judge that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wants: Option<Want>,
    /// What the agent said with the question, as JSON in its own form: the text of an edit, the options of a
    /// choice. For people; rules and answers go by the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// When it was put on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<WallMs>,
    /// A sum over everything that the agent said with the question. An answer counts for this and
    /// for nothing that came under the same name later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Who is to answer it.
    #[serde(default, skip_serializing_if = "Answerer::is_person")]
    pub answerer: Answerer,
    /// A no can tell the agent why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_reason: bool,
    /// Of a doubt: why the message is not delivered. Without it, nobody knows whether it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_delivered: Option<String>,
}

impl Ask {
    /// Something that any text may answer.
    pub fn new(id: AskId, kind: AskKind, text: impl Into<String>) -> Self {
        Self {
            id,
            kind,
            text: text.into(),
            answering: false,
            choices: None,
            wants: None,
            input: None,
            since: None,
            digest: None,
            answerer: Answerer::Person,
            takes_reason: false,
            not_delivered: None,
        }
    }

    #[must_use]
    pub fn wanting(self, wants: Option<Want>) -> Self {
        Self { wants, ..self }
    }

    /// The same, with what the agent said with it, as JSON.
    #[must_use]
    pub fn told(self, input: Option<String>) -> Self {
        Self { input, ..self }
    }

    /// The same, with a sum over everything that the agent said with it.
    #[must_use]
    pub fn summed(self, digest: String) -> Self {
        Self { digest: Some(digest), ..self }
    }

    /// The same, if a no can tell the agent why.
    #[must_use]
    pub fn with_reasons(self) -> Self {
        Self { takes_reason: true, ..self }
    }

    /// Whether this is the very same question, whatever has become of it meanwhile.
    pub fn is_same(&self, other: &Self) -> bool {
        let Self {
            id,
            kind,
            text,
            choices,
            wants,
            input,
            digest,
            takes_reason,
            since: _,
            answering: _,
            answerer: _,
            not_delivered: _,
        } = self;
        *id == other.id
            && *kind == other.kind
            && *text == other.text
            && *choices == other.choices
            && *wants == other.wants
            && *input == other.input
            && *digest == other.digest
            && *takes_reason == other.takes_reason
    }

    /// Whether this asks for the very same, in another request. Where a command would run is part of it, and
    /// of a line on a screen nobody knows what it stands for.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.can_be_repeated()
            && (self.kind, &self.text, &self.input) == (other.kind, &other.text, &other.input)
            && (&self.wants, &self.choices) == (&other.wants, &other.choices)
    }

    fn can_be_repeated(&self) -> bool {
        let nowhere = matches!(self.wants, Some(Want::Command { folder: None, .. }));
        self.kind == AskKind::Approval && !self.is_from_screen() && !nowhere
    }

    /// The same, without an answer for the session where nothing can be told to be the same again.
    #[must_use]
    pub(crate) fn offered(mut self) -> Self {
        if self.kind == AskKind::Approval && !self.can_be_repeated() {
            let choices = self.choices.get_or_insert_with(|| vec![ALLOW.into(), DENY.into()]);
            choices.retain(|choice| choice != ALLOW_FOR_SESSION);
        }
        self
    }

    /// The words that answer it, where not any text does. An agent that wants a yes or a no takes any other words
    /// for a no; on the screen of a program they may be what it wants.
    pub fn decided_by(&self) -> Option<Vec<String>> {
        let decides = self.kind == AskKind::Approval && !self.is_from_screen();
        let usual = || [ALLOW, ALLOW_FOR_SESSION, DENY].map(str::to_owned).to_vec();
        self.choices.clone().or_else(|| decides.then(usual))
    }

    /// What a person means who answers this so: a plain yes or no counts as one where nothing else does.
    pub fn meant(&self, answer: String) -> String {
        let decides = self.kind == AskKind::Doubt || self.decided_by().is_some();
        let yes = matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes");
        let no = matches!(answer.to_ascii_lowercase().as_str(), "n" | "no");
        match decides && self.choices.is_none() {
            true if yes => ALLOW.to_owned(),
            true if no => DENY.to_owned(),
            _ => answer,
        }
    }

    pub fn takes(&self, answer: &str) -> bool {
        self.choices.as_ref().is_none_or(|choices| choices.iter().any(|one| one == answer))
    }

    /// The same, if only one of these answers it.
    #[must_use]
    pub fn among<C: Into<String>>(self, choices: impl IntoIterator<Item = C>) -> Self {
        Self { choices: Some(choices.into_iter().map(Into::into).collect()), ..self }
    }

    /// Whether rules are about this kind of question at all: only leave to do something, and what can
    /// be answered from here. Of a line on a screen it is looked up whether it is a question before
    /// any rule counts.
    pub fn is_for_rules(&self) -> bool {
        self.kind == AskKind::Approval && !self.only_at_terminal()
    }

    /// Whether it is a line on the screen of a program that says nothing about itself.
    pub fn is_from_screen(&self) -> bool {
        is_from_screen(&self.id)
    }

    /// Whether it is our own question at the end of a budget.
    pub(crate) fn is_about_budget(&self) -> bool {
        self.id.0.starts_with(BUDGET)
    }

    /// Whether it can only be answered at the agent's terminal.
    pub fn only_at_terminal(&self) -> bool {
        self.choices.as_ref().is_some_and(Vec::is_empty)
    }
}

/// How our own question at the end of a budget begins its id.
pub(crate) const BUDGET: &str = "budget-";

/// Whether a question of this name is a line on the screen of a program that says nothing about itself.
pub(crate) fn is_from_screen(id: &AskId) -> bool {
    id.0.starts_with("screen-")
}

/// The answer to an approval that lets an agent do what it asks for.
pub const ALLOW: &str = "allow";
/// The same, and for the very same request in this session.
pub const ALLOW_FOR_SESSION: &str = "allow_for_session";
/// The answer that forbids it, and that leaves a question without one.
pub const DENY: &str = "deny";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    Approval,
    Question,
    /// Ours: whether to deliver a message again whose fate is unknown.
    Doubt,
}

/// A tool that an agent uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The agent's name for this use of it.
    pub id: String,
    /// What it does, for a person.
    pub what: String,
}

/// How far an agent is in its turn, by its own signs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// A message was taken, and the turn it leads to has not begun yet.
    #[serde(default)]
    pub due: bool,
    pub open: bool,
    /// Tools that were started and have not ended.
    pub tools: Vec<Tool>,
    /// Work that goes on between turns.
    pub background: u32,
}

impl Turn {
    /// Whether the agent works or is about to.
    pub fn under_way(&self) -> bool {
        self.due || self.open || !self.tools.is_empty() || self.background > 0
    }
}
