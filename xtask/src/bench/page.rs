//! The page as a browser has it, on the wire: how soon an event, a key and the past are there, and what it
//! costs to show a session that floods.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use glis_wire::hold::Size;
use serde_json::{Value, json};

use super::Plan;
use super::board::{Board, Reading};
use super::fleet::crew;
use super::house::{House, Peer};
use super::overview::{bare_emulator, late};
use super::payload::{FLOOD_MB_PER_SEC, KEYS};
use super::streams::{DRAWN, END, Load};
use crate::proc::{self, Others};

/// The session that answers keys, and those that flood.
const ECHO: &str = "w-echo";
const FLOOD: &str = "w-flood";
/// What does not happen by then does not happen.
const WAIT: Duration = Duration::from_secs(20);
/// Between two keys: no multiple of a frame, so that keys come at every moment of it.
const KEY_GAPS: [Duration; 3] =
    [Duration::from_millis(41), Duration::from_millis(54), Duration::from_millis(67)];
/// The past is jumped through in steps of this part of it: forth and back, and nowhere twice.
const STRIDE: u64 = 37;

/// All rows of the page: one house of two hundred sessions for all of them.
pub(crate) fn web(plan: &Plan, board: &mut Board) {
    let mut house = match crew(plan, Peer::Glis, plan.sessions(200)) {
        Ok(house) => house,
        Err(failure) => return board.take("web event", Peer::Glis, Err(failure)),
    };
    let server = match Server::start(&house) {
        Ok(server) => server,
        Err(failure) => return board.take("web event", Peer::Glis, Err(failure)),
    };
    let Some(load) = plan.loads.iter().find(|load| load.name == "colour") else { return };
    for _ in 0..plan.passes {
        board.take("web event", Peer::Glis, event(plan, &house, &server));
    }
    let typed = house.payload(ECHO, &["payload-echo"]);
    for _ in 0..plan.passes {
        let painted = match &typed {
            Ok(_) => key(plan, &server),
            Err(failure) => Err(anyhow::anyhow!("{failure:#}")),
        };
        board.take("web key", Peer::Glis, painted);
    }
    for pass in 0..plan.passes {
        let name = format!("{FLOOD}{pass}");
        match flood(plan, &mut house, &server, (&name, load)) {
            Ok(Flooded { frames, cpus, bare, grown }) => {
                board.take("web frames", Peer::Glis, Ok(frames));
                board.take("web flood", Peer::Floor, Ok(bare));
                board.take("web flood", Peer::Glis, Ok(cpus));
                board.take("web grown", Peer::Glis, Ok(grown));
            }
            Err(failure) => board.take("web flood", Peer::Glis, Err(failure)),
        }
        board.take("web past", Peer::Glis, past(plan, &server, &name));
    }
}

/// Milliseconds from sending a change to the event in the stream: the change is on the disk in between.
fn event(plan: &Plan, house: &House<'_>, server: &Server) -> Result<Reading> {
    let others = Others::watch(&plan.programs.mark());
    let last = house.ask(&["daemon", "status"])?["last_seq"].as_u64().context("no last event")?;
    let mut stream = server.events(last)?;
    let mut times = Vec::new();
    for at in 0..plan.tries(500) {
        let switch = if at % 2 == 0 { "on" } else { "off" };
        let began = Instant::now();
        let answer = server.post("sessions/s0/auto-yes", &json!({"switch": switch}))?;
        let mut line = String::new();
        while !(line.starts_with("data: ") && line.contains("auto_yes")) {
            line.clear();
            ensure!(stream.read_line(&mut line)? > 0, "the stream of events ended");
        }
        times.push(began.elapsed().as_secs_f64() * 1000.0);
        read_answer(answer)?;
    }
    Ok(Reading { value: late(times, 99), others: others.cpus() })
}

/// Milliseconds from a key to the frame with its row.
fn key(plan: &Plan, server: &Server) -> Result<Reading> {
    let others = Others::watch(&plan.programs.mark());
    let mut terminal = server.terminal(ECHO)?;
    terminal.until(DRAWN)?;
    let mut times = Vec::new();
    for at in 0..plan.tries(500) {
        let gap = KEY_GAPS.get(at % KEY_GAPS.len()).copied().unwrap_or_default();
        std::thread::sleep(gap);
        let key = char::from(KEYS.get(at % KEYS.len()).copied().unwrap_or(b'#'));
        let began = Instant::now();
        terminal.say(&json!({"text": key}).to_string())?;
        terminal.until(&key.to_string())?;
        // The first one waits for the daemon, which writes down who types.
        if at > 0 {
            times.push(began.elapsed().as_secs_f64() * 1000.0);
        }
    }
    Ok(Reading { value: late(times, 95), others: others.cpus() })
}

/// What one flood told.
struct Flooded {
    frames: Reading,
    cpus: Reading,
    bare: Reading,
    grown: Reading,
}

fn flood(
    plan: &Plan,
    house: &mut House<'_>,
    server: &Server,
    (name, load): (&str, &Load),
) -> Result<Flooded> {
    let file = load.file.display().to_string();
    let mut line = house.payload(name, &["payload-flood", &file])?;
    let mut terminal = server.terminal(name)?;
    let size = terminal.until(DRAWN)?;
    line.go()?;
    // The first second has what is made once: threads, buffers, the emulator's history.
    terminal.pass(Duration::from_secs(1))?;

    let span = if plan.divisor > 1 { Duration::from_secs(2) } else { Duration::from_secs(10) };
    let others = Others::watch(&plan.programs.mark());
    let (pid, began) = (server.pid, Instant::now());
    let (cpu, memory) = (proc::cpu_ns(pid), proc::written_kib(pid));
    let came = terminal.pass(span)?;
    let secs = began.elapsed().as_secs_f64();
    let cpus = proc::seconds(proc::cpu_ns(pid).saturating_sub(cpu)) / secs;
    let grown = (proc::written_kib(pid) as f64 - memory as f64) / 1024.0;
    let around = others.cpus();
    let reading = |value: f64| Reading { value, others: around };
    let bare = reading(bare_emulator(load, size, secs)?);

    let written = line.stop(WAIT)?;
    ensure!(written.mb_per_sec > 0.95 * FLOOD_MB_PER_SEC, "the flood was slow: {written:?}");
    // Who shows less than everything is fast: the last line is there as soon as it is written.
    let ended = Instant::now();
    terminal.until(END)?;
    ensure!(ended.elapsed() < Duration::from_secs(1), "the frame is {:?} late", ended.elapsed());
    // While a page looks on, the past is made ready as soon as it is quiet.
    house.settle_for(Duration::from_secs(3), WAIT);
    let frames = reading(came as f64 / secs);
    Ok(Flooded { frames, cpus: reading(cpus), bare, grown: reading(grown) })
}

/// Milliseconds of the slowest jump into the past of a terminal that has flooded before a page, the first one
/// included.
fn past(plan: &Plan, server: &Server, name: &str) -> Result<Reading> {
    let others = Others::watch(&plan.programs.mark());
    let look = |at: u64| -> Result<(Value, f64)> {
        let began = Instant::now();
        let seen = server.get(&format!("sessions/{name}/screen?at={at}"))?;
        Ok((seen, began.elapsed().as_secs_f64() * 1000.0))
    };
    let (seen, first) = look(0)?;
    let number = |field: &str| seen[field].as_u64().context("no such number");
    let (oldest, end) = (number("oldest")?, number("end")?);
    let mut times = vec![first];
    for step in 1..=plan.tries(200) as u64 {
        let at = oldest + (end - oldest) / 101 * (1 + step * STRIDE % 100);
        let (seen, took) = look(at)?;
        ensure!(seen["offset"].as_u64() == Some(at), "another offset than {at}");
        times.push(took);
    }
    Ok(Reading { value: late(times, 100), others: others.cpus() })
}

/// A server of a house, and a token for it.
struct Server {
    child: Child,
    pid: i32,
    address: SocketAddr,
    token: String,
}

impl Server {
    fn start(house: &House<'_>) -> Result<Self> {
        let made = house.ask(&["web", "token", "--name", "bench", "--scope", "manage"])?;
        let token = made["token"].as_str().context("no token")?.to_owned();
        let mut child = house.speak(&["web", "--listen", "127.0.0.1:0"])?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no stdout")?).read_line(&mut line)?;
        let address = line.trim().strip_suffix(')').and_then(|line| line.split_once(" ("));
        let (_, address) = address.with_context(|| format!("no address: {line:?}"))?;
        let address = address.parse()?;
        let pid = i32::try_from(child.id())?;
        Ok(Self { child, pid, address, token })
    }

    fn send(&self, line: &str, more: &str, body: &str) -> Result<BufReader<TcpStream>> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(WAIT))?;
        let Self { address, token, .. } = self;
        let length = body.len();
        let head = format!(
            "{line} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nX-Glis: 1\r\n{more}\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes())?;
        Ok(BufReader::new(stream))
    }

    fn get(&self, path: &str) -> Result<Value> {
        read_answer(self.send(&format!("GET /api/v1/{path}"), "Connection: close\r\n", "")?)
    }

    /// Sends a change; its answer is still to be read.
    fn post(&self, path: &str, body: &Value) -> Result<BufReader<TcpStream>> {
        let line = format!("POST /api/v1/{path}");
        self.send(&line, "Connection: close\r\n", &body.to_string())
    }

    /// What happens from the event after this one on.
    fn events(&self, last: u64) -> Result<BufReader<TcpStream>> {
        let more = format!("Connection: close\r\nLast-Event-ID: {last}\r\n");
        let mut reader = self.send("GET /api/v1/events", &more, "")?;
        let status = head(&mut reader)?;
        ensure!(status.contains(" 200 "), "no events: {status}");
        Ok(reader)
    }

    fn terminal(&self, session: &str) -> Result<Socket> {
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let line = format!("GET /api/v1/sessions/{session}/terminal");
        let mut reader = self.send(&line, upgrade, "")?;
        let status = head(&mut reader)?;
        ensure!(status.contains(" 101 "), "no terminal: {status}");
        Ok(Socket { reader })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        proc::end(self.pid);
        self.child.wait().ok();
    }
}

/// The first line of an answer; the stream is then at what follows its headers.
fn head(reader: &mut BufReader<TcpStream>) -> Result<String> {
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    Ok(first)
}

fn read_answer(mut reader: BufReader<TcpStream>) -> Result<Value> {
    let status = head(&mut reader)?;
    let mut text = String::new();
    reader.read_to_string(&mut text)?;
    ensure!(status.contains(" 200 "), "{status}{text}");
    Ok(serde_json::from_str(&text)?)
}

/// A terminal's socket.
struct Socket {
    reader: BufReader<TcpStream>,
}

impl Socket {
    /// Says something: a short text under a mask of zeros, which changes nothing.
    fn say(&mut self, text: &str) -> Result<()> {
        let length = u8::try_from(text.len()).ok().filter(|length| *length < 126);
        let length = length.context("too long for one frame of ours")?;
        let frame = [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat();
        self.reader.get_mut().write_all(&frame)?;
        Ok(())
    }

    /// One message of the server: neither masked nor cut into parts.
    fn message(&mut self) -> Result<Vec<u8>> {
        let mut two = [0; 2];
        self.reader.read_exact(&mut two)?;
        let [_, short] = two;
        let length = match short {
            126 => {
                let mut length = [0; 2];
                self.reader.read_exact(&mut length)?;
                usize::from(u16::from_be_bytes(length))
            }
            127 => {
                let mut length = [0; 8];
                self.reader.read_exact(&mut length)?;
                usize::try_from(u64::from_be_bytes(length))?
            }
            short => usize::from(short),
        };
        let mut text = vec![0; length];
        self.reader.read_exact(&mut text)?;
        Ok(text)
    }

    /// Takes frames until one has this text; the size of its screen.
    fn until(&mut self, text: &str) -> Result<Size> {
        loop {
            let frame = self.message()?;
            let has = frame.windows(text.len()).any(|part| part == text.as_bytes());
            if has {
                let frame: Value = serde_json::from_slice(&frame)?;
                return Ok(serde_json::from_value(frame["size"].clone())?);
            }
        }
    }

    /// Takes frames for so long; how many there were.
    fn pass(&mut self, span: Duration) -> Result<usize> {
        let (began, mut count) = (Instant::now(), 0);
        while began.elapsed() < span {
            self.message()?;
            count += 1;
        }
        Ok(count)
    }
}
