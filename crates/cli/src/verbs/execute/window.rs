//! The window of `execute` on a terminal: the tree of a plan as it stands, drawn again where it is.

use crate::control;
use crate::words;
use glis_client::Client;
use glis_client::labels::task_mark;
use glis_core::plain::in_one_line;
use glis_core::plan::{RunState, TaskSpec};
use glis_core::talk::AskKind;
use glis_core::verdict::Want;
use glis_verbs::Complaint;
use glis_wire::client::{Action, Request, Response};
use glis_wire::plan::{PlanView, RunView, TaskState, TaskView};
use glis_wire::view::{SessionView, dollars};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A terminal that does not tell its size has this one.
const USUAL: (usize, usize) = (80, 24);
/// So many cells the bar has.
const BAR: usize = 20;
/// Agents are looked at this often: their words flow, and no event tells so.
const LOOK: Duration = Duration::from_secs(2);

/// What stood there for less than this was not read.
const READ: Duration = Duration::from_millis(700);

/// A question that is on the terminal whole.
#[derive(Clone)]
struct Shown {
    task: String,
    session: String,
    request: String,
    choices: Vec<String>,
    since: Instant,
}

/// What was typed, and the question that it was typed to.
struct Typed {
    line: String,
    to: Option<Shown>,
}

/// What is drawn, and what it is drawn from.
pub(super) struct Window {
    plan: PlanView,
    /// Asks for it as it is: tasks are added, and others may work on it too.
    show: Request,
    /// The sessions at work, by their ids.
    sessions: BTreeMap<String, SessionView>,
    /// So many lines stand on the terminal.
    drawn: usize,
    looked: Option<Instant>,
    typed: Receiver<Typed>,
    shown: Arc<Mutex<Option<Shown>>>,
    /// What was said to that.
    note: Option<String>,
}

impl Window {
    /// A window, where there is a terminal to draw it on.
    pub(super) fn open(plan: &PlanView, show: Request) -> Option<Self> {
        if !io::stdout().is_terminal() {
            return None;
        }
        let (say, typed) = channel();
        let shown: Arc<Mutex<Option<Shown>>> = Arc::default();
        if io::stdin().is_terminal() {
            let on_screen = Arc::clone(&shown);
            let read = move || {
                let mut lines = io::stdin().lock().lines().map_while(Result::ok);
                lines.all(|line| {
                    let shown = held(&on_screen).clone();
                    let to = shown.filter(|shown| shown.since.elapsed() >= READ);
                    say.send(Typed { line, to }).is_ok()
                })
            };
            drop(std::thread::Builder::new().name("typed".to_owned()).spawn(read));
        }
        let (plan, sessions) = (plan.clone(), BTreeMap::new());
        Some(Self { plan, show, sessions, drawn: 0, looked: None, typed, shown, note: None })
    }

    /// A run has become something else.
    pub(super) fn hear(&mut self, run: &RunView) {
        for task in self.plan.tasks.iter_mut().filter(|task| task.id == run.task_id) {
            task.state = TaskState::Run(run.state);
            task.run = Some(run.clone());
        }
        self.looked = None;
        self.draw();
    }

    /// Time has passed: what is typed is answered, and agents are looked at again.
    pub(super) fn pass(&mut self) -> Result<(), Complaint> {
        while let Ok(typed) = self.typed.try_recv() {
            // The line that was typed stands below what is drawn.
            self.drawn += 1;
            self.note = answer(&typed);
            self.looked = None;
        }
        let is_due = self.looked.is_none_or(|at| at.elapsed() >= LOOK);
        if is_due {
            self.looked = Some(Instant::now());
            self.look(&mut control::connect()?);
            self.draw();
        }
        Ok(())
    }

    fn look(&mut self, control: &mut Client) {
        if let Ok(Response::Plan(plan)) = control.call(self.show.clone())
            && plan.id == self.plan.id
        {
            self.plan = *plan;
        }
        let at_work = |task: &TaskView| {
            let run = task.run.as_ref().filter(|run| run.commit.is_none())?;
            run.session.clone()
        };
        let ids: Vec<String> = self.plan.tasks.iter().filter_map(at_work).collect();
        for id in ids {
            let shown = control.call(Request::Show { session: id.clone() });
            if let Ok(Response::Session(session)) = shown {
                self.sessions.insert(id, *session);
            }
        }
    }

    /// The first question of an agent, and all that it asks; none of it can be answered here that is not shown whole.
    fn question(&self, columns: usize, rows: usize) -> Option<(Option<Shown>, Vec<String>)> {
        let asks = |task: &TaskView| {
            let run = task.run.as_ref().filter(|run| run.asks.is_some())?;
            let session = self.sessions.get(run.session.as_ref()?)?;
            Some((task.id.clone(), session, session.waiting_for.as_ref()?))
        };
        let (task, session, asked) = self.plan.tasks.iter().find_map(asks)?;
        let text = format!("{task} asks: {}", words::ask::asks(&session.name, asked));
        let wide = columns.saturating_sub(1).max(1);
        let letters: Vec<Vec<char>> = text.lines().map(|line| line.chars().collect()).collect();
        let lines = letters.iter().flat_map(|line| line.chunks(wide));
        let mut lines: Vec<String> = lines.map(|part| part.iter().collect()).collect();
        // The text of an edit is shown by the overview and the page.
        let is_all = match (&asked.wants, asked.choices.as_deref()) {
            (Some(Want::Edit { .. }), _) | (_, Some([])) => false,
            (Some(Want::Command { .. }) | None, _) => asked.kind != AskKind::Doubt,
        };
        if !is_all || lines.len() > rows {
            lines.truncate(rows.saturating_sub(1));
            lines.push("(look at all of it first: `glis` shows it)".to_owned());
            return Some((None, lines));
        }
        let choices = asked.choices.clone().unwrap_or_default();
        for (at, choice) in choices.iter().enumerate() {
            lines.push(format!("  {}: {choice}", at + 1));
        }
        lines.push("type your answer, and Enter:".to_owned());
        let (session, request) = (session.id.clone(), asked.request.clone());
        let before = held(&self.shown).clone().filter(|shown| shown.request == request);
        let since = before.map_or_else(Instant::now, |shown| shown.since);
        Some((Some(Shown { task, session, request, choices, since }), lines))
    }

    /// Draws it where it stands.
    pub(super) fn draw(&mut self) {
        let (columns, rows) = size();
        let mut lines = self.lines(rows.saturating_sub(1).max(2) / 2);
        let room = rows.saturating_sub(lines.len() + 2);
        let asked = self.question(columns, room);
        let note = self.note.clone().filter(|_| asked.is_none());
        let (shown, asked) = asked.unwrap_or_default();
        *held(&self.shown) = shown;
        lines.extend(asked.into_iter().chain(note));
        let up = if self.drawn > 0 { format!("\x1b[{}A", self.drawn) } else { String::new() };
        let mut text = format!("{up}\r\x1b[J");
        for line in &lines {
            text.extend(line.chars().take(columns.saturating_sub(1)));
            text.push('\n');
        }
        self.drawn = lines.len();
        let mut out = io::stdout().lock();
        drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }

    /// Draws it a last time: it stays on the terminal.
    pub(super) fn close(mut self, plan: &PlanView) {
        self.plan = plan.clone();
        self.draw();
    }

    fn lines(&self, most: usize) -> Vec<String> {
        let mut lines = vec![self.head()];
        let mut tree = self.tree();
        let room = most.saturating_sub(1).max(3);
        if tree.len() > room {
            // What is done is seen in the count; what is at work is what is watched.
            let all = tree.len();
            tree.retain(|(state, _)| *state != TaskState::Run(RunState::Succeeded));
            tree.truncate(room.saturating_sub(1));
            let left = all - tree.len();
            tree.push((TaskState::Todo, format!("   \u{2026} and {left} more")));
        }
        lines.extend(tree.into_iter().map(|(_, line)| line));
        lines
    }

    /// What it is about, how much of it is done, and what it took.
    fn head(&self) -> String {
        let all = self.plan.leaves().count();
        let done = self.plan.leaves().filter(|t| t.state == TaskState::Run(RunState::Succeeded));
        let done = done.count();
        let full = (BAR * done).checked_div(all).unwrap_or(BAR);
        let bar = format!("{}{}", "\u{2588}".repeat(full), "\u{2591}".repeat(BAR - full));
        let title = self.plan.title.as_deref().unwrap_or(&self.plan.slug);
        // What is at work has told more than was counted when it was judged last.
        let beyond = |task: &TaskView| {
            let run = task.run.as_ref()?;
            let told = cost(self.sessions.get(run.session.as_ref()?)?)?;
            Some((told - dollars(run.cost_micros)).max(0.0))
        };
        let at_work: f64 = self.plan.tasks.iter().filter_map(beyond).sum();
        let cost = dollars(self.plan.cost_micros) + at_work;
        let cost = if cost > 0.0 { format!("  ${cost:.2}") } else { String::new() };
        let took = words::plan::took(&self.plan.created_at, None);
        format!("{}  {bar} {done} of {all}  {took}{cost}", in_one_line(title))
    }

    /// The tree, with the state of each task.
    fn tree(&self) -> Vec<(TaskState, String)> {
        let specs: Vec<TaskSpec> = self.plan.tasks.iter().map(spec).collect();
        let order = RefCell::new(Vec::new());
        let task = |id: &str| self.plan.tasks.iter().find(|task| task.id == id);
        let mark = |of: &TaskSpec| {
            order.borrow_mut().push(of.id.clone());
            task(&of.id).map_or_else(String::new, |task| task_mark(task.state).to_string())
        };
        let lines = glis_plan::draw(None, &specs, mark);
        let order = order.into_inner();
        let line = |(line, id): (String, String)| {
            let found = task(&id)?;
            Some((found.state, format!("{line}{}", self.beside(found))))
        };
        lines.into_iter().zip(order).filter_map(line).collect()
    }

    /// What stands beside a task: how long it took, what it cost, and what its agent does or asks.
    fn beside(&self, task: &TaskView) -> String {
        let Some(run) = &task.run else { return String::new() };
        let over = matches!(run.state, RunState::Succeeded | RunState::Failed | RunState::Canceled);
        let took = words::plan::took(&run.created_at, over.then_some(run.updated_at.as_str()));
        let session = run.session.as_ref().and_then(|id| self.sessions.get(id));
        let cost = session.and_then(cost).unwrap_or_else(|| dollars(run.cost_micros));
        let cost = (cost > 0.0).then(|| format!("${cost:.2}"));
        let doing = match run.state {
            RunState::Succeeded => None,
            RunState::Running if run.finishing => Some("judged and merged".to_owned()),
            RunState::Running => session.and_then(|session| session.last_action.clone()),
            RunState::Waiting | RunState::Paused | RunState::Failed | RunState::Canceled => {
                let line = words::plan::run(run);
                let said = line.strip_prefix(&format!("{}: ", run.task_id)).unwrap_or(&line);
                Some(said.to_owned())
            }
        };
        let parts = [Some(took), cost, doing.map(|doing| in_one_line(&doing))];
        let parts = parts.into_iter().flatten().map(|part| format!("  {part}"));
        parts.collect::<Vec<_>>().concat()
    }
}

fn held(shown: &Mutex<Option<Shown>>) -> MutexGuard<'_, Option<Shown>> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands what was typed to the agent whose question it was typed to. What came of it.
fn answer(typed: &Typed) -> Option<String> {
    let words = Some(typed.line.trim()).filter(|words| !words.is_empty())?;
    let Some(shown) = &typed.to else {
        return Some("nothing was answered: the question has only just come".to_owned());
    };
    // A choice may be named by its number.
    let chosen = words.parse::<usize>().ok().and_then(|n| shown.choices.get(n.checked_sub(1)?));
    let answer = chosen.cloned().unwrap_or_else(|| words.to_owned());
    let ask = Some(shown.request.clone());
    let action = Action::Answer { ask, answer: answer.clone(), reason: None };
    let session = shown.session.clone();
    let told = control::connect()
        .and_then(|mut control| Ok(control.call(Request::Act { session, action }).map(drop)?));
    Some(match told {
        Ok(()) => format!("{}: answered with {answer}", shown.task),
        Err(complaint) => complaint.text(),
    })
}

fn spec(task: &TaskView) -> TaskSpec {
    TaskSpec {
        id: task.id.clone(),
        title: task.title.clone(),
        parent: task.parent.clone(),
        // What is begun has had what it needs.
        needs: if task.run.is_none() { task.needs.clone() } else { Vec::new() },
        ..TaskSpec::default()
    }
}

/// What a session has cost, in dollars, where its agent tells.
fn cost(session: &SessionView) -> Option<f64> {
    session.cost.as_ref()?.usd
}

/// The size of the terminal.
fn size() -> (usize, usize) {
    let size = glis_tty::size().ok();
    size.map_or(USUAL, |size| (usize::from(size.columns), usize::from(size.rows)))
}
