//! One state of the tables: how a session comes to be in it, and what it answers to each command.

use crate::script::{Kind, check, check_each};

/// A state, as a table of `states!` tells it.
pub(crate) struct State {
    /// The name of its test.
    pub(crate) name: &'static str,
    kind: Kind,
    beginnings: &'static [&'static str],
    table: &'static str,
}

impl State {
    pub(crate) const fn new(
        name: &'static str,
        kind: Kind,
        beginnings: &'static [&'static str],
        table: &'static str,
    ) -> Self {
        Self { name, kind, beginnings, table }
    }

    /// Plays each line of the table after the same beginning.
    pub(crate) fn check(&self) -> Result<(), String> {
        check_each(self.kind, &self.beginnings.join("\n"), self.table)
    }

    /// What a command leads to here, whatever the table says.
    pub(crate) fn play(&self, command: &str) -> Result<String, String> {
        check(self.kind, &self.beginnings.join("\n"))?.play(command)
    }

    /// The lines of the table, as (command, what it leads to).
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let lines = self.table.lines().filter_map(|line| line.split_once("=>"));
        lines.map(|(command, outcome)| (command.trim(), outcome.trim()))
    }
}

/// Makes a test of each state, and a list of all of them for the page.
macro_rules! states {
    ($($name:ident: $kind:expr, $beginnings:expr, $table:expr;)+) => {
        pub(crate) const STATES: &[$crate::state::State] = &[
            $($crate::state::State::new(stringify!($name), $kind, &$beginnings, $table)),+
        ];

        $(
            #[test]
            fn $name() {
                let state = STATES.iter().find(|state| state.name == stringify!($name));
                state.unwrap().check().unwrap();
            }
        )+
    };
}
pub(crate) use states;
