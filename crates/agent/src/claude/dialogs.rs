//! The dialogs in which Claude Code asks for something at its terminal. Several may wait in a row; the
//! screen shows one of them, and a key answers that one, whichever was meant.

use super::tools::{PLAN_TOOL, tool_words};
use crate::hearing::text;
use glis_core::AskId;
use glis_core::talk::{ALLOW, ALLOW_FOR_SESSION, AskKind, DENY};
use serde_json::Value;

/// At the foot of the screen when it asks for permission.
const ASKING_FOOT: &str = "Esc to cancel";
const FIRST_CHOICE: &str = "1. Yes";
/// What a dialog about a plan has instead.
const PLAN_HEAD: &str = "Would you like to proceed?";
const PLAN_CHOICE: &str = "2. Yes, manually approve edits";
const NO_PLAN_HEAD: &str = "Exit plan mode?";
/// A dialog is no higher than this: a question may have nine choices of two lines.
const DIALOG_LINES: usize = 24;
/// A dialog begins below a line from edge to edge. What an agent has it show is indented.
const EDGE: &str = "────";
/// Numbers of one key.
const CHOICES_MAX: usize = 9;
/// A text as long as this is in a dialog because the dialog is about it, and not by chance.
const TELLING_CHARS: usize = 16;
/// Tools that may be about to run at once. More are not remembered.
const BEGUN_MAX: usize = 64;

/// What a dialog on the screen offers.
pub(super) enum Offer {
    /// To do it or not.
    Once,
    /// To carry out a plan.
    Plan,
    /// To leave the mode in which it plans, without one.
    NoPlan,
    Choice(Vec<String>),
    /// More than one key can choose.
    Form,
}

impl Offer {
    fn of(tool: &str, kind: AskKind, input: &Value) -> Self {
        match kind {
            AskKind::Question => choice(input),
            AskKind::Approval | AskKind::Doubt if tool == PLAN_TOOL => match text(input, "/plan") {
                "" => Self::NoPlan,
                _ => Self::Plan,
            },
            AskKind::Approval | AskKind::Doubt => Self::Once,
        }
    }

    /// What is understood as an answer. To leave the dialog is always possible.
    fn choices(&self) -> Vec<String> {
        let mut choices = match self {
            Self::Once => vec![ALLOW.to_owned(), ALLOW_FOR_SESSION.to_owned()],
            Self::Plan | Self::NoPlan => vec![ALLOW.to_owned()],
            Self::Choice(labels) => labels.clone(),
            Self::Form => Vec::new(),
        };
        choices.push(DENY.to_owned());
        choices
    }

    /// Whether a dialog of this kind stands at the foot of the screen.
    fn stands(&self, lines: &[String]) -> bool {
        let (head, choice) = match self {
            Self::Choice(labels) => {
                (ASKING_FOOT, format!("1. {}", labels.first().map_or("", String::as_str)))
            }
            Self::Once => (ASKING_FOOT, FIRST_CHOICE.to_owned()),
            Self::Form => (ASKING_FOOT, "1. ".to_owned()),
            Self::Plan => (PLAN_HEAD, PLAN_CHOICE.to_owned()),
            Self::NoPlan => (NO_PLAN_HEAD, FIRST_CHOICE.to_owned()),
        };
        let marks = if head == ASKING_FOOT { 2 } else { DIALOG_LINES };
        let marked = foot(lines).take(marks).any(|line| line.contains(head));
        marked && foot(lines).any(|line| line.contains(&choice))
    }
}

/// The last lines of a screen, upwards.
pub(super) fn foot(lines: &[String]) -> impl Iterator<Item = &String> {
    lines.iter().rev().filter(|line| !line.trim().is_empty()).take(DIALOG_LINES)
}

struct Dialog {
    id: AskId,
    /// The use of a tool that waits for it.
    tool_use: String,
    /// What it is about, in full.
    content: String,
    file: Option<String>,
    offer: Offer,
    /// The helper that asks; empty if it is the agent itself.
    helper: String,
}

/// A tool that is about to run. What it asks for does not say for which use of it.
struct Begun {
    tool_use: String,
    tool: String,
    input: Value,
    helper: String,
}

#[derive(Default)]
pub(super) struct Dialogs {
    open: Vec<Dialog>,
    begun: Vec<Begun>,
    /// More than one stood in a row in this turn.
    crowded: bool,
}

impl Dialogs {
    pub(super) fn begin_turn(&mut self) {
        self.crowded = self.open.len() > 1;
    }

    /// A tool is about to run.
    pub(super) fn tool_began(&mut self, hook: &Value) {
        let own = |key: &str| text(hook, key).to_owned();
        let (tool_use, tool, helper) = (own("/tool_use_id"), own("/tool_name"), own("/agent_id"));
        self.begun.push(Begun { tool_use, tool, input: hook["tool_input"].clone(), helper });
        let surplus = self.begun.len().saturating_sub(BEGUN_MAX);
        self.begun.drain(..surplus);
    }

    /// A tool has run, or will not: what it asked for is gone.
    pub(super) fn tool_ended(&mut self, tool_use: &str) -> Option<AskId> {
        self.begun.retain(|begun| begun.tool_use != tool_use);
        let at = self.open.iter().position(|dialog| dialog.tool_use == tool_use)?;
        Some(self.open.remove(at).id)
    }

    /// It asks something more. Returns what can be answered.
    pub(super) fn ask(&mut self, id: AskId, kind: AskKind, hook: &Value) -> Vec<String> {
        let (tool, input) = (text(hook, "/tool_name"), &hook["tool_input"]);
        self.crowded |= !self.open.is_empty();
        let waits = |begun: &&Begun| self.open.iter().any(|one| one.tool_use == begun.tool_use);
        let same = |begun: &&Begun| begun.tool == tool && begun.input == *input && !waits(begun);
        let begun = self.begun.iter().find(same).or(self.begun.last());
        let tool_use = begun.map(|begun| begun.tool_use.clone()).unwrap_or_default();
        let paths = ["/file_path", "/notebook_path"].iter().map(|key| text(input, key));
        let name = paths.filter_map(|path| path.rsplit('/').next()).find(|name| !name.is_empty());
        let (content, file) = (tool_words(tool, input), name.map(str::to_owned));
        let offer = Offer::of(tool, kind, input);
        let choices = offer.choices();
        let helper = text(hook, "/agent_id").to_owned();
        self.open.push(Dialog { id, tool_use, content, file, offer, helper });
        choices
    }

    /// Nothing is asked any more but by helpers that go on.
    pub(super) fn clear(&mut self, goes_on: impl Fn(&str) -> bool) -> impl Iterator<Item = AskId> {
        self.begun.retain(|begun| goes_on(&begun.helper));
        self.open.extract_if(.., move |dialog| !goes_on(&dialog.helper)).map(|dialog| dialog.id)
    }

    /// More than one stood in a row in this turn: a rule does not say which the screen shows.
    pub(super) fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// What can be chosen in this one.
    pub(super) fn offer(&self, id: &AskId) -> Option<&Offer> {
        self.open.iter().find(|dialog| dialog.id == *id).map(|dialog| &dialog.offer)
    }

    /// Whether any of them stands at the foot of the screen.
    pub(super) fn stand(&self, lines: &[String]) -> bool {
        self.open.iter().any(|dialog| dialog.offer.stands(lines))
    }

    /// The one that the screen shows. Of several it is known by what it is about; where that does not
    /// tell one from another, none is.
    pub(super) fn shown(&self, lines: &[String]) -> Option<&AskId> {
        let standing = || self.open.iter().filter(|dialog| dialog.offer.stands(lines));
        if let [only] = self.open.as_slice() {
            return standing().next().map(|_| &only.id);
        }
        let top = lines.iter().rposition(|line| line.starts_with(EDGE))?;
        let about = lines.get(top..)?;
        let named: Vec<&Dialog> = standing().filter(|dialog| dialog.is_about(about)).collect();
        let (first, others) = named.split_first()?;
        // Of two that ask the same, either is meant.
        others.iter().all(|other| other.content == first.content).then_some(&first.id)
    }
}

impl Dialog {
    fn is_about(&self, shown: &[String]) -> bool {
        let content = bare(&self.content);
        let is_long = content.chars().count() >= TELLING_CHARS;
        let whole = || bare(&shown.concat()).contains(&content);
        let has_line = || shown.iter().any(|line| line.trim() == self.content);
        let has_file = |file: &String| shown.iter().any(|line| has_word(line, file));
        // A dialog about a file may tell its name from the worktree on.
        has_line() || (is_long && whole()) || self.file.as_ref().is_some_and(has_file)
    }
}

/// Whether a line holds this name of a file, and not as a part of another.
fn has_word(line: &str, name: &str) -> bool {
    let of_name = |c: char| c.is_alphanumeric() || "._-".contains(c);
    line.match_indices(name).any(|(at, _)| {
        let (before, behind) = (line.get(..at), line.get(at + name.len()..));
        let ends = before.and_then(|before| before.chars().next_back()).is_some_and(of_name);
        // A question mark or a full stop may follow, and then nothing of a name.
        let mut rest = behind.unwrap_or_default().chars();
        let goes_on = rest.next().is_some_and(of_name) && rest.next().is_some_and(of_name);
        !ends && !goes_on
    })
}

/// Without blanks, which the edge of a screen adds and takes away.
fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// A key is enough to choose one thing among a few.
fn choice(input: &Value) -> Offer {
    let questions = input["questions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let [question] = questions else { return Offer::Form };
    let options = question["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    if question["multiSelect"] == true || options.is_empty() || options.len() > CHOICES_MAX {
        return Offer::Form;
    }
    Offer::Choice(options.iter().map(|option| text(option, "/label").to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn screen(above: &str, about: &str) -> Vec<String> {
        let edge = "─".repeat(40);
        let lines =
            [above, &edge, " Read file   1 of 3", about, " ❯ 1. Yes", "   2. No", " Esc to cancel"];
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    fn reads(dialogs: &mut Dialogs, tool_use: &str, path: &str) {
        begins(dialogs, tool_use, "Read", &json!({ "file_path": path }));
    }

    /// A tool begins, and asks under the name of its use.
    fn begins(dialogs: &mut Dialogs, tool_use: &str, tool: &str, input: &Value) {
        let hook = hook(tool_use, tool, input);
        dialogs.tool_began(&hook);
        dialogs.ask(AskId(tool_use.to_owned()), AskKind::Approval, &hook);
    }

    fn hook(tool_use: &str, tool: &str, input: &Value) -> Value {
        json!({"tool_use_id": tool_use, "tool_name": tool, "tool_input": input})
    }

    fn shown(dialogs: &Dialogs, about: &str) -> Option<String> {
        let above = "  Reading /x/four.txt";
        dialogs.shown(&screen(above, about)).map(|id| id.0.clone())
    }

    #[test]
    fn of_several_the_one_that_the_screen_is_about_is_shown() {
        let mut dialogs = Dialogs::default();
        reads(&mut dialogs, "a", "/x/two.txt");
        assert_eq!(shown(&dialogs, " Read(anything)").as_deref(), Some("a"), "it is alone");
        reads(&mut dialogs, "b", "/x/four.txt");
        reads(&mut dialogs, "c", "/y/four.txt");
        assert!(dialogs.is_crowded());
        assert_eq!(shown(&dialogs, " Read(/x/two.txt)").as_deref(), Some("a"));
        assert_eq!(shown(&dialogs, " Do you want to read two.txt?").as_deref(), Some("a"));
        assert_eq!(shown(&dialogs, " Read(/x/four.txt)"), None, "it may be either");
        assert_eq!(shown(&dialogs, " Read(/x/two.txt.old)"), None);
        assert_eq!(shown(&dialogs, " Read(/x/anything)"), None);
        assert_eq!(dialogs.tool_ended("b"), Some(AskId("b".to_owned())));
        assert_eq!(shown(&dialogs, " Read(/y/four.txt)").as_deref(), Some("c"));
        assert_eq!(dialogs.tool_ended("b"), None);
        assert_eq!(dialogs.clear(|_| false).count(), 2);
        dialogs.begin_turn();
        assert!(!dialogs.is_crowded());
    }

    #[test]
    fn a_short_command_is_no_part_of_another() {
        let mut dialogs = Dialogs::default();
        for (tool_use, command) in [("a", "ls"), ("b", "cat /etc/ls.conf and more")] {
            begins(&mut dialogs, tool_use, "Bash", &json!({ "command": command }));
        }
        assert_eq!(shown(&dialogs, "   ls").as_deref(), Some("a"));
        assert_eq!(shown(&dialogs, "   cat /etc/ls.conf and more").as_deref(), Some("b"));
        assert_eq!(shown(&dialogs, "   cat /etc/ls.conf and").as_deref(), None);
    }

    #[test]
    fn of_two_that_ask_the_same_the_first_is_shown_and_each_ends_with_its_own_tool() {
        let mut dialogs = Dialogs::default();
        let asks = |tool_use| hook(tool_use, "Bash", &json!({"command": "touch x"}));
        for tool_use in ["a", "b"] {
            dialogs.tool_began(&asks(tool_use));
        }
        for id in ["1", "2"] {
            dialogs.ask(AskId(id.to_owned()), AskKind::Approval, &asks(""));
        }
        assert_eq!(shown(&dialogs, "   touch x").as_deref(), Some("1"));
        assert_eq!(dialogs.tool_ended("b"), Some(AskId("2".to_owned())));
        assert_eq!(dialogs.tool_ended("a"), Some(AskId("1".to_owned())));
    }

    #[test]
    fn what_a_helper_asks_outlives_the_turn_of_who_sent_it() {
        let mut dialogs = Dialogs::default();
        begins(&mut dialogs, "own", "Bash", &json!({"command": "touch own"}));
        let mut hook = hook("beside", "Bash", &json!({"command": "touch beside"}));
        hook["agent_id"] = json!("helper");
        dialogs.tool_began(&hook);
        dialogs.ask(AskId("beside".to_owned()), AskKind::Approval, &hook);
        let gone: Vec<AskId> = dialogs.clear(|helper| helper == "helper").collect();
        assert_eq!(gone, [AskId("own".to_owned())]);
        assert_eq!(dialogs.tool_ended("beside"), Some(AskId("beside".to_owned())));
    }
}
