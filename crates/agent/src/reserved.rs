//! Arguments that are for glis to set, in every form that an agent would understand them in.

/// What a user's arguments must not hold, for one agent.
///
/// None of the agents takes the beginning of a long option for the whole of it; that was tried on all
/// four. They differ in what a word like `-abc` means.
pub(crate) struct Reserved {
    /// Long options, without the dashes before them.
    pub(crate) long: &'static [&'static str],
    pub(crate) short: &'static [char],
    /// Words of their own: commands.
    pub(crate) words: &'static [&'static str],
    /// How the agent reads several letters behind one dash.
    pub(crate) letters: Letters,
}

/// What a word like `-abc` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    /// The option `a` with the value `bc`, or with more options behind it, if it takes no value. The
    /// options that take none are reserved, or end the program.
    Value,
    /// The options `a`, `b` and `c`.
    Options,
}

impl Reserved {
    /// Refuses the first argument that is not the user's to set.
    pub(crate) fn check(&self, argv: &[String]) -> Result<(), String> {
        match argv.iter().find(|arg| self.holds(arg)) {
            Some(arg) => Err(format!("`{arg}` is for glis to set; leave it out")),
            None => Ok(()),
        }
    }

    fn holds(&self, arg: &str) -> bool {
        if let Some(long) = arg.strip_prefix("--") {
            // A dot leads into an option that is an object, where there are such.
            let name = long.split(['=', '.']).next().unwrap_or_default();
            return self.long.iter().any(|reserved| plain(reserved) == plain(name));
        }
        let Some(letters) = arg.strip_prefix('-') else { return self.words.contains(&arg) };
        let count = match self.letters {
            Letters::Value => 1,
            Letters::Options => letters.len(),
        };
        let mut options = letters.chars().take(count).take_while(char::is_ascii_alphabetic);
        options.any(|letter| self.short.contains(&letter))
    }
}

/// A name as it is compared: `--session-id` is also `--sessionId` to some, and `--SESSION-ID`.
fn plain(name: &str) -> String {
    name.chars().filter(|c| *c != '-').flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(letters: Letters, arg: &str) -> bool {
        let long = &["cd", "session-id", "resume"];
        let reserved = Reserved { long, short: &['C', 'r'], words: &["exec"], letters };
        reserved.check(&["--fine".to_owned(), arg.to_owned()]).is_err()
    }

    #[test]
    fn an_option_is_known_in_all_its_forms() {
        for letters in [Letters::Value, Letters::Options] {
            for arg in [
                "-C",
                "-C/tmp",
                "-Cx",
                "-C=x",
                "-r5",
                "--cd",
                "--cd=/x",
                "--resume.x",
                "exec",
                "--session-id",
                "--sessionId=x",
                "--SESSION-ID",
                "--session-id=",
            ] {
                assert!(refused(letters, arg), "{arg}");
            }
            for arg in ["", "-", "--", "--cdrom", "--c", "--no-resume", "-5r", "executive", "--res"]
            {
                assert!(!refused(letters, arg), "{arg}");
            }
        }
    }

    #[test]
    fn letters_behind_a_letter_are_a_value_or_options() {
        for arg in ["-yr", "-yr5", "-myr"] {
            assert!(!refused(Letters::Value, arg), "{arg}");
            assert!(refused(Letters::Options, arg), "{arg}");
        }
        for arg in ["-m=or", "-m/r", "-m-r"] {
            assert!(!refused(Letters::Options, arg), "{arg}");
        }
    }
}
