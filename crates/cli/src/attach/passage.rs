//! Output on its way to the user's terminal, unchanged but for the switch between its two screens.
//!
//! The session is shown on the alternate screen of the user's terminal, so that the shell's screen
//! comes back afterwards. A program in the session has two screens of its own; passed on as they
//! are, its switches would uncover the shell and draw over it.

/// No program names more modes in one sequence than fit into this.
const SEQUENCE_BYTES_MAX: usize = 64;

/// What the session's program wants of its screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Switch {
    /// The alternate screen, which begins empty.
    ToAlternate,
    /// The main screen as it was.
    ToMain,
    /// A terminal as after switching it on.
    Reset,
}

/// How far some output has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Passed {
    /// Bytes dealt with, whether they were written or are being held back.
    pub(super) taken: usize,
    /// Why it stopped before the end.
    pub(super) switch: Option<Switch>,
}

/// Holds back a sequence that is not complete yet: no terminal could act on it anyway.
#[derive(Debug, Default)]
pub(super) struct Passage {
    held: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
enum Class {
    /// Nothing of ours.
    Plain,
    /// The bytes end before this is known.
    Open,
    /// So many bytes are a switch, with other modes in the same breath.
    Switch { length: usize, switch: Switch, others: Vec<u8> },
}

impl Passage {
    /// Writes `bytes` up to the next switch.
    pub(super) fn pass<E>(
        &mut self,
        bytes: &[u8],
        mut write: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Passed, E> {
        let mut taken = 0;
        while !self.held.is_empty() {
            let Some(&byte) = bytes.get(taken) else { return Ok(Passed { taken, switch: None }) };
            self.held.push(byte);
            taken += 1;
            match classify(&self.held) {
                Class::Open => {}
                Class::Plain => {
                    // The last byte may itself begin a sequence, so it is looked at again.
                    taken -= 1;
                    self.held.pop();
                    write(&std::mem::take(&mut self.held))?;
                }
                Class::Switch { switch, others, .. } => {
                    self.held.clear();
                    write(&others)?;
                    return Ok(Passed { taken, switch: Some(switch) });
                }
            }
        }
        let written = taken;
        let mut sought = taken;
        while let Some(escape) = find_escape(&bytes[sought..]).map(|found| sought + found) {
            match classify(&bytes[escape..]) {
                Class::Plain => sought = escape + 1,
                Class::Open => {
                    write(&bytes[written..escape])?;
                    self.held.extend_from_slice(&bytes[escape..]);
                    return Ok(Passed { taken: bytes.len(), switch: None });
                }
                Class::Switch { length, switch, others } => {
                    write(&bytes[written..escape])?;
                    write(&others)?;
                    return Ok(Passed { taken: escape + length, switch: Some(switch) });
                }
            }
        }
        write(&bytes[written..])?;
        Ok(Passed { taken: bytes.len(), switch: None })
    }
}

/// Says what begins with the escape at the beginning of `bytes`.
fn classify(bytes: &[u8]) -> Class {
    match bytes {
        [_] | [_, b'['] | [_, b'[', b'?'] => Class::Open,
        [_, b'c', ..] => Class::Switch { length: 2, switch: Switch::Reset, others: Vec::new() },
        [_, b'[', b'?', rest @ ..] => {
            let modes = rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b';')).count();
            let length = 3 + modes + 1;
            match rest.get(modes) {
                _ if length > SEQUENCE_BYTES_MAX => Class::Plain,
                None => Class::Open,
                Some(&end @ (b'h' | b'l')) => classify_modes(&rest[..modes], end, length),
                Some(_) => Class::Plain,
            }
        }
        _ => Class::Plain,
    }
}

fn classify_modes(modes: &[u8], end: u8, length: usize) -> Class {
    let is_screen = |mode: &&[u8]| matches!(*mode, b"47" | b"1047" | b"1049");
    let (screens, others): (Vec<_>, Vec<_>) =
        modes.split(|&byte| byte == b';').partition(is_screen);
    if screens.is_empty() {
        return Class::Plain;
    }
    let switch = if end == b'h' { Switch::ToAlternate } else { Switch::ToMain };
    let others = match others.join(&b';') {
        none if none.is_empty() => none,
        some => [b"\x1b[?", &some[..], &[end]].concat(),
    };
    Class::Switch { length, switch, others }
}

/// Looks at whole blocks at once, which the compiler turns into vector instructions: output that
/// floods by is mostly text.
fn find_escape(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 64;
    let mut skipped = 0;
    for block in bytes.chunks(BLOCK) {
        if block.iter().fold(0, |found, &byte| found | u8::from(byte == 0x1b)) != 0 {
            return block.iter().position(|&byte| byte == 0x1b).map(|found| skipped + found);
        }
        skipped += block.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes a stream in parts of `size` bytes; switches appear as words in angle brackets.
    fn passed(stream: &[u8], size: usize) -> String {
        let mut passage = Passage::default();
        let mut out = Vec::new();
        for part in stream.chunks(size) {
            let mut rest = part;
            while !rest.is_empty() {
                let passed = passage.pass(rest, |bytes| {
                    out.extend_from_slice(bytes);
                    Ok::<(), ()>(())
                });
                let passed = passed.unwrap();
                rest = &rest[passed.taken..];
                if let Some(switch) = passed.switch {
                    out.extend_from_slice(format!("<{switch:?}>").as_bytes());
                }
            }
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_switches_are_taken_out_however_the_stream_is_cut() {
        for (stream, expected) in [
            ("plain text", "plain text"),
            ("a\x1b[31mb\x1b[?25lc", "a\x1b[31mb\x1b[?25lc"),
            ("a\x1b[?1049hb", "a<ToAlternate>b"),
            ("a\x1b[?1049lb\x1b[?47h\x1b[?1047l", "a<ToMain>b<ToAlternate><ToMain>"),
            ("a\x1b[?1049;25hb", "a\x1b[?25h<ToAlternate>b"),
            ("\x1b[?2004;1049;1lb", "\x1b[?2004;1l<ToMain>b"),
            ("\x1b\x1b[?1049h\x1b[?1\x1b[?1049l", "\x1b<ToAlternate>\x1b[?1<ToMain>"),
            ("x\x1bcy\x1b(B", "x<Reset>y\x1b(B"),
            ("\x1b[?10491h\x1b[1049h\x1b[?1049$p", "\x1b[?10491h\x1b[1049h\x1b[?1049$p"),
        ] {
            for size in 1..=stream.len() {
                assert_eq!(passed(stream.as_bytes(), size), expected, "{stream:?} by {size}");
            }
        }
    }

    #[test]
    fn an_endless_sequence_is_let_go() {
        let stream = format!("\x1b[?{}h.", "1;".repeat(1000));
        for size in [1, 7, 64, 5000] {
            assert_eq!(passed(stream.as_bytes(), size), stream);
        }
    }

    #[test]
    fn escapes_are_found_anywhere() {
        for length in 0..200 {
            for at in 0..length {
                let mut bytes = vec![b'x'; length];
                bytes[at] = 0x1b;
                assert_eq!(find_escape(&bytes), Some(at));
            }
            assert_eq!(find_escape(&vec![b'x'; length]), None);
        }
    }
}
