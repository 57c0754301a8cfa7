//! The processes that an agent had started, so that a person can read them: one short line a program,
//! with how often it was there.

use super::plain;
use glis_wire::view::CompanionView;
use std::path::Path;

/// As much of a command line as says which one it is.
const COMMAND_CHARS_MAX: usize = 60;
/// More lines than this are not read; the JSON has all of them.
const LINES_MAX: usize = 8;

/// Several lines under one heading, or nothing.
pub(super) fn listed(heading: &str, companions: &[CompanionView]) -> Vec<String> {
    let lines = lines(companions);
    if lines.is_empty() {
        return Vec::new();
    }
    let first = format!("{heading}:");
    std::iter::once(first).chain(lines.into_iter().map(|line| format!("  {line}"))).collect()
}

/// The same in one line.
pub(super) fn companions(companions: &[CompanionView]) -> Option<String> {
    let lines = lines(companions);
    (!lines.is_empty()).then(|| lines.join("; "))
}

fn lines(companions: &[CompanionView]) -> Vec<String> {
    // Those that read alike are told once, where the first of them stood.
    let mut groups: Vec<(String, Vec<&CompanionView>)> = Vec::new();
    for one in companions {
        let command = short(&one.command);
        match groups.iter_mut().find(|(known, _)| *known == command) {
            Some((_, group)) => group.push(one),
            None => groups.push((command, vec![one])),
        }
    }
    let beyond: usize = groups.iter().skip(LINES_MAX).map(|(_, group)| group.len()).sum();
    let shown = groups.iter().take(LINES_MAX).map(|(command, group)| line(command, group));
    let rest = (beyond > 0).then(|| format!("and {beyond} more; --json has all of them"));
    shown.chain(rest).collect()
}

fn line(command: &str, group: &[&CompanionView]) -> String {
    let mut facts = Vec::new();
    match group {
        [one] if one.pid > 0 => facts.push(format!("pid {}", one.pid)),
        [_] | [] => {}
        several => facts.push(format!("{} processes", several.len())),
    }
    let mut ports: Vec<u16> = group.iter().flat_map(|one| one.ports.iter().copied()).collect();
    ports.sort_unstable();
    ports.dedup();
    if !ports.is_empty() {
        let ports: Vec<_> = ports.iter().map(ToString::to_string).collect();
        facts.push(format!("port {}", ports.join(", ")));
    }
    if facts.is_empty() { command.to_owned() } else { format!("{command} ({})", facts.join(", ")) }
}

/// The first line of a command, its program without its folder, cut.
fn short(command: &str) -> String {
    let first = command.trim().lines().next().unwrap_or_default();
    let (program, rest) = first.split_once(' ').unwrap_or((first, ""));
    let name = Path::new(program).file_name().map_or(program.into(), |name| name.to_string_lossy());
    let whole = plain(format!("{name} {rest}").trim());
    if whole.is_empty() {
        return "a process without a command line".to_owned();
    }
    let cut: String = whole.chars().take(COMMAND_CHARS_MAX).collect();
    if cut.len() < whole.len() || command.trim().lines().nth(1).is_some() {
        return format!("{}\u{2026}", cut.trim_end());
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(pid: i32, command: &str, ports: &[u16]) -> CompanionView {
        CompanionView { pid, command: command.to_owned(), cwd: None, ports: ports.to_vec() }
    }

    #[test]
    fn many_of_a_kind_are_one_line() {
        let many: Vec<_> = (1..=200).map(|pid| one(pid, "/usr/bin/node worker.js", &[])).collect();
        assert_eq!(companions(&many).unwrap(), "node worker.js (200 processes)");
    }

    #[test]
    fn a_whole_script_an_empty_name_and_a_server_read_well() {
        let script = format!("sh -c set -e\n{}", "echo very long; ".repeat(50));
        let three =
            [one(7, &script, &[]), one(8, "", &[]), one(9, "python3 -m http.server", &[8000])];
        assert_eq!(
            listed("ended with it", &three),
            [
                "ended with it:",
                "  sh -c set -e\u{2026} (pid 7)",
                "  a process without a command line (pid 8)",
                "  python3 -m http.server (pid 9, port 8000)",
            ]
        );
    }

    #[test]
    fn what_nobody_would_read_is_counted() {
        let many: Vec<_> = (1..=20).map(|pid| one(pid, &format!("tool{pid} x"), &[])).collect();
        let told = listed("ended with it", &many);
        assert_eq!(told.len(), 10);
        assert_eq!(told.last().unwrap(), "  and 12 more; --json has all of them");
    }
}
