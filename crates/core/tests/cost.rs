//! What a finished task costs the core, and what a session at rest holds, counted: bytes that are allocated say how much
//! was copied and collected, on every machine the same. Ten times the tasks must not cost a task ten times as much.
#![expect(unsafe_code, reason = "an allocator that counts is one by an unsafe trait")]

use glis_core::effect::Effect;
use glis_core::event::{Event, Spot};
use glis_core::input::{Checked, Exit, Hearing, Outcome, Sign};
use glis_core::leftover::Leftovers;
use glis_core::plan::{Before, Budget, Pace, PlanSpec, TaskRef, TaskSpec};
use glis_core::session::{Process, Rest};
use glis_core::spec::{Mode, RefOrigin, SignSource, Spec, Takes, Traits};
use glis_core::tree::SnapshotRef;
use glis_core::{
    Command, House, Input, OpId, PlanCommand, PlanId, PlanOutcome, Recorded, RunId, Session,
    SessionId, Subject,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    static FREED: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

/// What a block of the heap takes: its length before it, in steps of two words.
fn taken_by(layout: Layout) -> usize {
    (layout.size() + 8).next_multiple_of(16).max(32)
}

// SAFETY: the system's allocator does everything; beside it two numbers of this thread are counted up.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.with(|count| count.set(count.get() + taken_by(layout)));
        // SAFETY: what the caller promises of the layout holds here too.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        FREED.with(|count| count.set(count.get() + taken_by(layout)));
        // SAFETY: it is from the allocator above, which is the system's.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocated() -> usize {
    ALLOCATED.with(Cell::get)
}

fn held() -> usize {
    allocated() - FREED.with(Cell::get)
}

/// A house with one plan, played as a daemon would that has no trouble.
struct Played {
    house: House,
    /// What is to be carried out next.
    effects: Vec<(Subject, Effect)>,
}

fn plan() -> PlanId {
    PlanId("p".to_owned())
}

impl Played {
    /// A plan of so many tasks: every tenth needs the one before it, the others nothing.
    fn new(tasks: usize) -> Self {
        let task = |n: usize| TaskSpec {
            id: format!("t{n:05}"),
            prompt: Some("Sweep the floor, then wax it.".to_owned()),
            needs: if n % 10 == 9 { vec![format!("t{:05}", n - 1)] } else { Vec::new() },
            ..TaskSpec::default()
        };
        let spec = Box::new(PlanSpec {
            title: None,
            slug: "p".to_owned(),
            repo_root: "/r".to_owned(),
            branch: "glis/plan/p".to_owned(),
            base: "c0".to_owned(),
            origin: None,
            budget: Budget::default(),
            tasks: (0..tasks).map(task).collect(),
        });
        let mut played = Self { house: House::default(), effects: Vec::new() };
        let pace = Pace::default();
        played.put(Input::Plan(PlanCommand::Execute {
            id: plan(),
            spec,
            pace,
            before: Before::default(),
        }));
        played
    }

    fn put(&mut self, input: Input) {
        let decision = self.house.decide(input).unwrap_or_default();
        for (subject, event) in decision.events {
            let at = self.house.last_seq().cast_signed();
            self.house.record(at, subject, event, None);
        }
        self.effects.extend(decision.effects);
    }

    fn outcome(&mut self, id: &SessionId, outcome: impl Fn(OpId) -> Outcome) {
        let under_way = self.house.session(id).and_then(Session::operation);
        let outcome = outcome(under_way.map_or(OpId(0), |(op, _)| op));
        self.put(Input::Outcome { session: id.clone(), outcome });
    }

    fn sign(&mut self, id: &SessionId, sign: Sign) {
        let (session, spot) = (id.clone(), Spot::Stream(self.house.last_seq()));
        self.put(Input::Sign { session, generation: 1, spot, hearing: Hearing::Live, sign });
    }

    /// Lets the next task be done from its beginning to its end.
    fn do_one(&mut self) {
        let begins = std::mem::take(&mut self.effects).into_iter().find_map(|(_, effect)| {
            if let Effect::BeginRun { run } = effect { Some(run) } else { None }
        });
        assert!(begins.is_some(), "nothing begins");
        let Some(run) = begins else { return };
        let session = self.make(&run);
        let finishes = |(_, effect): &(Subject, Effect)| matches!(effect, Effect::JudgeRun { .. });
        assert!(self.effects.iter().any(finishes), "{run}: {:?}", self.effects);
        self.effects.clear();
        let accepted = PlanOutcome::Accepted { run: run.clone(), commit: "w1".to_owned() };
        self.put(Input::PlanOutcome { plan: plan(), outcome: accepted });
        let merged = PlanOutcome::Merged { run, commit: "c1".to_owned() };
        self.put(Input::PlanOutcome { plan: plan(), outcome: merged });
        let exit = Exit { ordered: true, ..Exit::unseen(Leftovers::default()) };
        self.outcome(&session, |_| Outcome::ProcessEnded { generation: 1, exit: exit.clone() });
    }

    /// The session of a run does what it was told.
    fn make(&mut self, run: &RunId) -> SessionId {
        let known = self.house.plan(&plan()).and_then(|plan| plan.run(run));
        let task = known.map(|run| run.task.clone()).unwrap_or_default();
        let (refs, signs) = (RefOrigin::Chosen, SignSource::Structured);
        let traits = Traits { refs, signs, takes: Takes::WhenIdle };
        let of = TaskRef { plan: plan(), task, run: run.clone() };
        let plain = Spec::plain("it", Mode::Headless, traits, "/r");
        let (of, prompt) = (Some(Box::new(of)), Some("do".to_owned()));
        let spec = Box::new(Spec { task: of, prompt, ..plain });
        let (id, name) = (SessionId(format!("s-{run}")), run.0.clone());
        let agent_ref = Some(name.clone());
        self.put(Input::Command(Command::New { id: id.clone(), name, spec, agent_ref }));
        let worktree = format!("/w/{run}");
        self.outcome(&id, |op| {
            let (worktree, notes) = (worktree.clone(), Vec::new());
            Outcome::WorktreeMade { op, worktree, branch: None, notes }
        });
        self.outcome(&id, |op| Outcome::StartChecked { op, result: Ok(Checked::default()) });
        let process = Process { pid: 1, start_ticks: 1, boot_id: String::new() };
        self.outcome(&id, |op| {
            let process = process.clone();
            Outcome::ProcessStarted { op, generation: 1, process, began_at: 0 }
        });
        self.sign(&id, Sign::Ready);
        self.sign(&id, Sign::TookMessage { text: None });
        self.sign(&id, Sign::TurnBegan);
        self.sign(&id, Sign::TurnEnded);
        id
    }
}

/// The bytes for each of a hundred tasks in the middle of such a plan.
fn bytes_per_task(tasks: usize) -> usize {
    let mut played = Played::new(tasks);
    for _ in 0..tasks / 2 {
        played.do_one();
    }
    let before = allocated();
    for _ in 0..100 {
        played.do_one();
    }
    (allocated() - before) / 100
}

#[test]
fn a_finished_task_costs_the_same_in_a_plan_of_ten_times_the_size() {
    let (small, large) = (bytes_per_task(1_000), bytes_per_task(10_000));
    println!("bytes for each task of 1,000: {small}; of 10,000: {large}");
    // The way down a tree of ten times the size is three steps longer.
    assert!(large < small + small / 2, "{small} of 1,000, {large} of 10,000");
}

/// A session that was worked with and stopped, as the card of another would tell of it.
fn at_rest(n: u64) -> Option<Recorded> {
    let snapshot = SnapshotRef {
        name: format!("refs/glis/snap/019a8b7c-6f1e-7c3a-9d2b-{n:012}/1763224086123-0a1b2c3d"),
        commit: format!("{n:040x}"),
        changed: Some(3),
    };
    let id = SessionId(format!("{n:08x}-6f1e-7c3a-9d2b-0123456789ab"));
    let (refs, signs) = (RefOrigin::Chosen, SignSource::Structured);
    let traits = Traits { refs, signs, takes: Takes::WhenIdle };
    let plain = Spec::plain("claude", Mode::Headless, traits, "/home/ada/src/a-repository");
    let base = Some("4f2d0c1e9b8a7f6e5d4c3b2a190817263544f2d0".to_owned());
    let spec = Spec { base, base_branch: Some("main".to_owned()), ..plain };
    let (name, agent_ref) = (format!("session-{n}"), Some(id.0.clone()));
    let born = Event::SessionCreated { op: OpId(0), name, spec: Box::new(spec), agent_ref };
    let mut house = House::default();
    house.apply(&Recorded::new(1, 7, id.clone().into(), born));
    let mut card = house.session(&id)?.card(n);
    card.rest = Some(Rest::Suspended);
    card.place.worktree = Some(format!("/home/ada/.local/share/glis/worktrees/{id}/a-repository"));
    card.place.branch = Some(format!("glis/session-{n}"));
    (card.saved.snapshot, card.saved.baseline) = (Some(snapshot.clone()), Some(snapshot));
    let event = Event::SessionRecovered { card: Box::new(card) };
    Some(Recorded::new(n, 7, id.into(), event))
}

/// Twenty thousand of them are two thirds of the sixty megabytes that a daemon may hold.
const BYTES_AT_REST: usize = 2100;

#[test]
fn a_session_at_rest_holds_little_also_when_it_was_read_again() {
    let before = held();
    let mut house = House::default();
    (1..=1000).filter_map(at_rest).for_each(|recorded| house.apply(&recorded));
    let lived = (held() - before) / 1000;
    let written = serde_json::to_vec(&house).unwrap();
    let before = held();
    let read: House = serde_json::from_slice(&written).unwrap();
    let read_again = (held() - before) / 1000;
    assert_eq!(house, read);
    println!("bytes for each session at rest: {lived}; read again: {read_again}");
    assert!(lived.max(read_again) <= BYTES_AT_REST, "{lived}, {read_again}");
}
