//! Plans: what begins when, what a run comes to, and that nothing is begun twice.
//!
//! A story is lines such as `execute`, `begun dust`, `done dust`, `merged dust`; what comes of each is
//! told in the plan's own events and effects.

use crate::gate::wish;
use crate::script::Kind;
use crate::together::{decide, id};
use glis_core::effect::Effect;
use glis_core::event::Spot;
use glis_core::input::{Checked, Exit, Hearing, Outcome, Sign, Taken, World};
use glis_core::leftover::Leftovers;
use glis_core::merge::Unmerged;
use glis_core::pause::{Moment, OnTimeout, PauseMode, PauseReason, PauseWish};
use glis_core::plan::{
    Before, Budget, Pace, PlanEvent, PlanSpec, Ruling, RunState, TaskRef, TaskSpec,
};
use glis_core::session::{Process, StopCause};
use glis_core::spec::Spec;
use glis_core::tree::{Clearing, PathList};
use glis_core::{
    Command, Decision, Event, Gate, GateCommand, House, Input, OpId, PlanCommand, PlanId,
    PlanOutcome, Recorded, Refusal, RunId, Session, Status, Subject,
};

fn plan() -> PlanId {
    PlanId("p".to_owned())
}

/// `dust`, then `sweep` and `wash`, then `wax`.
fn tasks() -> Vec<TaskSpec> {
    let task = |id: &str, needs: &[&str]| TaskSpec {
        id: id.to_owned(),
        prompt: Some(id.to_owned()),
        needs: needs.iter().map(|&need| need.to_owned()).collect(),
        ..TaskSpec::default()
    };
    vec![
        task("dust", &[]),
        task("sweep", &["dust"]),
        task("wash", &["dust"]),
        task("wax", &["sweep", "wash"]),
    ]
}

fn spec(tasks: Vec<TaskSpec>) -> Box<PlanSpec> {
    Box::new(PlanSpec {
        title: None,
        slug: "p".to_owned(),
        repo_root: "/r".to_owned(),
        branch: "glis/plan/p".to_owned(),
        base: "c0".to_owned(),
        origin: None,
        budget: Budget::default(),
        tasks,
    })
}

/// What a decision comes to for plans, in words.
fn told(house: &mut House, input: Input) -> String {
    let decision = match house.decide(input) {
        Ok(decision) => decision,
        Err(Refusal::TaskIdle { state, .. }) => return format!("refused: {}", state.word()),
        Err(Refusal::TaskAtWork { .. }) => return "refused: at work".to_owned(),
        Err(Refusal::TaskNotBegun { .. }) => return "refused: not begun".to_owned(),
        Err(refusal) => return format!("refused: {refusal:?}"),
    };
    let mut words: Vec<String> = Vec::new();
    for (_, event) in &decision.events {
        if let Event::Plan(event) = event {
            words.push(match event {
                PlanEvent::Begun { .. } => "plan begun".to_owned(),
                PlanEvent::Revised { .. } => "revised".to_owned(),
                PlanEvent::Continued { .. } => "continued".to_owned(),
                PlanEvent::Stopped { why } => format!("stopped by {why:?}").to_lowercase(),
                PlanEvent::RunBegan { run, .. } => format!("{run} began"),
                PlanEvent::RunFinishing { run, as_it_is: false } => format!("{run} finishing"),
                PlanEvent::RunFinishing { run, .. } => format!("{run} finishing as it is"),
                PlanEvent::RunCost { run, micros } => format!("{run} cost {micros}"),
                PlanEvent::RunAccepted { run, .. } => format!("{run} accepted"),
                PlanEvent::RunSucceeded { run, .. } => format!("{run} succeeded"),
                PlanEvent::RunFailed { run, .. } => format!("{run} failed"),
                PlanEvent::RunWaits { run, .. } => format!("{run} waits"),
                PlanEvent::RunCanceled { run } => format!("{run} canceled"),
                PlanEvent::TaskSkipped { task } => format!("{task} skipped"),
                PlanEvent::TaskProposed { task, .. } => format!("{task} proposed"),
            });
        }
        if matches!(event, Event::PauseBegan { .. }) {
            words.push("pause began".to_owned());
        }
        if let Event::MessageQueued { text, .. } = event {
            words.push(format!("says {text:?}"));
        }
    }
    for (subject, effect) in &decision.effects {
        if let Effect::BeginRun { run } = effect {
            words.push(format!("begin {run}"));
        } else if let Effect::JudgeRun { run } = effect {
            words.push(format!("judge {run}"));
        } else if let Effect::MergeRun { run } = effect {
            words.push(format!("merge {run}"));
        } else if *effect == Effect::CutLineShort {
            words.push("cut line short".to_owned());
        } else {
            assert!(!matches!(subject, Subject::Plan(_)), "{effect:?}");
        }
    }
    record(house, decision);
    words.join(", ")
}

/// Each event has its own time.
fn record(house: &mut House, decision: Decision) {
    for (subject, event) in decision.events {
        let seq = house.last_seq() + 1;
        house.apply(&Recorded::new(seq, seq.cast_signed(), subject, event));
    }
}

fn pause(house: &mut House, name: &str, reason: PauseReason) -> String {
    let (mode, on_timeout) = (PauseMode::Interrupt, OnTimeout::Refuse);
    let clearing = Clearing::Keep;
    let session = id(name);
    told(
        house,
        Input::Command(Command::Pause {
            session,
            wish: PauseWish { mode, reason, on_timeout, clearing },
            until: None,
        }),
    )
}

fn latest(house: &House, task: &str) -> RunId {
    let run = house.plan(&plan()).and_then(|plan| plan.latest_run(task));
    run.map_or_else(|| RunId("none".to_owned()), |run| run.id.clone())
}

fn state(house: &House, run: &str) -> RunState {
    let run = house.plan(&plan()).and_then(|plan| plan.run(&RunId(run.to_owned())));
    run.map_or(RunState::Canceled, |run| {
        run.state(run.session.as_ref().and_then(|id| house.session(id)))
    })
}

fn under_way(house: &House, name: &str) -> OpId {
    let session = house.session(&id(name));
    session.and_then(Session::operation).map_or(OpId(999), |(op, _)| op)
}

fn outcome(house: &mut House, name: &str, outcome: impl Fn(OpId) -> Outcome) -> String {
    let outcome = outcome(under_way(house, name));
    told(house, Input::Outcome { session: id(name), outcome })
}

fn sign(house: &mut House, name: &str, sign: Sign) -> String {
    let generation = house.session(&id(name)).map_or(0, |session| session.agent.generation);
    let spot = Spot::Stream(house.last_seq());
    let hearing = Hearing::Live;
    told(house, Input::Sign { session: id(name), generation, spot, hearing, sign })
}

/// The session of a run is made; it is called like the run.
fn make(house: &mut House, run: &str, task: &str) -> String {
    let of = TaskRef { plan: plan(), task: task.to_owned(), run: RunId(run.to_owned()) };
    let (prompt, of) = (Some(task.to_owned()), Some(Box::new(of)));
    let spec = Box::new(Spec { task: of, prompt, ..Kind::Agent.spec() });
    let agent_ref = Some(run.to_owned());
    told(house, Input::Command(Command::New { id: id(run), name: run.to_owned(), spec, agent_ref }))
}

/// Its process runs and takes messages.
fn start(house: &mut House, run: &str) -> String {
    let generation = house.session(&id(run)).map_or(0, |session| session.agent.generation);
    outcome(house, run, |op| Outcome::StartChecked { op, result: Ok(Checked::default()) });
    let process = Process { pid: 1, start_ticks: 1, boot_id: String::new() };
    outcome(house, run, |op| Outcome::ProcessStarted {
        op,
        generation,
        process: process.clone(),
        began_at: 0,
    });
    sign(house, run, Sign::Ready)
}

/// Its session is made and works.
fn begin(house: &mut House, run: &str, task: &str) {
    ready(house, run, task);
    take(house, run);
}

/// Its session is made and is handed its prompt.
fn ready(house: &mut House, run: &str, task: &str) {
    make(house, run, task);
    outcome(house, run, |op| Outcome::WorktreeMade {
        op,
        worktree: format!("/w/{run}"),
        branch: Some(format!("glis/{run}")),
        notes: Vec::new(),
    });
    start(house, run);
}

fn take(house: &mut House, run: &str) {
    sign(house, run, Sign::TookMessage { text: None });
    sign(house, run, Sign::TurnBegan);
}

/// Its process has ended for a pause, and everything is saved.
fn pause_to_the_end(house: &mut House, run: &str) {
    let generation = house.session(&id(run)).map_or(0, |session| session.agent.generation);
    let taken =
        |moment| move |op| Outcome::SnapshotTaken { op, moment, result: Ok(Taken::default()) };
    outcome(house, run, |op| Outcome::SaveChecked { op, result: Ok(()) });
    sign(house, run, Sign::TurnCut);
    outcome(house, run, |op| Outcome::TerminalCaptured { op, screen_at: 0 });
    outcome(house, run, taken(Moment::BeforeStop));
    let exit = Exit { ordered: true, ..Exit::unseen(Leftovers::default()) };
    let ended = Outcome::ProcessEnded { generation, exit };
    told(house, Input::Outcome { session: id(run), outcome: ended });
    outcome(house, run, taken(Moment::AfterStop));
}

fn execute(house: &mut House, pace: Pace) -> String {
    told(
        house,
        Input::Plan(PlanCommand::Execute {
            id: plan(),
            spec: spec(tasks()),
            pace,
            before: Before::default(),
        }),
    )
}

fn pace(jobs: u32) -> Pace {
    Pace { jobs, ..Pace::default() }
}

fn interrupt(house: &mut House, mode: PauseMode) -> String {
    told(house, Input::Plan(PlanCommand::Pause { id: plan(), mode }))
}

fn resume(house: &mut House, task: &str) -> String {
    let (id, task) = (plan(), task.to_owned());
    told(house, Input::Plan(PlanCommand::Resume { id, task, prompt: None }))
}

fn restart(house: &mut House, task: &str) -> String {
    let (id, task, spec) = (plan(), task.to_owned(), Some(spec(tasks())));
    told(house, Input::Plan(PlanCommand::Restart { id, task, spec }))
}

fn ended(house: &mut House, outcome: impl Fn(RunId) -> PlanOutcome, run: &str) -> String {
    let outcome = outcome(RunId(run.to_owned()));
    told(house, Input::PlanOutcome { plan: plan(), outcome })
}

fn accepted(house: &mut House, run: &str) -> String {
    ended(house, |run| PlanOutcome::Accepted { run, commit: "w1".to_owned() }, run)
}

fn merged(house: &mut House, run: &str) -> String {
    ended(house, |run| PlanOutcome::Merged { run, commit: "c1".to_owned() }, run)
}

fn conflict(run: RunId) -> PlanOutcome {
    let files = PathList::of(["a.txt".to_owned()]);
    PlanOutcome::Unmerged { run, why: Unmerged::Conflict { files } }
}

/// A run from its session to its merge; tells what follows from that.
fn go_through(house: &mut House, run: &str, task: &str) -> String {
    begin(house, run, task);
    assert_eq!(sign(house, run, Sign::TurnEnded), format!("{run} finishing, judge {run}"));
    assert_eq!(accepted(house, run), format!("{run} accepted, merge {run}"));
    merged(house, run)
}

#[test]
fn tasks_begin_one_at_a_time_in_the_order_of_the_file_and_only_when_they_are_ready() {
    let mut house = House::default();
    assert_eq!(execute(&mut house, pace(1)), "plan begun, dust-1 began, begin dust-1");
    assert_eq!(execute(&mut house, pace(1)), "", "it is joined");
    let next = go_through(&mut house, "dust-1", "dust");
    assert_eq!(next, "dust-1 succeeded, sweep-1 began, begin sweep-1");
    let next = go_through(&mut house, "sweep-1", "sweep");
    assert_eq!(next, "sweep-1 succeeded, wash-1 began, begin wash-1");
    let next = go_through(&mut house, "wash-1", "wash");
    assert_eq!(next, "wash-1 succeeded, wax-1 began, begin wax-1");
    assert_eq!(go_through(&mut house, "wax-1", "wax"), "wax-1 succeeded");
    assert!(house.plan(&plan()).unwrap().schedule.is_over());
    assert_eq!(execute(&mut house, pace(1)), "", "there is nothing left to do");
}

#[test]
fn so_many_begin_at_a_time_as_were_asked_for() {
    let mut house = House::default();
    execute(&mut house, pace(2));
    let next = go_through(&mut house, "dust-1", "dust");
    let both = "dust-1 succeeded, sweep-1 began, wash-1 began, begin sweep-1, begin wash-1";
    assert_eq!(next, both);
}

#[test]
fn an_interrupted_plan_pauses_what_runs_and_begins_nothing_until_it_is_executed_again() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    begin(&mut house, "dust-1", "dust");
    assert_eq!(interrupt(&mut house, PauseMode::Interrupt), "stopped by user, pause began");
    assert_eq!(interrupt(&mut house, PauseMode::Force), "", "and hastened");
    pause_to_the_end(&mut house, "dust-1");
    assert_eq!(state(&house, "dust-1"), RunState::Paused);
    // Resumed alone: the plan stays paused.
    assert_eq!(resume(&mut house, "dust"), "says \"[glis] Continue from where we left off.\"");
    start(&mut house, "dust-1");
    take(&mut house, "dust-1");
    assert_eq!(state(&house, "dust-1"), RunState::Running);
    assert_eq!(resume(&mut house, "dust"), "refused: running");
    let finishing = "dust-1 finishing, judge dust-1";
    assert_eq!(sign(&mut house, "dust-1", Sign::TurnEnded), finishing);
    assert_eq!(merged(&mut house, "dust-1"), "", "what nobody accepted is not merged");
    assert_eq!(accepted(&mut house, "dust-1"), "dust-1 accepted, merge dust-1");
    assert_eq!(merged(&mut house, "dust-1"), "dust-1 succeeded");
    assert_eq!(merged(&mut house, "dust-1"), "", "never twice");
    assert_eq!(execute(&mut house, pace(1)), "continued, sweep-1 began, begin sweep-1");
}

#[test]
fn a_plan_goes_on_by_itself_until_it_is_done_or_waits_for_a_person() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    assert!(house.goes_on_by_itself(), "a session is being made");
    begin(&mut house, "dust-1", "dust");
    sign(&mut house, "dust-1", Sign::TurnEnded);
    accepted(&mut house, "dust-1");
    assert!(house.goes_on_by_itself(), "its work is being merged");
    ended(&mut house, conflict, "dust-1");
    assert!(!house.goes_on_by_itself(), "a person is to say what becomes of it");
    resume(&mut house, "dust");
    take(&mut house, "dust-1");
    assert!(house.goes_on_by_itself(), "its agent works");
    interrupt(&mut house, PauseMode::Interrupt);
    pause_to_the_end(&mut house, "dust-1");
    assert!(!house.goes_on_by_itself(), "it was interrupted");
}

#[test]
fn what_had_only_begun_when_the_plan_was_interrupted_is_paused_once_it_runs() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    assert_eq!(interrupt(&mut house, PauseMode::Interrupt), "stopped by user");
    ready(&mut house, "dust-1", "dust");
    assert_eq!(house.session(&id("dust-1")).map(Session::status), Some(Status::Pausing));
}

#[test]
fn a_paused_run_keeps_no_other_task_from_beginning_when_the_rest_is_executed() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    go_through(&mut house, "dust-1", "dust");
    begin(&mut house, "sweep-1", "sweep");
    interrupt(&mut house, PauseMode::Interrupt);
    pause_to_the_end(&mut house, "sweep-1");
    assert_eq!(execute(&mut house, pace(1)), "continued, wash-1 began, begin wash-1");
    assert_eq!(state(&house, "sweep-1"), RunState::Paused);
}

#[test]
fn a_run_has_one_session_however_often_it_is_begun() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    assert_eq!(told(&mut house, Input::AllObserved), "begin dust-1", "the daemon died");
    begin(&mut house, "dust-1", "dust");
    let of = TaskRef { plan: plan(), task: "dust".to_owned(), run: RunId("dust-1".to_owned()) };
    let spec = Box::new(Spec { task: Some(Box::new(of)), ..Kind::Agent.spec() });
    let (id, name) = (id("other"), "other".to_owned());
    let again = Input::Command(Command::New { id, name, spec, agent_ref: None });
    assert!(matches!(decide(&mut house, again), Err(Refusal::NoSuchTask { .. })));
    assert_eq!(told(&mut house, Input::AllObserved), "", "it works, and goes on by itself");
    sign(&mut house, "dust-1", Sign::TurnEnded);
    assert_eq!(told(&mut house, Input::AllObserved), "judge dust-1", "the daemon died again");
    accepted(&mut house, "dust-1");
    assert_eq!(told(&mut house, Input::AllObserved), "merge dust-1", "and once more");
}

#[test]
fn work_that_is_in_conflict_waits_and_its_agent_mends_it() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    begin(&mut house, "dust-1", "dust");
    sign(&mut house, "dust-1", Sign::TurnEnded);
    accepted(&mut house, "dust-1");
    assert_eq!(ended(&mut house, conflict, "dust-1"), "dust-1 waits");
    assert_eq!(state(&house, "dust-1"), RunState::Waiting);
    let asked = resume(&mut house, "dust");
    assert!(asked.starts_with("says \"[glis] Your work and the branch glis/plan/p"), "{asked}");
    take(&mut house, "dust-1");
    assert_eq!(state(&house, "dust-1"), RunState::Running);
    let finishing = "dust-1 finishing, judge dust-1";
    assert_eq!(sign(&mut house, "dust-1", Sign::TurnEnded), finishing);
    // What no agent can mend is tried again.
    let full = |run| PlanOutcome::Unmerged { run, why: Unmerged::Failed { why: String::new() } };
    ended(&mut house, full, "dust-1");
    assert_eq!(resume(&mut house, "dust"), finishing);
}

/// What judges it is ended; what is being merged by then is merged.
#[test]
fn a_task_that_is_stopped_while_it_is_judged_waits_and_nothing_else_begins() {
    let stopped = |run| PlanOutcome::Unmerged { run, why: Unmerged::Stopped };
    let stop = || Input::Command(Command::Stop { session: id("dust-1"), cause: StopCause::Asked });
    let finishing = "dust-1 finishing, judge dust-1";
    for is_judged in [false, true] {
        let mut house = House::default();
        execute(&mut house, pace(1));
        begin(&mut house, "dust-1", "dust");
        assert_eq!(sign(&mut house, "dust-1", Sign::TurnEnded), finishing);
        if is_judged {
            accepted(&mut house, "dust-1");
            assert_eq!(told(&mut house, stop()), "stopped by user");
            assert_eq!(merged(&mut house, "dust-1"), "dust-1 succeeded", "and nothing begins");
        } else {
            assert_eq!(told(&mut house, stop()), "stopped by user, cut line short");
            assert_eq!(ended(&mut house, stopped, "dust-1"), "dust-1 waits");
            assert_eq!(state(&house, "dust-1"), RunState::Waiting);
            assert_eq!(resume(&mut house, "dust"), finishing);
        }
    }
}

#[test]
fn a_prompt_that_the_agent_cannot_be_handed_is_no_task_done() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    ready(&mut house, "dust-1", "dust");
    let message = house.session(&id("dust-1")).and_then(Session::in_flight).unwrap().id;
    let refused = Outcome::Undeliverable { message, why: "too long".to_owned() };
    let input = Input::Outcome { session: id("dust-1"), outcome: refused };
    assert_eq!(told(&mut house, input), "");
    assert_eq!(state(&house, "dust-1"), RunState::Waiting);
    assert_eq!(resume(&mut house, "dust"), "refused: waiting");
    let (id, task, prompt) = (plan(), "dust".to_owned(), Some("shorter".to_owned()));
    let again = Input::Plan(PlanCommand::Resume { id, task, prompt });
    assert_eq!(told(&mut house, again), "stopped by only, says \"shorter\"");
    take(&mut house, "dust-1");
    let finishing = "dust-1 finishing, judge dust-1";
    assert_eq!(sign(&mut house, "dust-1", Sign::TurnEnded), finishing);
}

#[test]
fn a_person_who_pauses_the_session_of_a_task_stops_the_plan() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    go_through(&mut house, "dust-1", "dust");
    begin(&mut house, "sweep-1", "sweep");
    assert_eq!(pause(&mut house, "sweep-1", PauseReason::User), "pause began, stopped by user");
    pause_to_the_end(&mut house, "sweep-1");
    assert_eq!(state(&house, "sweep-1"), RunState::Paused);
    assert_eq!(latest(&house, "wash"), RunId("none".to_owned()), "nothing else begins");
}

/// Those of the same agent would meet that limit too. A limit that nobody waits for keeps nobody back.
fn a_parked_task_keeps_others_back_but(air: TaskSpec) {
    let mut all = tasks();
    all.push(TaskSpec { id: "air".to_owned(), ..air });
    let mut house = House::default();
    let (id, spec) = (plan(), spec(all));
    told(
        &mut house,
        Input::Plan(PlanCommand::Execute { id, spec, pace: pace(1), before: Before::default() }),
    );
    go_through(&mut house, "dust-1", "dust");
    begin(&mut house, "sweep-1", "sweep");
    assert_eq!(pause(&mut house, "sweep-1", PauseReason::RateLimit), "pause began");
    pause_to_the_end(&mut house, "sweep-1");
    assert_eq!(latest(&house, "air"), RunId("air-1".to_owned()));
    assert_eq!(latest(&house, "wash"), RunId("none".to_owned()));
    go_through(&mut house, "air-1", "air");
    assert_eq!(latest(&house, "wash"), RunId("none".to_owned()));
    let stays = Outcome::ReturnPlanned { at: None, now: 0 };
    let input = Input::Outcome { session: crate::together::id("sweep-1"), outcome: stays };
    assert_eq!(told(&mut house, input), "wash-1 began, begin wash-1");
}

#[test]
fn a_task_that_a_limit_has_parked_keeps_others_of_its_agent_back_and_nobody_else() {
    let other = || Some("other".to_owned());
    a_parked_task_keeps_others_back_but(TaskSpec { agent: other(), ..TaskSpec::default() });
    a_parked_task_keeps_others_back_but(TaskSpec { persona: other(), ..TaskSpec::default() });
}

#[test]
fn a_run_is_updated_whenever_its_session_becomes_something_else() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    let updated = |house: &House| {
        let run = house.plan(&plan()).and_then(|plan| plan.latest_run("dust"));
        run.map(|run| run.updated_at)
    };
    begin(&mut house, "dust-1", "dust");
    let works = updated(&house);
    interrupt(&mut house, PauseMode::Interrupt);
    let pauses = updated(&house);
    assert!(pauses > works, "{pauses:?} {works:?}");
    pause_to_the_end(&mut house, "dust-1");
    assert!(updated(&house) > pauses);
}

#[test]
fn a_restart_is_another_run_with_links_both_ways_and_never_of_one_that_is_at_work() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    assert_eq!(restart(&mut house, "dust"), "refused: at work");
    begin(&mut house, "dust-1", "dust");
    assert_eq!(restart(&mut house, "dust"), "refused: at work");
    interrupt(&mut house, PauseMode::Interrupt);
    pause_to_the_end(&mut house, "dust-1");
    assert_eq!(restart(&mut house, "dust"), "dust-2 began, begin dust-2");
    let links = house.plan(&plan()).map(|plan| {
        let run = |id: &str| plan.run(&RunId(id.to_owned())).unwrap().clone();
        (run("dust-1").superseded_by, run("dust-2").restart_of)
    });
    let named = |id: &str| Some(RunId(id.to_owned()));
    assert_eq!(links, Some((named("dust-2"), named("dust-1"))));
    assert_eq!(state(&house, "dust-1"), RunState::Paused, "it stays what it was");
    // It was asked for by itself, and is not paused with the plan.
    assert_eq!(go_through(&mut house, "dust-2", "dust"), "dust-2 succeeded");
    assert_eq!(latest(&house, "dust"), RunId("dust-2".to_owned()));
}

#[test]
fn a_restart_is_from_what_the_file_says_now() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    begin(&mut house, "dust-1", "dust");
    interrupt(&mut house, PauseMode::Interrupt);
    pause_to_the_end(&mut house, "dust-1");
    let mut other = tasks();
    other[0].prompt = Some("dust it well".to_owned());
    let (id, task, spec) = (plan(), "dust".to_owned(), Some(spec(other)));
    let again = Input::Plan(PlanCommand::Restart { id, task, spec });
    assert_eq!(told(&mut house, again), "revised, dust-2 began, begin dust-2");
    let prompt = house.plan(&plan()).and_then(|plan| plan.task("dust")?.prompt.clone());
    assert_eq!(prompt.as_deref(), Some("dust it well"));
}

fn refused(house: &mut House, run: &str, retries: u32) -> String {
    ended(house, |run| PlanOutcome::NotAccepted { run, why: "exit 1".to_owned(), retries }, run)
}

fn rule(house: &mut House, task: &str, ruling: Ruling) -> String {
    let (id, task) = (plan(), task.to_owned());
    told(house, Input::Plan(PlanCommand::Rule { id, task, ruling }))
}

/// Its agent is done, and its work is to be judged.
fn finish(house: &mut House, run: &str, task: &str) {
    begin(house, run, task);
    sign(house, run, Sign::TurnEnded);
}

#[test]
fn what_is_not_accepted_has_failed_and_keeps_only_what_needs_it() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    go_through(&mut house, "dust-1", "dust");
    finish(&mut house, "sweep-1", "sweep");
    let next = refused(&mut house, "sweep-1", 0);
    assert_eq!(next, "sweep-1 failed, wash-1 began, begin wash-1");
    assert_eq!(go_through(&mut house, "wash-1", "wash"), "wash-1 succeeded", "wax waits for ever");
    let too_soon = resume(&mut house, "sweep");
    assert!(too_soon.starts_with("refused: Busy"), "its agent is being stopped: {too_soon}");
}

/// In the same conversation, each time as a run of its own, and so often in a row as is set.
#[test]
fn an_agent_is_told_what_was_not_accepted_and_its_work_is_judged_again() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    finish(&mut house, "dust-1", "dust");
    let told = refused(&mut house, "dust-1", 2);
    assert!(told.starts_with("dust-1 failed, dust-2 began, says \"[glis] Your work"), "{told}");
    for (run, next) in [("dust-2", Some("dust-3")), ("dust-3", None)] {
        take(&mut house, "dust-1");
        let finishing = format!("{run} finishing, judge {run}");
        assert_eq!(sign(&mut house, "dust-1", Sign::TurnEnded), finishing);
        let told = refused(&mut house, run, 2);
        match next {
            Some(next) => assert!(told.contains(&format!("{next} began")), "{told}"),
            None => assert_eq!(told, format!("{run} failed"), "a person is next"),
        }
    }
    let links =
        house.plan(&plan()).map(|plan| plan.latest_run("dust").unwrap().resumed_from.clone());
    assert_eq!(links, Some(Some(RunId("dust-2".to_owned()))));
}

#[test]
fn nobody_is_told_anything_by_itself_whose_plan_or_house_was_stopped_meanwhile() {
    for stop in ["plan", "house"] {
        let mut house = House::default();
        execute(&mut house, pace(1));
        finish(&mut house, "dust-1", "dust");
        if stop == "plan" {
            interrupt(&mut house, PauseMode::Interrupt);
        } else {
            told(&mut house, Input::Gate(GateCommand::Shut(wish(PauseMode::Boundary))));
        }
        assert_eq!(refused(&mut house, "dust-1", 2), "dust-1 failed", "{stop}");
    }
}

#[test]
fn a_review_is_before_the_merge_and_what_does_not_need_it_goes_on() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    go_through(&mut house, "dust-1", "dust");
    execute(&mut house, Pace { review: true, ..pace(1) });
    finish(&mut house, "sweep-1", "sweep");
    let judged = "sweep-1 accepted, sweep-1 waits, wash-1 began, begin wash-1";
    assert_eq!(accepted(&mut house, "sweep-1"), judged);
    assert_eq!(state(&house, "sweep-1"), RunState::Waiting);
    // As it is, and by nobody else.
    let taken = "sweep-1 finishing as it is, judge sweep-1";
    assert_eq!(rule(&mut house, "sweep", Ruling::Accept), taken);
    assert_eq!(accepted(&mut house, "sweep-1"), "sweep-1 accepted, merge sweep-1");
    assert_eq!(merged(&mut house, "sweep-1"), "sweep-1 succeeded");
    // Words go back to its agent, and its work is judged again.
    finish(&mut house, "wash-1", "wash");
    accepted(&mut house, "wash-1");
    let (id, task, prompt) = (plan(), "wash".to_owned(), Some("warmer".to_owned()));
    let again = Input::Plan(PlanCommand::Resume { id, task, prompt });
    assert_eq!(told(&mut house, again), "says \"warmer\"");
    take(&mut house, "wash-1");
    let finishing = "wash-1 finishing, judge wash-1";
    assert_eq!(sign(&mut house, "wash-1", Sign::TurnEnded), finishing);
    accepted(&mut house, "wash-1");
    assert_eq!(rule(&mut house, "wash", Ruling::Reject), "wash-1 failed");
    assert_eq!(rule(&mut house, "wash", Ruling::Reject), "refused: failed");
}

#[test]
fn what_was_not_accepted_is_judged_again_or_taken_as_it_is() {
    for (ruling, how) in [(Ruling::Judge, "finishing"), (Ruling::Accept, "finishing as it is")] {
        let mut house = House::default();
        execute(&mut house, pace(1));
        assert_eq!(rule(&mut house, "dust", ruling), "refused: at work");
        assert_eq!(rule(&mut house, "sweep", ruling), "refused: not begun");
        finish(&mut house, "dust-1", "dust");
        assert_eq!(rule(&mut house, "dust", ruling), "refused: at work", "it is judged");
        refused(&mut house, "dust-1", 0);
        let again = format!("dust-2 began, dust-2 {how}, judge dust-2");
        assert_eq!(rule(&mut house, "dust", ruling), again);
        accepted(&mut house, "dust-2");
        let next = "dust-2 succeeded, sweep-1 began, begin sweep-1";
        assert_eq!(merged(&mut house, "dust-2"), next);
        assert_eq!(rule(&mut house, "dust", ruling), "refused: succeeded");
    }
}

#[test]
fn a_task_that_is_skipped_counts_as_done_for_what_needs_it() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    assert_eq!(rule(&mut house, "sweep", Ruling::Skip), "sweep skipped", "not begun");
    finish(&mut house, "dust-1", "dust");
    refused(&mut house, "dust-1", 0);
    let next = "dust skipped, wash-1 began, begin wash-1";
    assert_eq!(rule(&mut house, "dust", Ruling::Skip), next);
    let next = "wash-1 succeeded, wax-1 began, begin wax-1";
    assert_eq!(go_through(&mut house, "wash-1", "wash"), next);
    // It may be done after all.
    assert_eq!(restart(&mut house, "dust"), "dust-2 began, begin dust-2");
    assert!(!house.plan(&plan()).unwrap().skipped.contains("dust"));
}

#[test]
fn one_task_alone_stops_the_plan_behind_it() {
    let mut house = House::default();
    let only = Pace { only: Some("dust".to_owned()), ..pace(1) };
    assert_eq!(execute(&mut house, only), "plan begun, dust-1 began, begin dust-1");
    assert_eq!(go_through(&mut house, "dust-1", "dust"), "dust-1 succeeded, stopped by only");
}

#[test]
fn at_a_shut_gate_no_task_begins() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    begin(&mut house, "dust-1", "dust");
    sign(&mut house, "dust-1", Sign::TurnEnded);
    accepted(&mut house, "dust-1");
    told(&mut house, Input::Gate(GateCommand::Shut(wish(PauseMode::Boundary))));
    assert!(matches!(house.gate(), Gate::Pausing(_)));
    assert_eq!(merged(&mut house, "dust-1"), "dust-1 succeeded");
    let opened = Input::Gate(GateCommand::Open(glis_core::gate::Kept::FromLog));
    assert_eq!(told(&mut house, opened), "sweep-1 began, begin sweep-1");
}

#[test]
fn a_plan_that_is_revised_keeps_what_is_done_and_what_is_worked_on() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    go_through(&mut house, "dust-1", "dust");
    let mut more = tasks();
    more.insert(0, TaskSpec { id: "air".to_owned(), ..TaskSpec::default() });
    let (id, spec) = (plan(), spec(more));
    let again =
        Input::Plan(PlanCommand::Execute { id, spec, pace: pace(2), before: Before::default() });
    assert_eq!(told(&mut house, again), "revised, continued, air-1 began, begin air-1");
}

#[test]
fn a_task_whose_daemon_died_before_its_process_was_started_is_begun_by_the_next() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    make(&mut house, "dust-1", "dust");
    let made = |op| Outcome::WorktreeMade {
        op,
        worktree: "/w".to_owned(),
        branch: None,
        notes: Vec::new(),
    };
    outcome(&mut house, "dust-1", made);
    outcome(&mut house, "dust-1", |op| Outcome::StartChecked {
        op,
        result: Ok(Checked::default()),
    });
    let world = World::Gone { left: Leftovers::default() };
    let decision = house.decide(Input::Observed { session: id("dust-1"), world }).unwrap();
    assert!(decision.events.is_empty(), "{:?}", decision.events);
    let starts = |effect: &Effect| matches!(effect, Effect::StartProcess { generation: 1, .. });
    assert!(decision.effects.iter().any(|(_, effect)| starts(effect)), "{:?}", decision.effects);
}

/// What needs it was worked on once and is done, whatever the file says now.
#[test]
fn what_is_done_once_more_does_not_undo_what_needs_it() {
    let mut house = House::default();
    execute(&mut house, pace(1));
    for task in ["dust", "sweep", "wash", "wax"] {
        go_through(&mut house, &format!("{task}-1"), task);
    }
    assert_eq!(restart(&mut house, "dust"), "dust-2 began, begin dust-2");
    begin(&mut house, "dust-2", "dust");
    let mut more = tasks();
    more.push(TaskSpec { id: "air".to_owned(), ..TaskSpec::default() });
    let (id, spec) = (plan(), spec(more));
    let again =
        Input::Plan(PlanCommand::Execute { id, spec, pace: pace(2), before: Before::default() });
    assert_eq!(told(&mut house, again), "revised, continued, air-1 began, begin air-1");
    sign(&mut house, "dust-2", Sign::TurnEnded);
    accepted(&mut house, "dust-2");
    assert_eq!(merged(&mut house, "dust-2"), "dust-2 succeeded");
    assert_eq!(go_through(&mut house, "air-1", "air"), "air-1 succeeded");
    assert!(house.plan(&plan()).is_some_and(|plan| plan.schedule.is_over()));
}
