//! What the kernel tells of a process in `/proc/PID/stat`, as bytes.

/// The fields that are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// The letter for its state.
    pub state: u8,
    /// Its parent.
    pub parent: i32,
    /// Its process group.
    pub group: i32,
    /// Its session, as the kernel means it.
    pub session: i32,
    /// The device number of its terminal; 0 if it has none.
    pub terminal: u32,
    /// The process group in the foreground of that terminal.
    pub foreground: i32,
    /// When it began, in clock ticks since the machine did.
    pub start_ticks: u64,
}

impl Stat {
    /// Reads the line. The process's name may contain anything, brackets and line ends included, so
    /// fields are counted from the last bracket.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let close = line.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        // The kernel prints it as a signed number.
        let terminal = fields.next()?.parse::<i32>().ok()?.cast_unsigned();
        let foreground = fields.next()?.parse().ok()?;
        // Field 22 of the whole line; the state is the third.
        let start_ticks = fields.nth(13)?.parse().ok()?;
        Some(Self { state, parent, group, session, terminal, foreground, start_ticks })
    }

    /// Whether the process was stopped, as `kill -STOP` and a debugger do.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, b'T' | b't')
    }

    /// Whether it has ended: a zombie only waits to be collected.
    pub fn is_over(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_hides_nothing() {
        let line = b"7 (a) T (b) S) T 3 5 6 34816 9 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 9 9";
        let stat = Stat::parse(line).unwrap();
        let (parent, group, session, terminal, foreground) = (3, 5, 6, 34816, 9);
        let start_ticks = 4711;
        let wanted =
            Stat { state: b'T', parent, group, session, terminal, foreground, start_ticks };
        assert_eq!(stat, wanted);
        assert!(stat.is_stopped() && !stat.is_over());
        assert_eq!(Stat::parse(b"nonsense"), None);
    }
}
