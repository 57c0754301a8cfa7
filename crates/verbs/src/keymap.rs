//! Which key does what: a table, read once. Two meanings for one key in one place are refused.

mod table;

use crate::chord::{Chord, Code};
use crate::command::Command;
use std::collections::BTreeMap;
use table::{Binding, GROUPS, TABLE};

/// Where a key means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    List,
    Asks,
    /// A session's own terminal: it gets every other key.
    Inline,
    /// What has scrolled out of a terminal.
    Past,
    /// A page of a session: its conversation, its diff.
    View,
}

impl Place {
    #[cfg(test)]
    const ALL: [Self; 5] = [Self::List, Self::Asks, Self::Inline, Self::Past, Self::View];

    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Asks => "asks",
            Self::Inline => "inline",
            Self::Past => "past",
            Self::View => "view",
        }
    }
}

/// Keys that the user has chosen: by place, by command, as they are written.
pub type Keys = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// What is wrong with a key that the user has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFault {
    /// The key of the configuration: `keys.list.pause`.
    pub key: String,
    /// What is wrong with its value.
    pub why: String,
}

/// What keys that were pressed lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// This is to be done.
    Does(Command),
    /// It is the first of two.
    Begins,
    /// Nothing.
    Unbound,
}

/// One line of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpLine {
    pub keys: String,
    pub does: &'static str,
    /// What it belongs to; nothing where a place has no groups.
    pub group: &'static str,
}

#[derive(Debug, Clone)]
struct Bound {
    place: Place,
    /// Each of these means it. What has none is found by its words alone.
    ways: Vec<Vec<Chord>>,
    command: Command,
    does: &'static str,
    /// The user has chosen it.
    is_own: bool,
}

impl Bound {
    /// Why keys cannot mean this as well, if they mean something else: the fault is told of what the user has chosen.
    fn clash(&self, keys: &[Chord], known: &Self) -> Option<KeyFault> {
        let alike = |way: &&Vec<Chord>| way.iter().zip(keys).all(|(one, other)| one == other);
        let way = known.ways.iter().find(alike).filter(|_| self.place == known.place)?;
        let (keys, way) = (written(keys), written(way));
        let ((own, keys), (other, others)) =
            if self.is_own { ((self, keys), (known, way)) } else { ((known, way), (self, keys)) };
        let name = other.command.name();
        let why = if keys == others {
            format!("`{keys}` is the key of `{name}` already; give that another one")
        } else {
            format!("`{keys}` and `{others}` of `{name}` begin alike; give that another one")
        };
        Some(fault(own.place, own.command, why))
    }

    fn written(&self) -> Vec<String> {
        self.ways.iter().map(|keys| written(keys)).collect()
    }
}

#[derive(Debug, Clone, Default)]
pub struct KeyMap(Vec<Bound>);

impl KeyMap {
    /// The usual keys, where the user has not chosen others. One that has two meanings in one place, or
    /// begins another, is refused.
    pub fn with(chosen: &Keys) -> Result<Self, Vec<KeyFault>> {
        let mut faults = unknown_names(chosen);
        let mut bound: Vec<Bound> = Vec::new();
        for Binding(place, usual, command, does) in TABLE {
            let own = chosen.get(place.name()).and_then(|keys| keys.get(command.name()));
            let (place, command, is_own) = (*place, *command, own.is_some());
            let mut next = Bound { place, ways: Vec::new(), command, does, is_own };
            let own = own.map(|own| own.iter().map(String::as_str).collect());
            let all: Vec<&str> = own.unwrap_or_else(|| usual.to_vec());
            for written in &all {
                match parse(written) {
                    Ok(keys) if keys.is_empty() => {}
                    Ok(keys) => {
                        let clash = |known| next.clash(&keys, known);
                        faults.extend(bound.iter().chain([&next]).find_map(clash));
                        next.ways.push(keys);
                    }
                    Err(why) => faults.push(fault(place, command, why)),
                }
            }
            // Where no key can be read it is told why, and nothing more.
            if all.is_empty() || all.iter().any(|written| parse(written).is_ok()) {
                bound.push(next);
            }
        }
        faults.extend(no_way_out(&bound));
        if faults.is_empty() { Ok(Self(bound)) } else { Err(faults) }
    }

    /// What these keys mean there.
    pub fn meaning(&self, place: Place, pressed: &[Chord]) -> Meaning {
        let here = self.0.iter().filter(|bound| bound.place == place);
        let mut ways = here.flat_map(|bound| bound.ways.iter().map(|keys| (keys, bound.command)));
        match ways.find(|(keys, _)| keys.starts_with(pressed)) {
            Some((keys, command)) if keys.len() == pressed.len() => Meaning::Does(command),
            Some(_) => Meaning::Begins,
            None => Meaning::Unbound,
        }
    }

    /// The first keys of a command, as they are written.
    pub fn keys_of(&self, place: Place, command: Command) -> Option<String> {
        let here = self.0.iter().find(|bound| bound.place == place && bound.command == command);
        here.and_then(|bound| bound.ways.first()).map(|keys| written(keys))
    }

    /// Every key of a place, those of one command in one line.
    pub fn help(&self, place: Place) -> Vec<HelpLine> {
        let here = self.0.iter().filter(|bound| bound.place == place);
        let mut group = "";
        let lines = here.filter_map(|bound| {
            let begins = GROUPS.iter().find(|(first, _)| *first == bound.command);
            group = begins.filter(|_| place == Place::List).map_or(group, |(_, name)| name);
            let (keys, does) = (bound.written().join(" "), bound.does);
            (!keys.is_empty()).then_some(HelpLine { keys, does, group })
        });
        lines.collect()
    }

    /// Every command of the overview that has a word, for the palette.
    pub fn commands(&self) -> Vec<(Command, &'static str, String)> {
        let here =
            self.0.iter().filter(|bound| bound.place == Place::List && !bound.does.is_empty());
        here.flat_map(|bound| {
            // What the user has chosen is found by each of its keys.
            let mut keys = bound.written();
            keys.truncate(if bound.is_own { keys.len() } else { 1 });
            keys.resize(keys.len().max(1), String::new());
            keys.into_iter().map(|keys| (bound.command, bound.does, keys))
        })
        .collect()
    }
}

fn fault(place: Place, command: Command, why: String) -> KeyFault {
    KeyFault { key: format!("keys.{}.{}", place.name(), command.name()), why }
}

/// What the user has chosen keys for, and is not there.
fn unknown_names(chosen: &Keys) -> Vec<KeyFault> {
    let mut faults = Vec::new();
    for (place, commands) in chosen {
        let known: Vec<&str> = TABLE
            .iter()
            .filter(|Binding(of, ..)| of.name() == place)
            .map(|Binding(_, _, command, _)| command.name())
            .collect();
        for name in commands.keys().filter(|name| !known.contains(&name.as_str())) {
            let why = format!("there is no `{name}` here; there are {}", known.join(", "));
            faults.push(KeyFault { key: format!("keys.{place}.{name}"), why });
        }
    }
    faults
}

/// Exactly one key is not the agent's while one types into its terminal, and it types no text.
fn no_way_out(bound: &[Bound]) -> Option<KeyFault> {
    let way = bound.iter().find(|bound| bound.place == Place::Inline)?;
    let is_fine = way.ways.len() == 1
        && way.ways.iter().all(|keys| matches!(keys.as_slice(), [key] if key.text().is_none()));
    let why = "exactly one key has to end the typing, one that is no text: such as `ctrl+q`";
    (!is_fine).then(|| fault(Place::Inline, Command::Close, why.to_owned()))
}

/// Keys as they are written, parted by blanks.
fn parse(written: &str) -> Result<Vec<Chord>, String> {
    let keys = written.split(' ').filter(|key| !key.is_empty());
    let read = |key: &str| Chord::parse(key).ok_or_else(|| format!("`{key}` is no key"));
    keys.map(read).collect()
}

fn written(keys: &[Chord]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Whether a key leaves a box whatever is typed there.
pub fn leaves_box(chord: Chord) -> bool {
    chord.code == Code::Esc || chord == Chord::ctrl('c')
}

/// Whether a key hands over what is typed in a box.
pub fn submits(chord: Chord) -> bool {
    chord == Chord::plain(Code::Enter)
}

#[cfg(test)]
mod tests {
    use super::Place::{Asks, List};
    use super::*;
    use crate::command::Command as C;
    use std::fmt::Write as _;

    #[test]
    fn the_usual_keys_are_keys_and_mean_one_thing() {
        let keys = KeyMap::with(&Keys::new()).unwrap();
        let chord = |text| Chord::parse(text).unwrap();
        assert_eq!(keys.meaning(List, &[chord("p")]), Meaning::Does(C::Pause));
        assert_eq!(keys.meaning(List, &[chord("ctrl+x")]), Meaning::Begins);
        let toggle = [chord("ctrl+x"), chord("p")];
        assert_eq!(keys.meaning(List, &toggle), Meaning::Does(C::TogglePause));
        assert_eq!(keys.meaning(List, &[chord("ctrl+x"), chord("j")]), Meaning::Unbound);
        assert_eq!(keys.meaning(Asks, &[chord("n")]), Meaning::Does(C::Deny));
    }

    fn chosen(place: &str, name: &str, keys: &[&str]) -> Keys {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        Keys::from([(place.to_owned(), BTreeMap::from([(name.to_owned(), keys)]))])
    }

    fn refused(place: &str, name: &str, keys: &[&str]) -> String {
        let faults = KeyMap::with(&chosen(place, name, keys)).unwrap_err();
        faults
            .iter()
            .map(|fault| format!("{}: {}", fault.key, fault.why))
            .collect::<Vec<_>>()
            .join("; ")
    }

    #[test]
    fn a_key_with_two_meanings_is_refused() {
        for (keys, why) in [
            ("p", "`p` is the key of `pause` already; give that another one"),
            (
                "ctrl+x",
                "`ctrl+x` and `ctrl+x p` of `toggle-pause` begin alike; give that another one",
            ),
            ("hyper+j", "`hyper+j` is no key"),
        ] {
            assert_eq!(refused("list", "stop", &[keys]), format!("keys.list.stop: {why}"));
        }
        // Told of what was chosen, wherever that stands in the table.
        assert!(
            refused("list", "down", &["q"]).starts_with("keys.list.down: `q` is the key of `quit`")
        );
        assert!(
            refused("list", "stopp", &["x"]).contains("there is no `stopp` here; there are down")
        );
        assert!(
            refused("inline", "close", &["q"]).contains("exactly one key has to end the typing")
        );
        assert!(refused("inline", "close", &["f1", "f2"]).contains("exactly one key"));
        assert!(refused("inline", "close", &[]).contains("exactly one key"));
    }

    #[test]
    fn chosen_keys_count_and_are_shown() {
        let keys = KeyMap::with(&chosen("list", "pause", &["f5", "ctrl+x q"])).unwrap();
        let chord = |text| Chord::parse(text).unwrap();
        assert_eq!(keys.meaning(List, &[chord("f5")]), Meaning::Does(C::Pause));
        assert_eq!(keys.meaning(List, &[chord("p")]), Meaning::Unbound);
        assert!(keys.help(List).iter().any(|line| line.keys == "f5 ctrl+x q"));
        let without = KeyMap::with(&chosen("list", "pause", &[])).unwrap();
        assert_eq!(without.keys_of(List, C::Pause), None);
        assert!(without.commands().iter().any(|(command, ..)| *command == C::Pause));
    }

    /// The page for people is printed from the table.
    #[test]
    fn the_page_of_keys_is_true() {
        let mut page = "# Keys of the overview\n\nThe keys of `glis` on a terminal, by the names that `[keys]` of the configuration knows. A list of keys there replaces the usual ones of that name; an empty list takes them away, and `:` still finds what they did. Keys that are pressed one after the other are written in one string: `\"ctrl+x p\"`.\n".to_owned();
        let usual = KeyMap::with(&Keys::new()).unwrap();
        for place in Place::ALL {
            let name = place.name();
            let head = "| name | keys | does |\n|---|---|---|";
            writeln!(page, "\n## `[keys]` {name}\n\n{head}").unwrap();
            for bound in usual.0.iter().filter(|bound| bound.place == place) {
                let keys: Vec<_> = bound.written().iter().map(|key| format!("`{key}`")).collect();
                let (name, keys) = (bound.command.name(), keys.join(" "));
                writeln!(page, "| `{name}` | {keys} | {} |", bound.does).unwrap();
            }
            if place == Asks {
                let digits = "A digit makes the choice of that number, where a question has choices; a digit that is the key of something else stays that.";
                writeln!(page, "\n{digits}").unwrap();
            }
        }
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/keys.md");
        if std::env::var_os("GLIS_WRITE_DOCS").is_some() {
            std::fs::write(file, &page).unwrap();
        }
        assert_eq!(std::fs::read_to_string(file).unwrap(), page, "run with GLIS_WRITE_DOCS=1");
    }

    #[test]
    fn every_command_has_one_name() {
        for Binding(_, _, command, _) in TABLE {
            assert!(!command.name().is_empty(), "{command:?}");
        }
    }

    #[test]
    fn every_command_has_a_word_in_the_help() {
        let keys = KeyMap::with(&Keys::new()).unwrap();
        for place in Place::ALL {
            for HelpLine { keys, does, group } in keys.help(place) {
                assert_eq!(group.is_empty(), place != List, "{keys}");
                assert!(!does.is_empty() || ["esc", "ctrl+z"].contains(&keys.as_str()), "{keys}");
                // With the keys it has to fit into half of a usual terminal.
                assert!(keys.len() <= 12 && does.len() <= 24, "{keys}: {does}");
            }
        }
        assert_eq!(keys.help(List).first().map(|line| line.keys.as_str()), Some("j down"));
    }
}
