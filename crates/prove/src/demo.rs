//! The whole promise in a minute: agents at work, one paused in the middle of an edit, the daemon
//! killed, a plan killed and finished, everything compared with what it was. Fails loudly if anything
//! differs.

use crate::portrait::Portrait;
use crate::stage::{self, Stage, Voice, status_of};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Words that the streaming agent says: enough to be in the middle of them for a while.
const WORDS: usize = 80;

/// Plays the promise once, and says whether it held.
pub fn run(voice: Voice) -> ExitCode {
    let mut stage = match set(voice) {
        Ok(stage) => stage,
        Err(fault) => {
            let status = status_of(&fault);
            let failed = report(voice, &[], Err(fault));
            return status.unwrap_or(failed);
        }
    };
    let played = play(&mut stage);
    let steps = std::mem::take(&mut stage.printed);
    if let Some(signal) = stage.interrupted() {
        let ended = stage.strike();
        let fault = anyhow::anyhow!("interrupted; everything that it started has ended");
        report(voice, &steps, ended.and(Err(fault)));
        // As a shell tells of a signal.
        return ExitCode::from(128 + signal);
    }
    match played {
        Ok(()) => report(voice, &steps, stage.strike()),
        Err(fault) => {
            let kept = stage.leave();
            report(
                voice,
                &steps,
                Err(fault.context(format!("everything is kept in {}", kept.display()))),
            )
        }
    }
}

fn set(voice: Voice) -> Result<Stage> {
    let stage = Stage::set("glis-demo-", voice)?;
    for (name, text) in [("README", "A small project.\n"), ("main.c", "int main(void) {}\n")] {
        std::fs::write(stage.repo().join(name), text)?;
    }
    stage.commit("A small project")?;
    stage.git(&["checkout", "--quiet", "-b", "rival"])?;
    std::fs::write(stage.repo().join("main.c"), "int main(void) { return 1; }\n")?;
    stage.commit("A rival opinion")?;
    stage.git(&["checkout", "--quiet", "main"])?;
    Ok(stage)
}

fn play(stage: &mut Stage) -> Result<()> {
    stage.tell("a temporary home and a small repository; your own files are not touched");
    begin(stage)?;
    let before = pause_in_the_middle(stage)?;
    kill_the_daemon(stage)?;
    resume_and_compare(stage, &before)?;
    bring_back_a_conflict(stage)?;
    kill_a_plan(stage)?;
    nothing_missed(stage)?;
    stage.tell("nothing was lost");
    Ok(())
}

fn begin(stage: &mut Stage) -> Result<()> {
    stage.glis(&["new", "editor", "--agent", "rehearsal", "--headless"])?;
    stage.glis(&["new", "talker", "--agent", "rehearsal", "--headless"])?;
    let shell = stage.glis(&["new", "typist", "--agent", "rehearsal"])?;
    let branch = shell["branch"].as_str().unwrap_or_default().to_owned();
    stage.tell(&format!(
        "started three agents, each in its own worktree (one is on branch {branch})"
    ));
    stage.glis(&[
        "send",
        "editor",
        "write plan.txt Rename the main function. ;; touch-slowly notes.txt 400 40",
    ])?;
    stage.glis(&["send", "talker", &format!("stream {WORDS} 20")])?;
    stage.glis(&["send", "typist", "write hello.txt hello ;; say The file is written."])?;
    stage.glis(&["wait", "typist", "--for", "idle", "--timeout", "20s"])?;
    stage.tell("one edits files, one streams words, one works in a terminal");
    Ok(())
}

/// How far the editor is.
fn lines_of(tree: &Path) -> usize {
    let notes = std::fs::read(tree.join("notes.txt")).unwrap_or_default();
    notes.split(|byte| *byte == b'\n').count() - 1
}

/// What the paused session was, to be compared later.
struct Before {
    tree: PathBuf,
    portrait: Portrait,
    screen: Value,
    session_ref: Value,
}

fn pause_in_the_middle(stage: &mut Stage) -> Result<Before> {
    stage.glis(&["wait", "editor", "--for", "busy", "--timeout", "20s"])?;
    let shown = stage.glis(&["show", "editor"])?;
    let tree = PathBuf::from(shown["worktree"].as_str().context("its worktree")?);
    // In the middle means: some of the lines are written, most are not.
    stage.until("the editor has written 20 lines", || Ok(lines_of(&tree) >= 20))?;
    let began = Instant::now();
    let paused = stage.glis(&["pause", "editor"])?;
    let took = began.elapsed().as_millis();
    ensure!(paused["status"] == "paused", "the editor is {}", paused["status"]);
    ensure!(paused["pid"].is_null(), "a paused session still has a process");
    let portrait = stage.portrait(&tree)?;
    let lines = lines_of(&tree);
    ensure!((20..400).contains(&lines), "the pause came too late or too early: {lines} lines");
    stage.tell(&format!(
        "paused the editor in {took} ms, after line {lines} of 400; no process of it is left"
    ));
    stage.glis(&["send", "editor", "recall"])?;
    stage.tell("sent it a message, which stays queued while it is paused");
    let screen = stage.glis(&["screen", "typist"])?;
    Ok(Before { tree, portrait, screen, session_ref: paused["agent_session_ref"].clone() })
}

fn kill_the_daemon(stage: &mut Stage) -> Result<()> {
    let talker = stage.glis(&["show", "talker"])?;
    ensure!(talker["status"] == "busy", "the talker should be in the middle of its words");
    let pid = stage.kill_daemon()?;
    stage.tell(&format!("kill -9 {pid}: killed the daemon while the talker streams"));
    let began = Instant::now();
    let after = stage.glis(&["show", "talker"])?;
    let took = began.elapsed().as_millis();
    ensure!(after["pid"] == talker["pid"], "the talker has another process than before");
    ensure!(after["generation"] == talker["generation"], "the talker was started again");
    stage.tell(&format!(
        "the next command started a new daemon in {took} ms; every agent still runs, same process"
    ));
    Ok(())
}

fn resume_and_compare(stage: &mut Stage, before: &Before) -> Result<()> {
    let screen = stage.glis(&["screen", "typist"])?;
    ensure!(screen == before.screen, "the typist's screen differs");
    let paused = stage.glis(&["show", "editor"])?;
    ensure!(paused["status"] == "paused", "the editor is {} after the crash", paused["status"]);
    ensure!(paused["queued"] == 1, "its message is gone");
    ensure!(stage.portrait(&before.tree)? == before.portrait, "the editor's files differ");
    let began = Instant::now();
    let resumed = stage.glis(&["resume", "editor"])?;
    let took = began.elapsed().as_millis();
    ensure!(
        resumed["agent_session_ref"] == before.session_ref,
        "it came back in another conversation"
    );
    stage.tell(&format!("resumed the editor in {took} ms, in the same conversation"));
    stage.until("the editor has answered", || {
        stage.glis(&["wait", "editor", "--for", "idle", "--timeout", "20s"])?;
        Ok(!stage.answers("editor")?.is_empty())
    })?;
    stage.glis(&["wait", "editor", "--for", "idle", "--timeout", "20s"])?;
    let after = stage.portrait(&before.tree)?;
    ensure!(after == before.portrait, "the editor's files differ after the resume");
    let said = stage.answers("editor")?;
    let memory = said.last().context("the editor said nothing")?;
    ensure!(memory.starts_with("I remember 2 messages"), "its memory: {memory}");
    stage.tell(&format!(
        "its {} files are the same, byte for byte; it got the queued message once and remembers all",
        before.portrait.files()
    ));
    Ok(())
}

/// A merge conflict in progress survives the worst that git can do to a worktree.
fn bring_back_a_conflict(stage: &mut Stage) -> Result<()> {
    let made = stage.glis(&["new", "merger", "--agent", "rehearsal", "--headless"])?;
    let tree = PathBuf::from(made["worktree"].as_str().context("its worktree")?);
    let branch = made["branch"].as_str().context("its branch")?.to_owned();
    stage.glis(&[
        "send",
        "merger",
        "write main.c int main(void) { return 2; } ;; \
         run git commit --quiet --all --message=Ours ;; run git merge rival ;; \
         write why.txt We disagree. ;; say In conflict.",
    ])?;
    stage
        .until("the merger has a conflict", || Ok(stage.answers("merger")? == ["In conflict."]))?;
    stage.glis(&["wait", "merger", "--for", "idle", "--timeout", "20s"])?;
    let stages = stage.git_in(&tree, &["ls-files", "--unmerged"])?;
    let stages = String::from_utf8_lossy(&stages).lines().count();
    ensure!(stages == 3, "there is no conflict: {stages} stages");
    let before = stage.portrait(&tree)?;
    stage.tell("a fourth agent is in the middle of a merge with a conflict");
    stage.glis(&["pause", "merger"])?;
    let path = tree.to_string_lossy().into_owned();
    stage.git(&["worktree", "remove", "--force", "--force", &path])?;
    stage.git(&["branch", "--quiet", "-D", &branch, "rival"])?;
    let expire = ["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"];
    stage.git(&expire)?;
    stage.git(&["gc", "--quiet", "--prune=now"])?;
    ensure!(!tree.exists(), "{path} is still there");
    stage.tell("paused it, removed its worktree by force, deleted both branches, gc --prune=now");
    let began = Instant::now();
    stage.glis(&["resume", "merger"])?;
    let took = began.elapsed().as_millis();
    let differences = before.differences(&stage.portrait(&tree)?);
    ensure!(differences.is_empty(), "the conflict differs: {}", differences.join("; "));
    stage.tell(&format!(
        "resumed it in {took} ms: the conflict with its {stages} stages, MERGE_HEAD and every byte"
    ));
    Ok(())
}

/// Three tasks, of which the last needs the others.
const PLAN: &str = r#"
[plan]
title = "Demo"

[[task]]
id = "parser"
agent = "rehearsal"
prompt = "write parser.c int parse(void); ;; work 2"

[[task]]
id = "printer"
agent = "rehearsal"
prompt = "write printer.c int print(void); ;; work 2"

[[task]]
id = "program"
agent = "rehearsal"
prompt = "run cat parser.c printer.c > program.c"
needs = ["parser", "printer"]
accept = "grep -q parse program.c && grep -q print program.c"
"#;

/// A plan whose window and daemon are killed while its tasks are worked on is finished all the same.
fn kill_a_plan(stage: &mut Stage) -> Result<()> {
    std::fs::create_dir_all(stage.repo().join(".glis"))?;
    std::fs::write(stage.repo().join(".glis/plan.toml"), PLAN)?;
    let window = stage.start(&["execute", "--jobs", "2"])?;
    stage.until("two tasks are worked on", || {
        let listed = stage.glis(&["ls"])?;
        let of_plan = |session: &&Value| session["status"] == "busy" && session["task"].is_string();
        Ok(listed.as_array().context("sessions")?.iter().filter(of_plan).count() == 2)
    })?;
    Stage::kill(window)?;
    let pid = stage.kill_daemon()?;
    stage.tell(&format!(
        "two tasks of a plan are worked on: killed its window and, with kill -9 {pid}, the daemon"
    ));
    let began = Instant::now();
    let plan = stage.glis(&["execute"])?;
    let took = began.elapsed().as_millis();
    ensure!(plan["done"] == true, "the plan is not done: {plan}");
    let runs = stage.glis(&["runs"])?;
    let runs = runs.as_array().context("runs")?;
    let done = runs.iter().filter(|run| run["state"] == "succeeded").count();
    ensure!((runs.len(), done) == (3, 3), "a task was done twice, or not at all: {runs:?}");
    let branch = plan["branch"].as_str().context("its branch")?;
    let program = stage.git(&["show", &format!("{branch}:program.c")])?;
    let program = String::from_utf8_lossy(&program);
    ensure!(program == "int parse(void);int print(void);", "its work: {program}");
    stage.tell(&format!(
        "the next window finished it in {took} ms: {done} tasks, each done once and merged into {branch}"
    ));
    Ok(())
}

fn nothing_missed(stage: &mut Stage) -> Result<()> {
    stage.glis(&["wait", "talker", "--for", "idle", "--timeout", "30s"])?;
    let words = stage.answers("talker")?;
    let wanted: Vec<String> = (1..=WORDS).map(|n| format!("word{n}")).collect();
    ensure!(words == wanted, "the talker's words are not what it said: {words:?}");
    stage.tell(&format!("all {WORDS} words of the talker are there: each once, in order"));
    Ok(())
}

fn report(voice: Voice, steps: &[Value], result: Result<()>) -> ExitCode {
    let fault = result.err().map(|fault| format!("{fault:#}"));
    let document = json!({"ok": fault.is_none(), "steps": steps, "failure": fault});
    stage::report(voice, "demo", &document)
}
