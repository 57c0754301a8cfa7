//! A session's folder, a holder for it, and connections to that.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use glis_wire::frame::{Decoder, Frame, encode_raw, encode_words};
use glis_wire::hold::{Birth, ExitRecord, Face, Hello, Launch, Order, Report, Size, place};
use tempfile::TempDir;

/// Set in the environment of a process that is to be a holder.
pub(crate) const BECOME: &str = "GLIS_HOLD_TEST";

/// A test that waits longer than this for one word has failed.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// One session.
pub(crate) struct Rig {
    pub(crate) launch: Launch,
    pub(crate) holder: Option<Child>,
    home: TempDir,
}

impl Rig {
    /// A session on a terminal whose agent is a shell with this script.
    pub(crate) fn new(script: &str) -> Outcome<Self> {
        let home = tempfile::tempdir()?;
        let dir = home.path().join("session");
        Self::at(home, &dir, script)
    }

    /// The same with its folder elsewhere below `home`.
    pub(crate) fn at(home: TempDir, dir: &Path, script: &str) -> Outcome<Self> {
        let session = format!("test-{}-{}", std::process::id(), home.path().display());
        let launch = Launch {
            session,
            generation: 1,
            argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
            env: vec![
                ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
                ("HELD".to_owned(), "yes".to_owned()),
            ],
            cwd: home.path().canonicalize()?.to_string_lossy().into_owned(),
            face: Face::Terminal(Size { columns: 80, rows: 24 }),
            dir: dir.to_string_lossy().into_owned(),
            ref_lock: None,
            seam: None,
            first_words: String::new(),
            log_bytes_max: 64 << 20,
            umask: 0o022,
            kept: Vec::new(),
            output_from: 0,
            limits: Vec::new(),
        };
        Ok(Self { launch, holder: None, home })
    }

    /// The same on pipes.
    pub(crate) fn on_pipes(script: &str) -> Outcome<Self> {
        let mut rig = Self::new(script)?;
        rig.launch.face = Face::Pipes;
        Ok(rig)
    }

    pub(crate) fn dir(&self) -> PathBuf {
        PathBuf::from(&self.launch.dir)
    }

    /// Starts a holder and says what it said.
    pub(crate) fn birth(&mut self) -> Outcome<Birth> {
        let mut holder = Command::new(std::env::current_exe()?)
            .env_clear()
            .env(BECOME, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut stdin = holder.stdin.take().ok_or("no stdin")?;
        stdin.write_all(&serde_json::to_vec(&self.launch)?)?;
        drop(stdin);
        let mut line = String::new();
        BufReader::new(holder.stdout.take().ok_or("no stdout")?).read_line(&mut line)?;
        let birth = serde_json::from_str(&line).map_err(|fault| format!("{fault}: {line:?}"))?;
        match birth {
            Birth::Ready(_) => self.holder = Some(holder),
            Birth::Failed { .. } => drop(holder.wait()?),
        }
        Ok(birth)
    }

    /// Starts a holder that must succeed, and connects to it. Its script begins when somebody listens:
    /// a short one would be over, and its holder gone, before a slow test has connected.
    pub(crate) fn start(&mut self) -> Outcome<Conn> {
        let gate = self.home.path().join("gate");
        let script = self.launch.argv.get(2).cloned().ok_or("no script")?;
        let wait = format!("until [ -e '{}' ]; do sleep 0.01; done; ", gate.display());
        self.launch.argv[2] = wait + &script;
        let birth = self.birth();
        self.launch.argv[2] = script;
        match birth? {
            Birth::Ready(_) => {
                let conn = self.connect()?;
                std::fs::write(&gate, "")?;
                Ok(conn)
            }
            Birth::Failed { message, .. } => Err(message.into()),
        }
    }

    pub(crate) fn connect(&self) -> Outcome<Conn> {
        Conn::to(&self.dir())
    }

    /// Waits until the holder has gone, and returns the record that it has left.
    pub(crate) fn record(&mut self) -> Outcome<ExitRecord> {
        self.holder.take().ok_or("no holder")?.wait()?;
        Ok(serde_json::from_slice(&std::fs::read(self.dir().join(place::EXIT))?)?)
    }

    /// The whole log as it lies on disk.
    pub(crate) fn log(&self) -> Outcome<Vec<u8>> {
        let mut names: Vec<PathBuf> = std::fs::read_dir(self.dir().join(place::OUTPUT))?
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<_>>()?;
        names.sort();
        let parts: Vec<Vec<u8>> = names.iter().map(std::fs::read).collect::<Result<_, _>>()?;
        Ok(parts.concat())
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(mut holder) = self.holder.take() {
            drop(holder.kill());
            drop(holder.wait());
            drop(glis_hold::sweep(&self.launch.session, &self.dir(), &[]));
        }
    }
}

/// What a holder has sent.
#[derive(Debug)]
pub(crate) enum Said {
    Report(Box<Report>),
    Output { at: u64, bytes: Vec<u8> },
}

/// A connection to a holder.
pub(crate) struct Conn {
    pub(crate) stream: UnixStream,
    pub(crate) hello: Hello,
    decoder: Decoder,
}

impl Conn {
    fn to(dir: &Path) -> Outcome<Self> {
        let folder = std::fs::File::open(dir)?;
        let path = format!("/proc/self/fd/{}/{}", folder.as_raw_fd(), place::SOCKET);
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut decoder = Decoder::default();
        match next(&mut decoder, &stream)? {
            Some(Said::Report(report)) => match *report {
                Report::Hello(hello) => Ok(Self { stream, hello, decoder }),
                other => Err(format!("no hello but {other:?}").into()),
            },
            other => Err(format!("no hello but {other:?}").into()),
        }
    }

    pub(crate) fn order(&mut self, order: &Order) -> Outcome {
        Ok(self.stream.write_all(&encode_words(order))?)
    }

    pub(crate) fn input(&mut self, tag: u64, bytes: &[u8]) -> Outcome {
        let mut frame = Vec::new();
        encode_raw(&mut frame, tag, bytes);
        Ok(self.stream.write_all(&frame)?)
    }

    /// The next thing said, or `None` when the connection has ended.
    pub(crate) fn next(&mut self) -> Outcome<Option<Said>> {
        next(&mut self.decoder, &self.stream)
    }

    /// The next report that `wanted` accepts; everything else is dropped.
    pub(crate) fn until<T>(&mut self, wanted: impl Fn(Report) -> Option<T>) -> Outcome<T> {
        loop {
            match self.next()?.ok_or("the holder has gone")? {
                Said::Report(report) => {
                    if let Some(found) = wanted(*report) {
                        return Ok(found);
                    }
                }
                Said::Output { .. } => {}
            }
        }
    }

    /// Reads output until `text` is in it. Offsets must adjoin.
    pub(crate) fn output_until(&mut self, text: &str) -> Outcome<Vec<u8>> {
        let mut all: Vec<u8> = Vec::new();
        let mut expected = None;
        loop {
            match self.next()?.ok_or("the holder has gone")? {
                Said::Output { at, bytes } => {
                    assert!(expected.is_none_or(|expected| expected == at), "a hole at {at}");
                    expected = Some(at + bytes.len() as u64);
                    let searched = all.len().saturating_sub(text.len());
                    all.extend_from_slice(&bytes);
                    if all[searched..].windows(text.len()).any(|part| part == text.as_bytes()) {
                        return Ok(all);
                    }
                }
                Said::Report(_) => {}
            }
        }
    }

    /// Waits for the end of everything.
    pub(crate) fn ended(&mut self) -> Outcome<ExitRecord> {
        self.until(|report| if let Report::Ended(record) = report { Some(record) } else { None })
    }
}

fn next(decoder: &mut Decoder, mut stream: &UnixStream) -> Outcome<Option<Said>> {
    loop {
        match decoder.next_frame()? {
            Some(Frame::Raw { tag, bytes }) => return Ok(Some(Said::Output { at: tag, bytes })),
            Some(frame @ Frame::Words(_)) => {
                return Ok(Some(Said::Report(Box::new(frame.words()?))));
            }
            None => {}
        }
        let mut piece = [0; 16384];
        match stream.read(&mut piece) {
            Ok(0) => return Ok(None),
            Ok(len) => decoder.feed(&piece[..len]),
            Err(fault) if fault.kind() == std::io::ErrorKind::ConnectionReset => return Ok(None),
            Err(fault) => return Err(fault.into()),
        }
    }
}
