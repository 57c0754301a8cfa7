//! Which key does what: a table, read once. Two meanings for one key in one place are refused.

use crate::chord::{Chord, Code};
use std::fmt;

/// Where a key means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The overview.
    List,
    /// Everything that is asked.
    Asks,
    /// A session's own terminal: it gets every other key.
    Inline,
    /// What has scrolled out of a terminal.
    Past,
}

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Down,
    Up,
    Top,
    Bottom,
    ScrollDown,
    ScrollUp,
    NextWaiting,
    Asks,
    Attach,
    Inline,
    Copy,
    NextFound,
    FormerFound,
    Send,
    New,
    Pause,
    TogglePause,
    Resume,
    Stop,
    Restart,
    Remove,
    Snapshot,
    Compact,
    Acknowledge,
    Merge,
    AutoYes,
    Timeout,
    ResumeWith,
    MergeInto,
    Restore,
    PauseFor,
    PauseAtBoundary,
    PauseRemoving,
    LoopMax,
    DenyBecause,
    Search,
    PauseAll,
    ResumeAll,
    Allow,
    AllowForSession,
    Deny,
    Mark,
    MarkRange,
    NextTab,
    FormerTab,
    Tab(u8),
    Filter,
    Palette,
    Undo,
    History,
    Help,
    Redraw,
    Close,
    Interrupt,
    Suspend,
    Quit,
}

impl Command {
    /// Whether it is about one session, or several that are marked.
    pub(crate) fn is_about_a_session(self) -> bool {
        match self {
            Self::Attach
            | Self::Inline
            | Self::Copy
            | Self::Send
            | Self::Pause
            | Self::TogglePause
            | Self::Resume
            | Self::Stop
            | Self::Restart
            | Self::Remove
            | Self::Snapshot
            | Self::Compact
            | Self::Acknowledge
            | Self::Merge
            | Self::AutoYes
            | Self::Timeout
            | Self::ResumeWith
            | Self::MergeInto
            | Self::Restore
            | Self::PauseFor
            | Self::PauseAtBoundary
            | Self::PauseRemoving
            | Self::LoopMax
            | Self::Tab(_) => true,
            Self::Down
            | Self::Up
            | Self::Top
            | Self::Bottom
            | Self::ScrollDown
            | Self::ScrollUp
            | Self::NextWaiting
            | Self::Asks
            | Self::NextFound
            | Self::FormerFound
            | Self::New
            | Self::DenyBecause
            | Self::Search
            | Self::PauseAll
            | Self::ResumeAll
            | Self::Allow
            | Self::AllowForSession
            | Self::Deny
            | Self::Mark
            | Self::MarkRange
            | Self::NextTab
            | Self::FormerTab
            | Self::Filter
            | Self::Palette
            | Self::Undo
            | Self::History
            | Self::Help
            | Self::Redraw
            | Self::Close
            | Self::Interrupt
            | Self::Suspend
            | Self::Quit => false,
        }
    }
}

/// One line of the table: the keys as they are written, parted by blanks if they are pressed one after
/// the other, and a word for the help.
struct Binding(Place, &'static str, Command, &'static str);

use Command as C;
use Place::{Asks, Inline, List, Past};

/// The keys as they are without a change by the user. The help is printed from it, in this order.
const TABLE: &[Binding] = &[
    Binding(List, "j", C::Down, "next session"),
    Binding(List, "down", C::Down, ""),
    Binding(List, "k", C::Up, "session before"),
    Binding(List, "up", C::Up, ""),
    Binding(List, "g", C::Top, "top of the list"),
    Binding(List, "home", C::Top, ""),
    Binding(List, "G", C::Bottom, "bottom of the list"),
    Binding(List, "end", C::Bottom, ""),
    Binding(List, "w", C::NextWaiting, "next that waits"),
    Binding(List, "a", C::Asks, "answer questions"),
    Binding(List, "enter", C::Attach, "attach; ctrl+q returns"),
    Binding(List, "i", C::Inline, "type into its terminal"),
    Binding(List, "s", C::Send, "send a message"),
    Binding(List, "n", C::New, "new session"),
    Binding(List, "p", C::Pause, "pause"),
    Binding(List, "ctrl+x p", C::TogglePause, "pause, cancel, resume"),
    Binding(List, "", C::PauseAtBoundary, "pause after its turn"),
    Binding(List, "", C::PauseFor, "pause for a while"),
    Binding(List, "", C::PauseRemoving, "pause, remove worktree"),
    Binding(List, "u", C::Resume, "resume"),
    Binding(List, "r", C::ResumeWith, "resume with words"),
    Binding(List, "S", C::Stop, "stop its process"),
    Binding(List, "R", C::Restart, "restart from scratch"),
    Binding(List, "D", C::Remove, "move to the trash"),
    Binding(List, "b", C::Snapshot, "save a snapshot"),
    Binding(List, "C", C::Compact, "sum up its conversation"),
    Binding(List, "K", C::Acknowledge, "acknowledge damage"),
    Binding(List, "o", C::Restore, "restore a snapshot"),
    Binding(List, "M", C::Merge, "merge its work"),
    Binding(List, "m", C::MergeInto, "merge into a branch"),
    Binding(List, "t", C::Timeout, "idle timeout"),
    Binding(List, "Y", C::AutoYes, "auto-yes on or off"),
    Binding(List, "P", C::PauseAll, "pause everything"),
    Binding(List, "U", C::ResumeAll, "resume everything"),
    Binding(List, "", C::LoopMax, "iterations at most"),
    Binding(List, "space", C::Mark, "mark several"),
    Binding(List, "v", C::MarkRange, "mark a range"),
    Binding(List, "tab", C::NextTab, "next view"),
    Binding(List, "shift+tab", C::FormerTab, "view before"),
    Binding(List, "1", C::Tab(0), "terminal"),
    Binding(List, "2", C::Tab(1), "conversation"),
    Binding(List, "3", C::Tab(2), "diff"),
    Binding(List, "4", C::Tab(3), "snapshots"),
    Binding(List, "5", C::Tab(4), "events"),
    Binding(List, "pgdn", C::ScrollDown, "scroll down"),
    Binding(List, "ctrl+d", C::ScrollDown, ""),
    Binding(List, "pgup", C::ScrollUp, "scroll up"),
    Binding(List, "ctrl+u", C::ScrollUp, ""),
    Binding(List, "c", C::Copy, "copy what is shown"),
    Binding(List, "/", C::Filter, "filter"),
    Binding(List, "f", C::Search, "find in conversations"),
    Binding(List, ":", C::Palette, "find a command"),
    Binding(List, "z", C::Undo, "undo"),
    Binding(List, "@", C::History, "done, as commands"),
    Binding(List, "?", C::Help, "all keys"),
    Binding(List, "ctrl+l", C::Redraw, "draw anew"),
    Binding(List, "esc", C::Close, "close what is open"),
    Binding(List, "ctrl+z", C::Suspend, "shell; fg returns"),
    Binding(List, "ctrl+c", C::Interrupt, "quit; agents run on"),
    Binding(List, "q", C::Quit, "quit; agents run on"),
    Binding(Asks, "y", C::Allow, "allow once"),
    Binding(Asks, "Y", C::AllowForSession, "allow for the session"),
    Binding(Asks, "n", C::Deny, "deny"),
    Binding(Asks, "r", C::DenyBecause, "deny, with a reason"),
    Binding(Asks, "pgdn", C::ScrollDown, "scroll down"),
    Binding(Asks, "ctrl+d", C::ScrollDown, ""),
    Binding(Asks, "pgup", C::ScrollUp, "scroll up"),
    Binding(Asks, "ctrl+u", C::ScrollUp, ""),
    Binding(Asks, "j", C::Down, "next question"),
    Binding(Asks, "down", C::Down, ""),
    Binding(Asks, "k", C::Up, "question before"),
    Binding(Asks, "up", C::Up, ""),
    Binding(Asks, "w", C::NextWaiting, "next question"),
    Binding(Asks, "enter", C::Attach, "attach"),
    Binding(Asks, "s", C::Send, "answer in words"),
    Binding(Asks, "a", C::Close, "back"),
    Binding(Asks, "esc", C::Close, ""),
    Binding(Asks, "q", C::Close, ""),
    Binding(Asks, "?", C::Help, "all keys"),
    Binding(Asks, "ctrl+z", C::Suspend, ""),
    Binding(Asks, "ctrl+c", C::Interrupt, "quit"),
    Binding(Inline, "ctrl+q", C::Close, "keys are yours again"),
    Binding(Past, "k", C::Up, "a row back"),
    Binding(Past, "up", C::Up, ""),
    Binding(Past, "j", C::Down, "a row on"),
    Binding(Past, "down", C::Down, ""),
    Binding(Past, "pgup", C::ScrollUp, "a page back"),
    Binding(Past, "ctrl+u", C::ScrollUp, ""),
    Binding(Past, "pgdn", C::ScrollDown, "a page on"),
    Binding(Past, "ctrl+d", C::ScrollDown, ""),
    Binding(Past, "g", C::Top, "to its beginning"),
    Binding(Past, "home", C::Top, ""),
    Binding(Past, "/", C::Filter, "search"),
    Binding(Past, "n", C::NextFound, "next match, older"),
    Binding(Past, "N", C::FormerFound, "match before, newer"),
    Binding(Past, "v", C::MarkRange, "select rows"),
    Binding(Past, "y", C::Copy, "copy them"),
    Binding(Past, "esc", C::Close, "back to live"),
    Binding(Past, "G", C::Close, ""),
    Binding(Past, "end", C::Close, ""),
    Binding(Past, "q", C::Close, ""),
    Binding(Past, "?", C::Help, "all keys"),
    Binding(Past, "ctrl+z", C::Suspend, ""),
    Binding(Past, "ctrl+c", C::Interrupt, "quit"),
];

/// A key that means two things, or is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BadKey {
    /// It is no key.
    Unknown(String),
    /// It has a meaning already, or begins another.
    Taken(String),
}

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(keys) => write!(f, "`{keys}` is no key"),
            Self::Taken(keys) => write!(f, "`{keys}` has two meanings"),
        }
    }
}

/// What keys that were pressed lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// This is to be done.
    Does(Command),
    /// It is the first of two.
    Begins,
    /// Nothing.
    Unbound,
}

/// One line of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HelpLine {
    pub(crate) keys: String,
    pub(crate) does: &'static str,
}

#[derive(Debug, Clone)]
struct Bound {
    place: Place,
    keys: Vec<Chord>,
    command: Command,
    does: &'static str,
}

/// The keys in force.
#[derive(Debug, Clone)]
pub(crate) struct KeyMap(Vec<Bound>);

impl KeyMap {
    /// The keys as they are without a change by the user.
    pub(crate) fn usual() -> Result<Self, BadKey> {
        Self::read(TABLE)
    }

    fn read(table: &[Binding]) -> Result<Self, BadKey> {
        let mut bound: Vec<Bound> = Vec::new();
        for Binding(place, written, command, does) in table {
            let written_keys = written.split(' ').filter(|key| !key.is_empty());
            let keys: Option<Vec<_>> = written_keys.map(Chord::parse).collect();
            let keys = keys.ok_or_else(|| BadKey::Unknown((*written).to_owned()))?;
            let clash = |known: &Bound| {
                let both = known.keys.iter().zip(&keys);
                // What has no key is found by its words alone.
                let bound = !known.keys.is_empty() && !keys.is_empty();
                bound && known.place == *place && both.clone().all(|(one, other)| one == other)
            };
            if bound.iter().any(clash) {
                return Err(BadKey::Taken((*written).to_owned()));
            }
            bound.push(Bound { place: *place, keys, command: *command, does });
        }
        Ok(Self(bound))
    }

    /// What these keys mean there.
    pub(crate) fn meaning(&self, place: Place, pressed: &[Chord]) -> Meaning {
        let mut here = self.0.iter().filter(|bound| bound.place == place);
        let found = here.find(|bound| bound.keys.starts_with(pressed));
        match found {
            Some(bound) if bound.keys.len() == pressed.len() => Meaning::Does(bound.command),
            Some(_) => Meaning::Begins,
            None => Meaning::Unbound,
        }
    }

    /// The first keys of a command, as they are written.
    pub(crate) fn keys_of(&self, place: Place, command: Command) -> Option<String> {
        let here = self.0.iter().find(|bound| bound.place == place && bound.command == command);
        here.map(|bound| written(&bound.keys)).filter(|keys| !keys.is_empty())
    }

    /// Every key of a place, those of one command in one line.
    pub(crate) fn help(&self, place: Place) -> Vec<HelpLine> {
        let mut lines: Vec<(Command, HelpLine)> = Vec::new();
        for bound in self.0.iter().filter(|bound| bound.place == place && !bound.keys.is_empty()) {
            let keys = written(&bound.keys);
            match lines.iter_mut().find(|(command, _)| *command == bound.command) {
                Some((_, line)) => line.keys = format!("{} {keys}", line.keys),
                None => lines.push((bound.command, HelpLine { keys, does: bound.does })),
            }
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// Every command of the overview that has a word, for the palette.
    pub(crate) fn commands(&self) -> Vec<(Command, &'static str, String)> {
        let here = self.0.iter().filter(|bound| bound.place == List && !bound.does.is_empty());
        here.map(|bound| (bound.command, bound.does, written(&bound.keys))).collect()
    }
}

fn written(keys: &[Chord]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Whether a key leaves a box whatever is typed there.
pub(crate) fn leaves_box(chord: Chord) -> bool {
    chord.code == Code::Esc || chord == Chord::ctrl('c')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_keys_are_keys_and_mean_one_thing() {
        let keys = KeyMap::usual().unwrap();
        let chord = |text| Chord::parse(text).unwrap();
        assert_eq!(keys.meaning(List, &[chord("p")]), Meaning::Does(C::Pause));
        assert_eq!(keys.meaning(List, &[chord("ctrl+x")]), Meaning::Begins);
        let toggle = [chord("ctrl+x"), chord("p")];
        assert_eq!(keys.meaning(List, &toggle), Meaning::Does(C::TogglePause));
        assert_eq!(keys.meaning(List, &[chord("ctrl+x"), chord("j")]), Meaning::Unbound);
        assert_eq!(keys.meaning(Asks, &[chord("n")]), Meaning::Does(C::Deny));
    }

    #[test]
    fn a_key_with_two_meanings_is_refused() {
        for second in ["j", "ctrl+x", "ctrl+x p"] {
            let table = [
                Binding(List, "j", C::Down, ""),
                Binding(List, "ctrl+x p", C::TogglePause, ""),
                Binding(List, second, C::Up, ""),
            ];
            let refused = KeyMap::read(&table).err();
            assert_eq!(refused, Some(BadKey::Taken(second.to_owned())), "{second}");
        }
        let table = [Binding(List, "j", C::Down, ""), Binding(Asks, "j", C::Up, "")];
        assert!(KeyMap::read(&table).is_ok(), "two places may use one key");
        let table = [Binding(List, "hyper+j", C::Down, "")];
        assert_eq!(KeyMap::read(&table).err(), Some(BadKey::Unknown("hyper+j".to_owned())));
    }

    #[test]
    fn every_command_has_a_word_in_the_help() {
        let keys = KeyMap::usual().unwrap();
        for place in [List, Asks, Inline, Past] {
            for HelpLine { keys, does } in keys.help(place) {
                assert!(!does.is_empty() || ["esc", "ctrl+z"].contains(&keys.as_str()), "{keys}");
                // With the keys it has to fit into half of a usual terminal.
                assert!(keys.len() <= 12 && does.len() <= 24, "{keys}: {does}");
            }
        }
        assert_eq!(keys.help(List).first().map(|line| line.keys.as_str()), Some("j down"));
    }
}
