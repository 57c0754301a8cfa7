//! The page that a run leaves behind: the table, and under what circumstances it came about.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use super::Plan;
use super::board::{Bar, Board, ROWS, Row};
use super::house::Peer;

/// With more CPUs than this busy elsewhere, a row says more about the neighbours than about us.
const OTHERS_MAX: f64 = 0.3;

/// How the chapter begins that is written by hand, at the end of the page.
pub(crate) const COUNTED: &str = "\n## Counted costs\n";

/// The page in Markdown.
pub(crate) fn page(plan: &Plan, board: &Board, words: &str) -> String {
    let mut page = String::from("# Benchmarks\n\n");
    page.push_str(
        "glis beside tmux, dtach and the floor (a terminal and a bare read loop), taking turns in one run. Read the\n\
         ratios; the figures themselves belong to the machine. *CPU* and memory are those of all holder-side\n\
         processes together: tmux's server, dtach's masters, glis' daemon and holders. *resume* is the time from the command\n\
         to the agent's first request to its model; its floor is the same agent, started by hand in the same way.\n\
         *tui* is the overview of 200 sessions with one in hand that prints 20 MB/s. open: until the whole list is shown; key:\n\
         from a key to the picture that shows it, the slowest of a hundred (p99); flood: CPUs of the program, its floor the\n\
         emulator alone on as many of the same bytes.\n\
         *web* is the page's server before the same sessions, seen by a client on loopback. event: from sending a change to\n\
         its event in the stream, with the log's sync in between (p99); key: from a key to the frame with its row (p95); grown:\n\
         what ten seconds of the flood add to its memory; past: the slowest of 200 jumps through all that the flood left.\n\
         *snapshot* and *restore* are of a worktree of 20,000 files. few: 50 changed and 20 untracked, beside `git stash push\n\
         --include-untracked` and `pop`; the floor is a bare `lstat` of every file. again: with nothing changed since, and no\n\
         object made. many: 2,000 changed and 2,000 untracked, beside `git add --all` with each object synced. large: what an\n\
         untracked file of 2 GiB adds to the memory of whoever saves it. restore: into an empty place, beside `git worktree add`.\n\n",
    );
    page.push_str(
        "| measure | unit | glis | tmux | dtach | git | floor | ratio | bar | met? | others |\n",
    );
    page.push_str("|---|---|---:|---:|---:|---:|---:|---:|---|---|---:|\n");
    for row in ROWS.iter().filter(|row| board.holds(row.key)) {
        page.push_str(&line(row, board));
    }
    page.push_str(
        "\n*others*: CPUs that were busy with processes not of this run, kernel threads left out; a row marked ⚠ \
         (above 0.3) is\nto be measured again on a quieter machine. A dash: the peer has no such thing, or see below.\n",
    );
    failures(&mut page, board);
    circumstances(&mut page, plan, words);
    page
}

fn line(row: &Row, board: &Board) -> String {
    let mut line = format!("| {} | {} |", row.key, row.unit);
    for peer in Peer::COLUMNS {
        let shown = board.value(row.key, peer).map_or_else(|| "—".to_owned(), number);
        write!(line, " {shown} |").ok();
    }
    let ratio = row.ratio(board);
    let ratio = ratio.map_or_else(|| "—".to_owned(), |(r, of)| format!("{r:.2} × {}", of.name()));
    let met = match row.met(board) {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "not measured",
    };
    let others = board.others(row.key).map_or_else(
        || "—".to_owned(),
        |others| format!("{others:.2}{}", if others > OTHERS_MAX { " ⚠" } else { "" }),
    );
    writeln!(line, " {ratio} | {} | {met} | {others} |", bar(row)).ok();
    line
}

fn bar(row: &Row) -> String {
    match row.bar {
        Bar::AtMost { times, of } => format!("≤ {times} × {}", of.name()),
        Bar::AtLeast { times, of } => format!("≥ {times} × {}", of.name()),
        Bar::Below(limit) => format!("≤ {limit} {}", row.unit),
        Bar::Above(limit) => format!("≥ {limit} {}", row.unit),
        Bar::Within { more, of } => format!("≤ {} + {more} {}", of.name(), row.unit),
    }
}

/// Three digits that count, whatever the size.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn failures(page: &mut String, board: &Board) {
    let mut heading = "\n## Not measured\n\n";
    for (key, peer, why) in board.failures() {
        page.push_str(heading);
        heading = "";
        let why: String = why.lines().next().unwrap_or_default().chars().take(160).collect();
        writeln!(page, "- {key}, {}: {why}", peer.name()).ok();
    }
}

fn circumstances(page: &mut String, plan: &Plan, words: &str) {
    let versions: Vec<String> =
        plan.peers.iter().filter_map(|peer| peer.version(&plan.programs)).collect();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let machine = format!("{cores} cores, {}, {}", cpu_model(), kernel());
    let load = format!(
        "{} passes, medians; streams of {:.0} MB; idle window {} s; terminals of 120×40; tmux keeps 10,000 lines",
        plan.passes,
        plan.loads.first().map_or(0.0, |load| load.mb),
        plan.idle.as_secs()
    );
    page.push_str("\n## How\n\n");
    for (name, text) in [
        ("command", format!("`{}`", format!("cargo xtask bench {words}").trim_end())),
        ("load", load),
        ("machine", machine),
        ("versions", versions.join("; ")),
        ("date", today()),
    ] {
        writeln!(page, "- {name}: {text}").ok();
    }
}

fn cpu_model() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| "unknown CPU".to_owned(), |(_, name)| name.trim().to_owned())
}

/// From its own files: a feature of a library that only this tool asks for would have every crate
/// below built twice, once with it and once without.
fn kernel() -> String {
    let told = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
        text.trim().to_owned()
    };
    format!("{} {}", told("ostype"), told("osrelease"))
}

/// The day in UTC; `date` knows calendars, so we need not.
fn today() -> String {
    let said = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    said.unwrap_or_else(|_| "unknown".to_owned())
}
