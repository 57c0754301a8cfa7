//! What runs inside the sessions. A payload talks to the bench over a socket of its own, so that
//! nothing is guessed from time, and ends when the bench is gone.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};

use super::pty::Terminal;
use super::streams::{DRAWN, END};

/// The payload is there and has drawn its screen.
pub(crate) const READY: u8 = b'r';
/// The bench lets it begin.
pub(crate) const GO: u8 = b'g';
/// All is written.
pub(crate) const DONE: u8 = b'd';

/// The keys that the echo payload answers: none of them is on the screen otherwise.
pub(crate) const KEYS: &[u8] = b"#&^~%";

/// An emulating peer may read up to the middle of a marker and paint that half with a cursor
/// movement behind it. Of several copies one stays whole.
const END_COPIES: usize = 8;

/// As much as one write carries; programs that print much do it in about this size.
const WRITE_SIZE: usize = 64 * 1024;

/// Columns that the echo payload fills before it goes back to the left. No multiple of the number
/// of keys, so that every key changes what stood there and no screen may call it unchanged.
const ECHO_WIDTH: usize = 59;

/// `payload-cat SOCKET FILE`: writes the file to its terminal as fast as that takes it, when told
/// to.
pub(crate) fn cat(arguments: &[OsString]) -> Result<()> {
    let [socket, file] = arguments else { bail!("payload-cat SOCKET FILE") };
    let bytes = fs::read(file)?;
    let mut bench = UnixStream::connect(socket)?;
    write_out(format!("{DRAWN}\r\n").as_bytes())?;
    bench.write_all(&[READY])?;
    let mut word = [0];
    bench.read_exact(&mut word)?;
    for piece in bytes.chunks(WRITE_SIZE) {
        write_out(piece)?;
    }
    write_out(format!("\r\n{END}").repeat(END_COPIES).as_bytes())?;
    bench.write_all(&[DONE])?;
    while let Some(_input) = input(&bench)? {}
    Ok(())
}

/// As much as a flood prints: more than any agent, and what a build prints at its worst.
pub(crate) const FLOOD_MB_PER_SEC: f64 = 20.0;
/// The bench ends a flood.
pub(crate) const STOP: u8 = b's';
/// As much of a flood as is written at once.
const FLOOD_PIECE: usize = 16 * 1024;

/// How a flood went.
#[derive(Debug)]
pub(crate) struct Flooded {
    pub(crate) mb_per_sec: f64,
}

impl Flooded {
    /// From bytes written and milliseconds, as they are told.
    pub(crate) fn read(told: [u8; 16]) -> Self {
        let told = u128::from_le_bytes(told);
        let (bytes, millis) = (told >> 64, told & u128::from(u64::MAX));
        Self { mb_per_sec: bytes as f64 / 1000.0 / (millis.max(1) as f64) }
    }
}

/// `payload-flood SOCKET FILE`: writes the file to its terminal again and again, from the first word of the
/// bench to the second, at an even pace.
pub(crate) fn flood(arguments: &[OsString]) -> Result<()> {
    let [socket, file] = arguments else { bail!("payload-flood SOCKET FILE") };
    let bytes = fs::read(file)?;
    let mut bench = UnixStream::connect(socket)?;
    write_out(format!("{DRAWN}\r\n").as_bytes())?;
    bench.write_all(&[READY])?;
    let mut word = [0];
    bench.read_exact(&mut word)?;
    let began = Instant::now();
    let mut written = 0_u64;
    for piece in bytes.chunks(FLOOD_PIECE).cycle() {
        let due = Duration::from_secs_f64(written as f64 / (FLOOD_MB_PER_SEC * 1e6));
        let left = Timespec::try_from(due.saturating_sub(began.elapsed()))?;
        // A word, or the end of the bench, ends it.
        let mut fds = [PollFd::from_borrowed_fd(bench.as_fd(), PollFlags::IN)];
        if poll(&mut fds, Some(&left))? > 0 {
            break;
        }
        write_out(piece)?;
        written += piece.len() as u64;
    }
    let millis = u64::try_from(began.elapsed().as_millis())?;
    // The stream may have been left in the middle of a sequence.
    write_out(b"\x18\x1b[0m")?;
    write_out(format!("\r\n{END}").repeat(END_COPIES).as_bytes())?;
    bench.read_exact(&mut word)?;
    bench.write_all(&[DONE])?;
    bench.write_all(&(u128::from(written) << 64 | u128::from(millis)).to_le_bytes())?;
    while let Some(_input) = input(&bench)? {}
    Ok(())
}

/// `payload-echo SOCKET`: fills its screen, then answers each of [`KEYS`] with itself.
pub(crate) fn echo(arguments: &[OsString]) -> Result<()> {
    let [socket] = arguments else { bail!("payload-echo SOCKET") };
    let mut bench = UnixStream::connect(socket)?;
    let mut modes = tcgetattr(stdin())?;
    modes.make_raw();
    tcsetattr(stdin(), OptionalActions::Now, &modes)?;
    write_out(&picture()?)?;
    bench.write_all(&[READY])?;
    let mut column = 0;
    while let Some(keys) = input(&bench)? {
        for key in keys.iter().filter(|key| KEYS.contains(key)) {
            column += 1;
            if column > ECHO_WIDTH {
                write_out(b"\r")?;
                column = 1;
            }
            write_out(&[*key])?;
        }
    }
    Ok(())
}

/// `hold-floor CMD…`: the least a holder can do: a terminal, a program on it, a loop that reads.
pub(crate) fn hold_floor(arguments: &[OsString]) -> Result<()> {
    let (program, rest) = arguments.split_first().context("hold-floor CMD…")?;
    let mut terminal = Terminal::start(Command::new(program).args(rest))?;
    terminal.forget_all();
    terminal.hang_up()
}

/// A screen full of coloured text with the marker at its end; the cursor waits near the top.
fn picture() -> Result<Vec<u8>> {
    let size = tcgetwinsize(stdin())?;
    let (rows, columns) = (size.ws_row.max(10), usize::from(size.ws_col.max(40)));
    let mut text = String::from("\x1b[2J");
    for row in 1..rows {
        let line: String =
            "lorem ipsum dolor sit amet ".chars().cycle().take(columns - 2).collect();
        write!(text, "\x1b[{row};1H\x1b[38;5;{}m{line}\x1b[0m", 16 + row)?;
    }
    write!(text, "\x1b[{rows};1H{DRAWN}\x1b[7;1H")?;
    Ok(text.into_bytes())
}

/// What was typed; nothing more when the terminal or the bench is gone.
fn input(bench: &UnixStream) -> Result<Option<Vec<u8>>> {
    let tty: BorrowedFd<'_> = stdin();
    let mut fds = [
        PollFd::from_borrowed_fd(tty, PollFlags::IN),
        PollFd::from_borrowed_fd(bench.as_fd(), PollFlags::IN),
    ];
    poll(&mut fds, None)?;
    let [tty_fd, bench_fd] = &fds;
    // The bench says nothing at this stage: what can be read is its end.
    if !bench_fd.revents().is_empty() {
        return Ok(None);
    }
    if tty_fd.revents().is_empty() {
        return Ok(Some(Vec::new()));
    }
    let mut buffer = [0; 256];
    let count = rustix::io::read(tty, &mut buffer).unwrap_or(0);
    Ok(buffer.get(..count).filter(|typed| !typed.is_empty()).map(<[u8]>::to_vec))
}

/// Writes past the standard library's buffer: the size of each write is part of the load.
fn write_out(mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(stdout(), bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(())
}
