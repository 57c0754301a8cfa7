//! Keys, sizes and signals as nobody would give them: the overview leaves the terminal as it was, always.

use super::overview::{opened, overview_pid};
use crate::support::dice::Dice;
use crate::support::house::{House, Outcome, eventually, lives};
use crate::support::seeds;
use crate::support::tmux::Tmux;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

/// Starts the program again and again, and writes down what it left behind. What is typed in between waits
/// for the next one: a shell would run it.
const AGAIN_AND_AGAIN: &str = r#"
trap '' INT QUIT TSTP
n=0
while [ ! -e "$HERE/stop" ]; do
    n=$((n + 1))
    before=$(stty -g)
    glis
    code=$?
    [ "$before" = "$(stty -g)" ] || echo "run $n: the terminal is not as it was" >> "$HERE/faults"
    # 130: an interrupt that was typed before the program had the terminal, and so was the shell's to take.
    case $code in 0|1|130) ;; *) echo "run $n: exit $code" >> "$HERE/faults" ;; esac
    echo "$n" > "$HERE/runs"
done
: > "$HERE/over"
# What is typed and not read would be the shell's: all of it, up to half a second of silence.
stty -icanon -echo min 0 time 5
cat > /dev/null
stty "$before"
printf '\nall-is-over\n'
"#;

/// What is printed when everything is over.
const LAST: &[u8] = b"\nall-is-over";

/// How many keys a seed plays unless `GLIS_KEYS` says otherwise, in strokes of so many.
const KEYS: usize = 1500;
const STROKE: u64 = 12;

/// Keys that lead somewhere, and things that a terminal says by itself.
const WORDS: &[&[u8]] = &[
    b"\r",
    b"\x1b",
    b"\t",
    b"\x7f",
    b"\x11",
    b"\x18p",
    b"\x03",
    b"\x1a",
    b"\x0c",
    b"\x1b[A",
    b"\x1b[B",
    b"\x1b[5~",
    b"\x1b[6~",
    b"\x1b[H",
    b"\x1b[F",
    b"\x1b[Z",
    b"\x1b[I",
    b"\x1b[O",
    b"\x1b[<0;5;5M",
    b"\x1b[<0;9;9m",
    b"\x1b[<64;40;9M",
    b"\x1b[<32;70;20M",
    b"\x1b[200~pasted\nD y q\x1b[201~",
    b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b[99;5u",
    b"\x1b[1089::99;5u",
    b"\xe6\x97\xa5",
    b"\xff",
    b"\x1b[",
    b"a",
    b"i",
    b"y",
    b"w",
    b":",
    b"/",
    b"?",
    b"@",
    b"p",
    b"u",
    b"s",
];

fn stroke(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..STROKE {
        if dice.below(3) == 0 {
            bytes.extend_from_slice(dice.one_of::<&[u8]>(WORDS));
        } else {
            bytes.push(33 + u8::try_from(dice.below(94)).unwrap_or(0));
        }
    }
    bytes
}

/// Everything that is written to a terminal from now on, in a file.
fn recorded(tmux: &Tmux<'_>, house: &House, name: &str) -> Outcome<PathBuf> {
    let file = house.folder().join(name);
    tmux.run(&["pipe-pane", "-t", "one", &format!("cat > '{}'", file.display())])?;
    eventually("the record is there", || file.exists())?;
    Ok(file)
}

/// The modes that what was written leaves set: private ones by their number, and the stack of keyboards.
fn left_set(written: &[u8]) -> BTreeSet<String> {
    let mut set = BTreeSet::new();
    let mut keyboards = 0_u32;
    for part in written.split(|byte| *byte == 0x1b) {
        let Some(rest) = part.strip_prefix(b"[") else { continue };
        let end = rest.iter().position(|byte| (0x40..0x7f).contains(byte)).unwrap_or(rest.len());
        let (words, last) = (rest.get(..end).unwrap_or_default(), rest.get(end).copied());
        let words = String::from_utf8_lossy(words).into_owned();
        match (words.strip_prefix('?'), last) {
            (Some(numbers), Some(b'h')) => set.extend(numbers.split(';').map(ToOwned::to_owned)),
            (Some(numbers), Some(b'l')) => {
                for number in numbers.split(';') {
                    set.remove(number);
                }
            }
            (_, Some(b'u')) if words.starts_with('>') => keyboards += 1,
            (_, Some(b'u')) if words.starts_with('<') => {
                let count = words.trim_start_matches('<').parse().unwrap_or(1);
                keyboards = keyboards.saturating_sub(count);
            }
            _ => {}
        }
    }
    // The cursor is seen and lines wrap unless somebody says otherwise, and shells mark what is pasted.
    for usual in ["25", "7", "2004"] {
        set.remove(usual);
    }
    set.extend((keyboards > 0).then(|| format!("{keyboards} keyboards")));
    set
}

/// How many pictures were drawn on the shell's own screen.
fn pictures_outside(written: &[u8]) -> usize {
    let mut ours = false;
    let mut outside = 0;
    for part in written.split(|byte| *byte == 0x1b) {
        ours = (ours || part.starts_with(b"[?1049h")) && !part.starts_with(b"[?1049l");
        outside += usize::from(!ours && part.starts_with(b"[?2026h"));
    }
    outside
}

/// What a terminal is set to, as far as tmux tells.
fn facts(tmux: &Tmux<'_>) -> Outcome<String> {
    let all = "#{alternate_on} #{cursor_flag} #{insert_flag} #{keypad_flag} #{keypad_cursor_flag} \
               #{mouse_any_flag} #{mouse_sgr_flag} #{mouse_all_flag} #{origin_flag} #{wrap_flag}";
    let tty = tmux.fact("one", "#{pane_tty}")?;
    let stty = Command::new("stty").args(["-F", &tty, "-g"]).output()?;
    Ok(format!("{} {}", String::from_utf8(stty.stdout)?.trim(), tmux.fact("one", all)?))
}

/// Plays a seed on a house with a terminal session, a headless one and a program that leaves modes behind.
fn play(seed: u64) -> Outcome {
    eprintln!("GLIS_SEED={seed}");
    let house = House::new()?;
    house.in_terminal("blue")?;
    house.rehearsal("green")?;
    let odd = "printf '\\033[?1003h\\033[?1049h\\033[?1h\\033=\\033[?2004h\\033[4h'; exec cat";
    house.ok(&["new", "odd", "--agent", "command", "--", "sh", "-c", odd])?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    let (here, before) = (house.folder().join("chaos"), facts(&tmux)?);
    std::fs::create_dir(&here)?;
    std::fs::write(here.join("script"), AGAIN_AND_AGAIN)?;
    let record = recorded(&tmux, &house, "record")?;
    let (folder, script) = (here.display().to_string(), here.join("script"));
    tmux.line("one", &format!("clear; EDITOR=true HERE='{folder}' sh '{}'", script.display()))?;
    tmux.sees("one", "? keys")?;
    let mut dice = Dice::of(seed | 1);
    let (mut keys, wish) = (0, std::env::var("GLIS_KEYS").ok());
    let wanted = wish.map_or(Ok(KEYS), |wish| wish.parse())?;
    while keys < wanted {
        let bytes = stroke(&mut dice);
        keys += usize::try_from(STROKE)?;
        tmux.bytes("one", &bytes)?;
        if dice.below(4) == 0 {
            let (columns, rows) = (1 + dice.below(180), 1 + dice.below(60));
            let size = ["-x", &columns.to_string(), "-y", &rows.to_string()];
            tmux.run(&[&["resize-window", "-t", "one"], &size[..]].concat())?;
        }
    }
    std::fs::write(here.join("stop"), "")?;
    tmux.run(&["resize-window", "-t", "one", "-x", "80", "-y", "24"])?;
    // Out of a session, out of a box, out of the program: each is a key of its own, wherever it is by now.
    // A program that still reads thousands of keys takes these for a part of them, so they are pressed again.
    eventually("it is over", || {
        for key in ["C-q", "Escape", "q"] {
            tmux.key("one", key).ok();
            // An escape and a key right behind it would be one key, and no event tells that it was taken.
            std::thread::sleep(std::time::Duration::from_millis(60));
        }
        here.join("over").exists()
    })
    .map_err(|fault| {
        format!("seed {seed}: {fault}:\n{}", tmux.screen("one").unwrap_or_default())
    })?;
    tmux.left("one", "all-is-over")?;
    let faults = std::fs::read_to_string(here.join("faults")).unwrap_or_default();
    assert!(faults.is_empty(), "seed {seed}: {faults}");
    assert_eq!(facts(&tmux)?, before, "seed {seed}");
    // What writes it down reads a pipe, and may be behind what is seen.
    eventually("all of it is recorded", || {
        let written = std::fs::read(&record).unwrap_or_default();
        written.windows(LAST.len()).any(|part| part == LAST)
    })?;
    let written = std::fs::read(record)?;
    let left = left_set(&written);
    assert!(left.is_empty(), "seed {seed}: modes are left set: {left:?}");
    assert_eq!(pictures_outside(&written), 0, "seed {seed}: drawn on the shell's screen");
    // The house is as whole as its sessions are.
    house.json(&["ls"]).map(drop)
}

#[test]
fn random_keys_and_sizes_leave_the_terminal_as_it_was() -> Outcome {
    for seed in [11, 4711] {
        play(seed)?;
    }
    Ok(())
}

#[test]
fn keys_that_no_run_has_pressed_before_leave_the_terminal_as_it_was() -> Outcome {
    let wish = std::env::var("GLIS_SEED").ok();
    for seed in seeds::fresh(wish.as_deref(), 1)? {
        play(seed)?;
    }
    Ok(())
}

#[test]
fn every_signal_that_ends_it_and_what_an_agent_left_behind_are_undone() -> Outcome {
    let house = House::new()?;
    let odd = "printf '\\033[?1003h\\033[?1049h\\033[?1h\\033=\\033[?2004h\\033[4h\\033[>5uODD'; exec cat";
    house.ok(&["new", "odd", "--agent", "command", "--", "sh", "-c", odd])?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    let before = facts(&tmux)?;
    for signal in ["HUP", "INT", "QUIT", "TERM", "KILL"] {
        let record = recorded(&tmux, &house, signal)?;
        opened(&tmux)?;
        tmux.sees("one", "ODD")?;
        // Attached and left again: what its program has set is not what the overview sets.
        tmux.key("one", "Enter")?;
        tmux.until("one", |screen| screen.contains("ODD") && !screen.contains("? keys"))?;
        if signal != "TERM" {
            tmux.key("one", "C-q")?;
            tmux.sees("one", "? keys")?;
        }
        let pid = overview_pid(&tmux)?;
        Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status()?;
        eventually("it has ended", || !lives(pid))?;
        eventually(signal, || facts(&tmux).is_ok_and(|now| now == before))?;
        eventually("every mode is as before", || {
            std::fs::read(&record).is_ok_and(|written| left_set(&written).is_empty())
        })
        .map_err(|fault| {
            let left = left_set(&std::fs::read(&record).unwrap_or_default());
            format!("{signal}: {fault}: {left:?}")
        })?;
        tmux.line("one", "clear; echo here-again")?;
        tmux.sees("one", "here-again")?;
    }
    Ok(())
}
