//! The bot, the daemon or both are killed at every step of what is asked for in a chat: it is done once, and told.

use crate::support::bot::{BotHouse, ME};
use crate::support::house::{House, Outcome};
use crate::support::planned::{BRANCH, plan, task};
use glis_bot_api::Message;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dies {
    Bot,
    Daemon,
    Both,
}

const ALL: [Dies; 3] = [Dies::Bot, Dies::Daemon, Dies::Both];

/// How often it is looked whether a step is reached: a bot that is killed later than that is not killed there.
const LOOK: Duration = Duration::from_millis(3);
/// So many looks are a minute at least.
const LOOKS_MAX: usize = 20_000;

/// A house in which somebody dies at each of some points.
struct Doomed {
    bot: BotHouse,
    folder: PathBuf,
    dies: Dies,
    met: BTreeSet<String>,
}

impl Doomed {
    fn new() -> Outcome<Self> {
        let mut house = House::new()?;
        let folder = house.folder().join("points");
        std::fs::create_dir(&folder)?;
        house.surround("GLIS_FAILPOINT", format!("once:{}", folder.display()));
        let mut bot = BotHouse::over(house, "rehearsal", "")?;
        bot.start()?;
        Ok(Self { bot, folder, dies: Dies::Bot, met: BTreeSet::new() })
    }

    /// From now on these die, at each of these points once.
    fn at(&mut self, dies: Dies, points: &[String]) -> Outcome {
        for point in self.reached() {
            std::fs::remove_file(self.folder.join(point))?;
        }
        self.met.clear();
        self.dies = dies;
        let spare = self.folder.join("spare");
        match dies {
            Dies::Bot => std::fs::write(&spare, "")?,
            Dies::Daemon | Dies::Both => drop(std::fs::remove_file(&spare)),
        }
        let fresh = self.folder.join("fresh");
        std::fs::write(&fresh, points.join("\n"))?;
        // Read at any moment: never half of it.
        Ok(std::fs::rename(fresh, self.folder.join("points"))?)
    }

    fn reached(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.contains(':')).collect()
    }

    /// Waits for words while everyone dies where they are to.
    fn hear(&mut self, words: &str) -> Outcome<Message> {
        self.hear_like(words, |message| message.text.contains(words))
    }

    fn hear_like(&mut self, words: &str, fits: impl Fn(&Message) -> bool) -> Outcome<Message> {
        for _ in 0..LOOKS_MAX {
            self.kill_where_it_is_time()?;
            let own =
                |all: &[Message]| all.iter().rev().find(|it| it.chat == ME && fits(it)).cloned();
            if let Some(found) = self.bot.api.until_for(LOOK, own) {
                return Ok(found);
            }
        }
        let met = &self.met;
        self.bot.hear(words).map_err(|fault| format!("{:?} at {met:?}: {fault}", self.dies).into())
    }

    fn kill_where_it_is_time(&mut self) -> Outcome {
        let reached = self.reached();
        if reached == self.met {
            return Ok(());
        }
        self.met = reached;
        if self.dies != Dies::Daemon {
            self.bot.kill();
            self.bot.start()?;
        }
        Ok(())
    }

    /// Somebody has died at each of these.
    fn met_all(&mut self, points: &[String]) -> Outcome {
        for _ in 0..LOOKS_MAX {
            self.kill_where_it_is_time()?;
            if points.iter().all(|point| self.met.contains(point)) {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        Err(format!("of {points:?} only {:?} were met", self.met).into())
    }
}

/// Who dies, and where: a bot knows of a step only once it is written down.
fn deaths(steps: &[&str]) -> Vec<(Dies, String)> {
    let side = |dies: Dies| {
        let counts = move |point: &String| dies != Dies::Bot || point.starts_with("after:");
        sides(steps).into_iter().filter(counts).map(move |point| (dies, point)).collect::<Vec<_>>()
    };
    ALL.into_iter().flat_map(side).collect()
}

/// Each step from both sides.
fn sides(steps: &[&str]) -> Vec<String> {
    steps.iter().flat_map(|step| [format!("before:{step}"), format!("after:{step}")]).collect()
}

#[test]
fn a_session_is_made_once_whoever_dies() -> Outcome {
    let mut doomed = Doomed::new()?;
    let mut number = 0;
    for (dies, point) in deaths(&["session_created", "worktree_made", "creation_ended"]) {
        number += 1;
        let name = format!("s{number}");
        doomed.at(dies, std::slice::from_ref(&point))?;
        doomed.bot.say(&format!("/new {name}"));
        doomed.met_all(&[point])?;
        doomed.hear(&format!("Session {name} created."))?;
        doomed.at(dies, &[])?;
        doomed.bot.say(&format!("say from {name}."));
        doomed.hear(&format!("from {name}."))?;
        // There is a limit to how many live at once.
        doomed.bot.ask("/stop", "Session stopped.")?;
    }
    let all = doomed.bot.house.json(&["ls"])?;
    assert_eq!(all.as_array().map(Vec::len), Some(number), "{all}");
    Ok(())
}

#[test]
fn a_document_is_handed_over_once_whoever_dies() -> Outcome {
    let mut doomed = Doomed::new()?;
    doomed.bot.ask("/new blue", "Session blue created.")?;
    doomed.bot.ask("say ready.", "ready.")?;
    let mut number = 0;
    for (dies, point) in deaths(&["message_queued", "message_taken", "turn_ended"]) {
        number += 1;
        doomed.at(dies, std::slice::from_ref(&point))?;
        let (name, words) = (format!("notes{number}.txt"), format!("say got {number}."));
        doomed.bot.api.send(ME, "document", &name, name.as_bytes(), &words);
        doomed.met_all(&[point])?;
        let got = format!("got {number}.");
        let heard = doomed.hear(&got)?;
        let doubted = heard.text.starts_with("blue: Did the agent get this message?");
        if doubted {
            // Whether an agent has it cannot be known where a daemon dies while it hands it over: a person
            // is asked, and it may be twice then.
            doomed.bot.press("Send again")?;
            doomed.hear_like(&got, |message| message.text == got)?;
        }
        let path = doomed.bot.house.file("blue", &format!(".glis/files/{name}"))?;
        assert_eq!(std::fs::read_to_string(path)?, name);
        let told = crate::support::wreck::times_told(&doomed.bot.house, &words);
        assert!(told == 1 || doubted && told == 2, "{words}: {told} times");
    }
    // A copy that a dying daemon had made before it took the message stays, and nothing names it.
    let files = std::fs::read_dir(doomed.bot.house.file("blue", ".glis/files")?)?.count();
    assert!((number..=number + 2).contains(&files), "{files} of {number}");
    Ok(())
}

#[test]
fn an_archive_is_done_and_told_whoever_dies() -> Outcome {
    let mut doomed = Doomed::new()?;
    let mut number = 0;
    for (dies, point) in deaths(&["stop_began", "removal_began", "archived"]) {
        number += 1;
        let name = format!("s{number}");
        doomed.bot.ask(&format!("/new {name}"), &format!("Session {name} created."))?;
        doomed.bot.ask("say ready.", "ready.")?;
        doomed.bot.ask("/archive", "trash")?;
        doomed.at(dies, std::slice::from_ref(&point))?;
        doomed.bot.press("Archive")?;
        doomed.met_all(&[point])?;
        doomed.hear(&format!("Session {name} is archived."))?;
        doomed.at(dies, &[])?;
    }
    assert_eq!(doomed.bot.house.json(&["ls"])?, serde_json::json!([]));
    Ok(())
}

#[test]
fn a_plan_comes_to_its_end_and_tells_it_whoever_dies() -> Outcome {
    let steps = ["plan_begun", "run_began", "session_created", "turn_ended", "run_succeeded"];
    for dies in ALL {
        let mut doomed = Doomed::new()?;
        let tasks = [
            task("dust", "append dust.txt line", &[], None),
            task("air", "append air.txt line", &["dust"], None),
        ];
        plan(&doomed.bot.house, &tasks)?;
        doomed.bot.ask("/plan", "not executed yet")?;
        let points = sides(&steps);
        doomed.at(dies, &points)?;
        doomed.bot.say("/plan execute");
        doomed.met_all(&points)?;
        doomed.hear(&format!("All tasks are done: branch {BRANCH}"))?;
        for file in ["dust.txt", "air.txt"] {
            let merged = doomed.bot.house.git(&["show", &format!("{BRANCH}:{file}")])?;
            assert_eq!(merged.trim_end(), "line", "{dies:?}: {file} is written once");
        }
    }
    Ok(())
}

#[test]
fn a_loop_is_told_to_its_end_whoever_dies() -> Outcome {
    let steps = ["loop_looked_back", "loop_done"];
    for dies in ALL {
        let mut doomed = Doomed::new()?;
        let words = ["loop", "blue", "--agent", "rehearsal", "--headless", "--max", "2"];
        doomed.bot.house.json(&[&words[..], &["--prompt", "approve go on?"]].concat())?;
        // What it asked before that is shown again below, and has its buttons there.
        let mut last = doomed.bot.ask("/switch blue", "Switched to blue")?.id;
        let points = sides(&steps);
        doomed.at(dies, &points)?;
        for iteration in ["1 of 2", "2 of 2"] {
            // The former card may still have its buttons.
            let asked = "blue asks for approval";
            let card = doomed.hear_like(asked, |message| {
                let is_new = message.id > last && message.text.contains(asked);
                is_new && message.buttons.iter().any(|(label, _)| label == "Allow once")
            })?;
            last = card.id;
            let allow = card.buttons.iter().find(|(label, _)| label == "Allow once");
            doomed.bot.api.press_data(ME, ME, last, &allow.ok_or("no button")?.1);
            if iteration == "1 of 2" {
                doomed.hear("blue: iteration 1 of 2 is over")?;
            }
        }
        doomed.hear("blue: the loop is done: that was the last iteration.")?;
        doomed.met_all(&points)?;
        assert_eq!(doomed.bot.house.show("blue")?["loop"]["iteration"], 2);
    }
    Ok(())
}
