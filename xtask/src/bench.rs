//! `cargo xtask bench`: glis beside its peers, in one run, as ratios.
//!
//! Numbers from two runs or two machines say little about each other; two programs that take turns
//! within one run meet the same noise. So every measure goes round the peers several times and the
//! medians are compared.
#![expect(clippy::cast_precision_loss, reason = "measurements are far below 2^52")]

mod board;
mod client;
mod fleet;
mod house;
mod kept;
mod output;
mod overview;
mod page;
mod payload;
mod pty;
mod report;
mod resume;
mod streams;

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo::{Workspace, cargo};
use crate::proc;
pub(crate) use overview::Window;
pub(crate) use pty::Terminal;

use board::{Board, ROWS, Reading};
use house::{Peer, Programs};
use streams::{Load, Stream};

const HELP: &str = "\
cargo xtask bench [MEASURE…] [--quick] [--peers A,B] [--passes N] [--out FILE] [--strict]

  cpu_detached  CPU of all holder-side processes per MB of output, with no client
  attached      MB/s of output through to a client's terminal
  mem200        memory of 200 idle sessions
  mem10k        memory that 10,000 lines of output add to a session
  attach        from starting a client to the full first picture
  echo          from a key to its echo
  idle          CPU of 100 idle sessions in a minute, each with a timer set
  ls            listing 100 sessions
  start         starting the daemon with 100,000 events in its log
  tui           the overview of 200 sessions: until it is there, until a key is on it, under a flood
  web           the page among 200 sessions: until an event, a key, the past are there, under a flood
  kept          saving and restoring worktrees, beside git's own ways
  resume        from `resume` to a real agent's first request, beside the agent by hand

  --quick       a smoke run: small loads, one pass, nothing written
  --peers       some of: glis tmux dtach floor
  --passes      how often each measure goes round the peers (3)
  --out         where the page goes (docs/benchmarks.md after a full run, else nowhere)
  --strict      fail when a bar is missed or unknown
";

type Measure = fn(&Plan, &mut Board);

const MEASURES: &[(&str, Measure)] = &[
    ("cpu_detached", output::cpu_detached),
    ("attached", output::attached),
    ("mem200", fleet::mem200),
    ("mem10k", output::mem10k),
    ("attach", client::attach),
    ("echo", client::echo),
    ("idle", fleet::idle),
    ("ls", fleet::ls),
    ("start", client::start),
    ("tui", overview::tui),
    ("web", page::web),
    ("resume", resume::resume),
    ("kept", kept::kept),
];

/// What one run does.
pub(crate) struct Plan {
    programs: Programs,
    peers: Vec<Peer>,
    passes: usize,
    /// Everything smaller by this much.
    divisor: usize,
    loads: Vec<Load>,
    /// A file of ten thousand lines.
    lines: PathBuf,
    idle: Duration,
}

/// What was asked for on the command line.
#[derive(Default)]
struct Wish {
    measures: Vec<String>,
    peers: Vec<Peer>,
    passes: Option<usize>,
    out: Option<PathBuf>,
    quick: bool,
    strict: bool,
    help: bool,
}

/// Builds what is needed, measures, and writes the page.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let wish = Wish::read(arguments)?;
    if wish.help {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    let workspace = Workspace::find()?;
    if cfg!(debug_assertions) {
        return again_as_dist(&workspace, &wish, arguments);
    }
    let root = tempfile::Builder::new().prefix("glb").rand_bytes(4).tempdir()?;
    let plan = wish.plan(&workspace, root.path())?;
    let mut sweeper = sweeper(&plan.programs)?;
    let mut board = Board::default();
    for (name, measure) in MEASURES {
        if wish.measures.is_empty() || wish.measures.iter().any(|wished| wished == name) {
            println!("--- {name}");
            measure(&plan, &mut board);
        }
    }
    drop(sweeper.stdin.take());
    sweeper.wait()?;
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let page = report::page(&plan, &board, &words.join(" "));
    println!("\n{page}");
    let whole = wish.measures.is_empty() && wish.peers.is_empty() && !wish.quick;
    let out = wish.out.or_else(|| whole.then(|| workspace.root.join("docs/benchmarks.md")));
    if let Some(out) = out {
        // Chapters that no bench measures stay as they are.
        let former = std::fs::read_to_string(&out).unwrap_or_default();
        let kept = former.find(report::COUNTED).and_then(|at| former.get(at..)).unwrap_or_default();
        std::fs::write(&out, page + kept).with_context(|| out.display().to_string())?;
        println!("written: {}", out.display());
    }
    let met = |row: &board::Row| row.met(&board) == Some(true);
    let asked = || ROWS.iter().filter(|row| board.holds(row.key));
    println!("bars met: {} of {}", asked().filter(|row| met(row)).count(), asked().count());
    let failed = wish.strict && !asked().all(met);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The verbs that the bench starts itself by.
pub(crate) fn inside(verb: &str, arguments: &[OsString]) -> Result<ExitCode> {
    match verb {
        "payload-cat" => payload::cat(arguments)?,
        "payload-echo" => payload::echo(arguments)?,
        "payload-flood" => payload::flood(arguments)?,
        "hold-floor" => payload::hold_floor(arguments)?,
        "save-large" => kept::save_large(arguments)?,
        "sweep" => sweep(arguments)?,
        other => bail!("no verb `{other}`"),
    }
    Ok(ExitCode::SUCCESS)
}

/// A debug build would be the slowest link in the chain: builds the programs of packages and goes on as
/// one of them.
fn again_as_dist(workspace: &Workspace, wish: &Wish, arguments: &[OsString]) -> Result<ExitCode> {
    // One after the other: together they would share features, and what is measured would be built
    // once more than what is run.
    let glis = wish.wants(Peer::Glis).then_some("glis");
    for package in glis.into_iter().chain(["xtask"]) {
        let mut build = cargo();
        build
            .args(["build", "--profile", "dist", "--package", package])
            .current_dir(&workspace.root);
        ensure!(build.status()?.success(), "the build failed");
    }
    let mut bench = Command::new(workspace.dist("xtask"));
    let status = bench.arg("bench").args(arguments).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Starts a process in a group of its own, beyond the reach of ctrl+c, that cleans up when we are
/// gone, however we went: its standard input ends with us.
fn sweeper(programs: &Programs) -> Result<Child> {
    let mut sweeper = Command::new(&programs.xtask);
    sweeper.arg("sweep").arg(&programs.run).arg(&programs.root).process_group(0);
    Ok(sweeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

/// `sweep RUN FOLDER`: waits for the end of its input, then ends what the run has left behind.
fn sweep(arguments: &[OsString]) -> Result<()> {
    let [run, folder] = arguments else { bail!("sweep RUN FOLDER") };
    std::io::stdin().read_to_end(&mut Vec::new())?;
    proc::end_marked(&format!("{}={}", house::MARK, run.to_string_lossy()));
    // A run that ended well has removed it itself.
    std::fs::remove_dir_all(folder).ok();
    Ok(())
}

impl Plan {
    /// Goes round `peers` as often as there are passes, so that noise meets them all alike.
    fn interleave(
        &self,
        peers: &[Peer],
        board: &mut Board,
        key: &str,
        sample: impl Fn(Peer) -> Result<Reading>,
    ) {
        for _ in 0..self.passes {
            for peer in peers {
                if !board.gave_up(key, *peer) {
                    board.take(key, *peer, sample(*peer));
                }
            }
        }
    }

    fn without(&self, left_out: Peer) -> Vec<Peer> {
        self.peers.iter().copied().filter(|peer| *peer != left_out).collect()
    }

    fn sessions(&self, full: usize) -> usize {
        (full / self.divisor).max(2)
    }

    fn tries(&self, full: usize) -> usize {
        (full / self.divisor).max(3)
    }
}

impl Wish {
    fn read(arguments: &[OsString]) -> Result<Self> {
        let mut wish = Self::default();
        let mut words = arguments.iter().map(|word| word.to_string_lossy().into_owned());
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--quick" => wish.quick = true,
                "--strict" => wish.strict = true,
                "--help" | "-h" => wish.help = true,
                "--passes" => wish.passes = Some(value()?.parse().context("--passes N")?),
                "--out" => wish.out = Some(PathBuf::from(value()?)),
                "--peers" => {
                    for name in value()?.split(',') {
                        let peer = Peer::ALL.into_iter().find(|peer| peer.name() == name);
                        wish.peers.push(peer.with_context(|| format!("no peer `{name}`"))?);
                    }
                }
                name if MEASURES.iter().any(|(known, _)| *known == name) => {
                    wish.measures.push(name.to_owned());
                }
                other => bail!("no measure `{other}`; `cargo xtask bench --help` lists them"),
            }
        }
        Ok(wish)
    }

    fn wants(&self, peer: Peer) -> bool {
        self.peers.is_empty() || self.peers.contains(&peer)
    }

    fn plan(&self, workspace: &Workspace, root: &Path) -> Result<Plan> {
        let programs = Programs {
            glis: workspace.dist("glis"),
            xtask: std::env::current_exe()?,
            root: root.to_owned(),
            run: format!("{}-{:?}", std::process::id(), std::time::SystemTime::now())
                .replace(|c: char| !c.is_ascii_digit() && c != '-', ""),
        };
        let wished = Peer::ALL.into_iter().filter(|peer| self.wants(*peer));
        let (here, absent): (Vec<Peer>, Vec<Peer>) =
            wished.partition(|peer| peer.is_there(&programs));
        for peer in absent {
            eprintln!("SKIPPED: {}: not here, or it cannot say its version", peer.name());
        }
        let lines = root.join("lines");
        std::fs::write(&lines, Stream::coloured_lines(10_000))?;
        Ok(Plan {
            programs,
            peers: here,
            passes: self.passes.unwrap_or(if self.quick { 1 } else { 3 }),
            divisor: if self.quick { 10 } else { 1 },
            loads: Load::store_all(root, if self.quick { 2_000_000 } else { 20_000_000 })?,
            lines,
            idle: Duration::from_secs(if self.quick { 3 } else { 60 }),
        })
    }
}
