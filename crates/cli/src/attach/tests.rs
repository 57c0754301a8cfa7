//! Attaching, driven through a terminal and a holder that both are ours.
//!
//! The test's own process has no terminal, so it starts itself anew on one.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use glis_wire::frame::{Decoder, Frame, encode_raw, encode_words};
use glis_wire::hold::{End, Hello, Order, PROTOCOL, Process, Report, place};
use rustix::event::Timespec;
use rustix::process::{Pid, Signal};
use rustix::pty::OpenptFlags;
use rustix::termios::{Termios, Winsize};

use super::*;

/// Nothing takes this long; a test that waits in vain must end all the same.
const PATIENCE: Timespec = Timespec { tv_sec: 20, tv_nsec: 0 };
const FOLDER: &str = "GLIS_ATTACH_TEST_FOLDER";
const PAINT: &str = "GLIS_ATTACH_TEST_PAINT";
const HOLDER: &str = "GLIS_ATTACH_TEST_HOLDER";
const REPAINT: &str = "GLIS_ATTACH_TEST_REPAINT";
const UNWANTED: &str = "GLIS_ATTACH_TEST_UNWANTED";
const PANIC: &str = "panic";
const PANIC_BESIDE: &str = "panic beside";

/// The other process: attaches as its environment says, and writes down why it left.
#[test]
#[ignore = "started by the other tests, on a terminal"]
fn attached_process() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let repaint = std::env::var(REPAINT).ok().map(|text| -> Repaint {
        if text == PANIC {
            // As where panics abort: no guard is dropped, only hooks run.
            std::panic::set_hook(Box::new(|_| std::process::abort()));
            return Box::new(|_| panic!("as ordered"));
        }
        if text == PANIC_BESIDE {
            return Box::new(|at| {
                drop(std::thread::spawn(|| panic!("as ordered")).join());
                Ok(Painting { at, bytes: Vec::new() })
            });
        }
        Box::new(move |at| Ok(Painting { at: at + 4, bytes: format!("{text}{at}").into_bytes() }))
    });
    let left = attach(AttachSpec {
        scene: Scene {
            painting: Painting {
                at: 100,
                bytes: std::env::var(PAINT).unwrap_or_default().into_bytes(),
            },
            size: None,
            holder_dir: std::env::var_os(HOLDER).map(PathBuf::from),
        },
        keys_unwanted: std::env::var(UNWANTED).ok(),
        repaint,
        companion: None,
    });
    fs::write(folder.join("left"), format!("{left:?}")).unwrap();
}

/// A terminal with an attached process on it, and the holder that it talks to.
struct Stage {
    folder: PathBuf,
    master: OwnedFd,
    /// Open as long as the stage, so that the terminal outlives its process.
    _slave: OwnedFd,
    before: Termios,
    child: Child,
    seen: Vec<u8>,
    listener: UnixListener,
}

impl Stage {
    fn new(paint: &str) -> Self {
        Self::with(paint, |_, _| {})
    }

    fn with(paint: &str, more: impl FnOnce(&mut Command, &Path)) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // Deeper than the address of a socket is long.
        let name = format!("glis-attach-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name).join("d".repeat(120));
        fs::create_dir_all(&folder).unwrap();
        let listener = listen(&folder);
        let (master, slave) = open_pty(90, 30).unwrap();
        let before = rustix::termios::tcgetattr(&slave).unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "attach::tests::attached_process", "--ignored", "--nocapture", "-q"])
            .env(FOLDER, &folder)
            .env(PAINT, paint)
            .env(HOLDER, &folder)
            .stdin(end())
            .stdout(end())
            .stderr(Stdio::null());
        more(&mut command, &folder);
        let child = command.spawn().unwrap();
        Self { folder, master, _slave: slave, before, child, seen: Vec::new(), listener }
    }

    /// Reads what the terminal is sent until it contains `text`; returns all up to its end.
    fn sees(&mut self, text: &str) -> String {
        loop {
            let found = self.seen.windows(text.len()).position(|part| part == text.as_bytes());
            if let Some(at) = found {
                let rest = self.seen.split_off(at + text.len());
                let seen = std::mem::replace(&mut self.seen, rest);
                return String::from_utf8_lossy(&seen).into_owned();
            }
            let mut ready = [PollFd::new(&self.master, PollFlags::IN)];
            let came = poll(&mut ready, Some(&PATIENCE)).unwrap();
            let seen = String::from_utf8_lossy(&self.seen);
            assert!(came > 0, "{text:?} never came, only {seen:?}");
            let mut bytes = [0; 4096];
            let count = rustix::io::read(&self.master, &mut bytes).unwrap();
            self.seen.extend_from_slice(&bytes[..count]);
        }
    }

    fn types(&self, keys: &[u8]) {
        rustix::io::write(&self.master, keys).unwrap();
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    fn is_restored(&self) -> bool {
        let now = rustix::termios::tcgetattr(&self.master).unwrap();
        let facts = |about: &Termios| {
            (about.input_modes, about.output_modes, about.control_modes, about.local_modes)
        };
        facts(&now) == facts(&self.before)
    }

    /// Waits for the end of the process; returns why it has left.
    fn ends(&mut self) -> (ExitStatus, String) {
        self.sees("\x1b[?1049l\x1b[23;0t\x1b[0m\x1b[?25h");
        let status = self.child.wait().unwrap();
        assert!(self.is_restored());
        (status, fs::read_to_string(self.folder.join("left")).unwrap_or_default())
    }

    fn holder(&self) -> Holder {
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        Holder { stream, decoder: Decoder::default() }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        drop(fs::remove_dir_all(self.folder.parent().unwrap_or(&self.folder)));
    }
}

fn listen(folder: &Path) -> UnixListener {
    use std::os::fd::AsRawFd as _;
    let open = fs::File::open(folder).unwrap();
    UnixListener::bind(format!("/proc/self/fd/{}/{}", open.as_raw_fd(), place::SOCKET)).unwrap()
}

/// The holder's end of a connection.
struct Holder {
    stream: UnixStream,
    decoder: Decoder,
}

impl Holder {
    fn says(&mut self, report: &Report) {
        self.stream.write_all(&encode_words(report)).unwrap();
    }

    fn greets(&mut self) {
        self.says(&Report::Hello(hello()));
        let size = Size { columns: 90, rows: 30 };
        assert_eq!(self.hears_order(), Order::Resize(size));
        assert_eq!(self.hears_order(), Order::Follow { from: 100 });
    }

    fn shows(&mut self, at: u64, bytes: &[u8]) {
        let mut frame = Vec::new();
        encode_raw(&mut frame, at, bytes);
        self.stream.write_all(&frame).unwrap();
    }

    fn hears(&mut self) -> Frame {
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                return frame;
            }
            let mut bytes = [0; 4096];
            let count = self.stream.read(&mut bytes).unwrap();
            assert!(count > 0, "the client has hung up");
            self.decoder.feed(&bytes[..count]);
        }
    }

    fn hears_order(&mut self) -> Order {
        self.hears().words().unwrap()
    }

    /// Input until it has the length of `keys`, which may come in several frames.
    fn hears_keys(&mut self, keys: &[u8]) {
        let mut heard = Vec::new();
        while heard.len() < keys.len() {
            match self.hears() {
                Frame::Raw { tag: 0, bytes } => heard.extend(bytes),
                other @ (Frame::Raw { .. } | Frame::Words(_)) => panic!("{other:?}"),
            }
        }
        assert_eq!(heard, keys);
    }
}

fn hello() -> Hello {
    Hello {
        protocol: PROTOCOL,
        version: "0.1.0".into(),
        session: "s".into(),
        generation: 1,
        holder_pid: 1,
        process: Process { pid: 2, start_ticks: 3, boot_id: "b".into() },
        end: 100,
        began_at: 0,
        oldest: 0,
        size: None,
        clients: 0,
        attached: Some(0),
        handed: None,
        ended: None,
        folder_lost: false,
    }
}

fn exit_record() -> ExitRecord {
    ExitRecord {
        session: "s".into(),
        generation: 1,
        process: hello().process,
        end: End::Exited(7),
        ordered: false,
        log_end: 100,
        killed: Vec::new(),
        kept: Vec::new(),
        stuck: Vec::new(),
        log_began: None,
        errors_began: None,
        grace_ms: None,
    }
}

#[test]
fn the_painting_comes_first_and_then_every_byte_in_order() {
    let mut stage = Stage::new("PAINTED\x1b[?1000h");
    let mut holder = stage.holder();
    stage.sees("\x1b[?1049h\x1b[0m\x1b[H\x1b[2J");
    assert_eq!(stage.sees("\x1b[?1000h"), "PAINTED\x1b[?1000h");
    holder.greets();
    let flood = (0..30_000).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    for (index, part) in flood.as_bytes().chunks(70_000).enumerate() {
        holder.shows(100 + 70_000 * index as u64, part);
        // Read at once, as a terminal does, because neither side buffers without a limit.
        let text = str::from_utf8(part).unwrap();
        assert_eq!(stage.sees(text), text);
    }
    stage.types(b"\x11");
    let (status, left) = stage.ends();
    assert_eq!((status.code(), left.as_str()), (Some(0), "Ok(Detached)"));
}

#[test]
fn keys_reach_the_agent_except_the_one_that_leaves() {
    let mut stage = Stage::new("");
    let mut holder = stage.holder();
    holder.greets();
    for keys in [&b"a"[..], b"\x03\x04\x1a\x1c", b"\x1b[<0;5;6M", "\u{e9}\r".as_bytes(), b"\x1b"] {
        stage.types(keys);
        holder.hears_keys(keys);
    }
    let paste = b"\x1b[200~a\x11b\x1b[201~";
    stage.types(paste);
    holder.hears_keys(paste);
    stage.types(b"last\x11lost");
    holder.hears_keys(b"last");
    assert_eq!(stage.ends().1, "Ok(Detached)");
}

#[test]
fn keys_that_nothing_takes_are_not_sent_and_that_is_told() {
    let mut stage = Stage::with("", |command, _| {
        command.env(UNWANTED, "no keys");
    });
    let mut holder = stage.holder();
    stage.sees("no keys");
    holder.greets();
    stage.types(b"q");
    stage.sees("no keys");
    // An order that comes after the key shows that the key did not come before it.
    let size = Winsize { ws_col: 70, ws_row: 20, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&stage.master, size).unwrap();
    stage.signal(Signal::WINCH);
    assert_eq!(holder.hears_order(), Order::Resize(Size { columns: 70, rows: 20 }));
    stage.types(b"lost\x11");
    assert_eq!(stage.ends().1, "Ok(Detached)");
}

#[test]
fn an_extended_keyboard_can_leave_too() {
    let mut stage = Stage::new("\x1b[>1u");
    let mut holder = stage.holder();
    holder.greets();
    stage.types(b"\x1b[113;5u");
    let seen = stage.sees("\x1b[?1049l");
    assert!(seen.contains("\x1b[<99u"), "{seen:?}");
}

#[test]
fn another_window_size_is_told_to_the_holder() {
    let mut stage = Stage::new("");
    let mut holder = stage.holder();
    holder.greets();
    let size = Winsize { ws_col: 70, ws_row: 20, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&stage.master, size).unwrap();
    stage.signal(Signal::WINCH);
    assert_eq!(holder.hears_order(), Order::Resize(Size { columns: 70, rows: 20 }));
    stage.types(b"\x11");
    stage.ends();
}

#[test]
fn the_end_of_the_agent_ends_the_view() {
    let mut stage = Stage::new("");
    let mut holder = stage.holder();
    holder.greets();
    holder.shows(100, b"bye");
    holder.says(&Report::Audience { clients: 1, attached: Some(1) });
    holder.says(&Report::Ended(exit_record()));
    let (_, left) = stage.ends();
    assert_eq!(left, format!("Ok({:?})", Leave::Ended(Box::new(exit_record()))));
}

#[test]
fn a_holder_that_vanishes_is_reported() {
    let mut stage = Stage::new("");
    let mut holder = stage.holder();
    holder.greets();
    drop(holder);
    assert_eq!(stage.ends().1, "Ok(Lost)");
}

#[test]
fn a_holder_of_another_age_is_not_misunderstood() {
    let mut stage = Stage::new("");
    let mut holder = stage.holder();
    holder.says(&Report::Hello(Hello { protocol: PROTOCOL + 1, ..hello() }));
    assert!(stage.ends().1.contains("protocol"));
}

#[test]
fn without_a_holder_and_without_company_the_last_screen_is_all_there_is() {
    let mut stage = Stage::with("PAINTED", |command, _| {
        command.env_remove(HOLDER);
    });
    stage.sees("PAINTED");
    assert_eq!(stage.ends().1, "Ok(NotRunning)");
}

#[test]
fn a_missing_socket_is_a_lost_holder() {
    let mut stage =
        Stage::with("", |_, folder| fs::remove_file(folder.join(place::SOCKET)).unwrap());
    stage.child.wait().unwrap();
    assert_eq!(fs::read_to_string(stage.folder.join("left")).unwrap(), "Ok(Lost)");
    assert!(stage.is_restored());
}

#[test]
fn pipes_are_refused() {
    let mut stage = Stage::with("", |command, _| {
        command.stdin(Stdio::null());
    });
    stage.child.wait().unwrap();
    let left = fs::read_to_string(stage.folder.join("left")).unwrap();
    assert!(left.starts_with("Err") && left.contains("terminal"), "{left}");
}

#[test]
fn the_terminal_is_restored_after_every_deadly_signal() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        let mut stage = Stage::new("PAINTED");
        let mut holder = stage.holder();
        holder.greets();
        stage.sees("PAINTED");
        assert!(!stage.is_restored());
        stage.signal(signal);
        assert_eq!(stage.ends().0.code(), Some(128 + signal.as_raw()));
    }
}

#[test]
fn the_terminal_is_restored_even_if_we_are_killed() {
    let mut stage = Stage::new("PAINTED\x1b[?1003h");
    let mut holder = stage.holder();
    holder.greets();
    stage.sees("\x1b[?1003h");
    stage.signal(Signal::KILL);
    // The settings are restored before this is written.
    let seen = stage.sees("\x1b[?1049l\x1b[23;0t\x1b[0m\x1b[?25h");
    assert!(seen.contains("\x1b[?1003l"), "{seen:?}");
    assert!(stage.is_restored());
    // Nothing of us keeps the connection open: not even the process that has cleaned up.
    assert_eq!(holder.stream.read(&mut [0]).unwrap(), 0);
}

fn panicked(way: &'static str) -> ExitStatus {
    let mut stage = Stage::with("", |command, _| {
        command.env(REPAINT, way);
    });
    let mut holder = stage.holder();
    holder.greets();
    holder.shows(100, b"\x1b[?1049l");
    stage.ends().0
}

#[test]
fn the_terminal_is_restored_even_if_a_panic_aborts() {
    assert_eq!(panicked(PANIC).signal(), Some(Signal::ABORT.as_raw()));
    // That of another thread leaves no program behind without its terminal.
    assert_eq!(panicked(PANIC_BESIDE).code(), Some(101));
}

#[test]
#[ignore = "a measurement: how fast output reaches the terminal"]
fn output_flows_fast() {
    const BYTES: usize = 256 * 1024 * 1024;
    let mut stage = Stage::new("");
    let mut holder = stage.holder();
    holder.greets();
    let line =
        b"\x1b[32mtest\x1b[0m some::module::name_of_a_test ... \x1b[1mok\x1b[0m and more text\r\n";
    let part = line.repeat(1000);
    let began = std::time::Instant::now();
    let sender = std::thread::spawn(move || {
        let mut at = 100;
        while at < BYTES as u64 {
            holder.shows(at, &part);
            at += part.len() as u64;
        }
        holder.shows(at, b"THE END");
        holder
    });
    let mut bytes = vec![0; 64 * 1024];
    let mut seen = 0;
    while seen < BYTES {
        seen += rustix::io::read(&stage.master, &mut bytes).unwrap();
    }
    stage.sees("THE END");
    println!("{} MB/s", BYTES / 1000 / usize::try_from(began.elapsed().as_millis()).unwrap());
    drop(sender.join().unwrap());
}

#[test]
fn the_shells_screen_is_never_uncovered() {
    let mut stage = Stage::with("main\x1b[?1049hfull", |command, _| {
        command.env(REPAINT, "REPAINTED");
    });
    let mut holder = stage.holder();
    holder.greets();
    stage.sees("\x1b[?1049h");
    assert!(stage.sees("full").ends_with("main\x1b7\x1b[2Jfull"));
    // The sequence ends at offset 109, and the painting shows the state as of 113.
    holder.shows(100, b"x\x1b[?1049labcdEFG");
    assert_eq!(stage.sees("EFG"), format!("x{}REPAINTED109EFG", str::from_utf8(CLEAR).unwrap()));
    holder.shows(116, b"\x1bc");
    assert!(!stage.sees("\x1b[!p").contains("\x1bc"));
    stage.types(b"\x11");
    let (_, left) = stage.ends();
    assert_eq!(left, "Ok(Detached)");
}

/// A terminal: the end that a terminal emulator holds, and the one that programs get.
fn open_pty(columns: u16, rows: u16) -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&slave, size)?;
    Ok((master, slave))
}
