//! The one place that talks to the terminal, the daemon and the clock.

mod calls;
mod canvas;
mod drafts;
mod edit;
mod events;
mod locale;
mod looks;
mod notify;
mod post;
mod preview;

use crate::input::{Input, Reader};
use crate::keymap::{KeyFault, KeyMap, Keys};
use crate::message::{Effect, Msg, Now, Told};
use crate::model::{Access, Folders, House, Model};
use crate::theme::{Depth, Ground, Theme};
use crate::update::{painted, unsent, update};
use calls::Calls;
use canvas::Canvas;
use drafts::Keeper;
use glis_client::Connector;
use glis_tty::{Tty, Wake};
use glis_wire::call::Scope;
use looks::Looks;
use post::{Arrived, Post, PostBox};
use preview::Follower;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;
use rustix::stdio::stdin;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Sixty frames a second are enough for any eye.
const FRAME: Duration = Duration::from_millis(16);
/// A key is on the screen at once, however lately something else was drawn; but keys that are held down do
/// not draw more often than any terminal shows.
const KEY_FRAME: Duration = Duration::from_millis(4);
/// What follows an escape follows at once, or it was the key.
const ESCAPE_WAIT: Duration = Duration::from_millis(25);
/// A terminal that tells its background does so at once; the first picture waits no longer for it.
const BACKGROUND_WAIT: Duration = Duration::from_millis(40);
const INPUT_BYTES: usize = 64 * 1024;

/// What the terminal is asked to do while it is ours: no cursor, the mouse and where it is drawn to, whether
/// it is typed into, marks around what is pasted, keys that can be told apart. The guard takes all of it
/// back.
const MODES: &[u8] = b"\x1b[?25l\x1b[?1002h\x1b[?1006h\x1b[?1004h\x1b[?2004h\x1b[>5u";
/// What is its background, and who is it: the second is answered by all, and so ends the waiting.
const QUESTIONS: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";

/// What the program hands over.
pub struct Setup {
    /// The way to the daemon. Without the right to change anything, nothing is changed.
    pub connector: Connector,
    /// The keys that the user has chosen.
    pub keys: Keys,
    /// Shows a session on the whole terminal until the user leaves it.
    pub attach: fn(&str) -> Result<(), Told>,
}

/// Shows everything until the user leaves. The terminal is as before afterwards.
pub fn run(setup: Setup) -> Result<(), Told> {
    let failed = |fault: io::Error| Told { message: format!("terminal: {fault}"), hint: None };
    locale::check(|name| std::env::var(name).ok())?;
    let keys = KeyMap::with(&setup.keys).map_err(|faults| told_keys(&faults))?;
    let tty = Tty::take().map_err(failed)?;
    let size = glis_tty::size().map_err(failed)?;
    let depth = Depth::of(|name| std::env::var(name).ok());
    let access =
        if setup.connector.scope < Scope::Manage { Access::ReadOnly } else { Access::Full };
    let drafts = drafts::read(&setup.connector.home);
    let model = Model {
        size: (size.columns, size.rows),
        theme: Theme { depth, ground: Ground::Dark },
        keys,
        folders: Folders {
            here: repository(),
            home: std::env::var("HOME").ok().filter(|home| home.len() > 1),
        },
        house: House { access, ..House::default() },
        ..Model::new(Now::default(), drafts.clone())
    };
    let (post, inbox) = post::open().map_err(failed)?;
    let begun = Instant::now();
    let mut runtime = Runtime {
        begun,
        model,
        canvas: Canvas::new(size.columns, size.rows),
        tty: Some(tty),
        reader: Reader::default(),
        escape: None,
        drawn: None,
        dirty: true,
        pressed: false,
        first: begun + BACKGROUND_WAIT,
        calls: Calls::new(&setup, post.clone()),
        looks: Looks::start(&setup, post.clone()).map_err(failed)?,
        follower: Follower::new(&setup, post.clone()),
        keeper: Keeper::start(setup.connector.home.clone(), drafts, post.clone())
            .map_err(failed)?,
        inbox,
        setup,
        left: false,
    };
    events::start(&runtime.setup, post).map_err(failed)?;
    runtime.tell(&[MODES, QUESTIONS].concat()).map_err(failed)?;
    let done = runtime.serve();
    // However it ends, and whatever is typed into just now.
    let drafts = unsent(&runtime.model);
    let unkept = runtime.keeper.finish(drafts.clone());
    // What cannot be kept is on the terminal, where it can be copied.
    if let (Some(why), false) = (unkept, drafts.is_empty()) {
        drop(runtime.tty.take());
        let typed = drafts.into_values().collect::<Vec<_>>().join("\n");
        let message = format!("what you typed was not kept: {why}");
        return Err(Told { message, hint: Some(format!("this was it:\n{typed}")) });
    }
    match done {
        // Only a signal that ends us interrupts.
        Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {
            match (runtime.ending(), runtime.tty.take()) {
                (Some(signal), Some(tty)) => tty.end_by(signal),
                (Some(_) | None, _) => Err(failed(fault)),
            }
        }
        done => done.map_err(failed),
    }
}

/// Why the keys that the user has chosen are not taken: the first fault, in one line.
fn told_keys(faults: &[KeyFault]) -> Told {
    let first = faults.first().map(|KeyFault { key, why }| format!("{key}: {why}"));
    let hint = Some("`glis config check` lists every fault of the file".to_owned());
    Told { message: first.unwrap_or_default(), hint }
}

struct Runtime {
    begun: Instant,
    model: Model,
    canvas: Canvas,
    /// None only while another part of the program has the terminal.
    tty: Option<Tty>,
    reader: Reader,
    /// When an escape that nothing followed was the key.
    escape: Option<Instant>,
    drawn: Option<Instant>,
    dirty: bool,
    /// Whether what is to be drawn follows from a key.
    pressed: bool,
    /// When the first picture may be drawn: until then the terminal may tell its background.
    first: Instant,
    calls: Calls,
    looks: Looks,
    follower: Follower,
    keeper: Keeper,
    inbox: PostBox,
    setup: Setup,
    /// Whether the user has left: nothing is heard or drawn any more.
    left: bool,
}

impl Runtime {
    fn serve(&mut self) -> io::Result<()> {
        let mut input = vec![0; INPUT_BYTES];
        while !self.left {
            let ready = self.wait()?;
            self.take_signals()?;
            // Keys before output: they are answered in the middle of a flood.
            if ready.input {
                self.take_input(&mut input)?;
            }
            if self.escape.is_some_and(|at| at <= Instant::now()) {
                self.escape = None;
                let found = self.reader.give_up();
                self.take_found(found)?;
            }
            while !self.left
                && let Some(arrived) = self.inbox.next()
            {
                self.arrive(arrived)?;
            }
            // What a key did is seen before more of a flood is taken in: that may take as long as a frame.
            if self.pressed {
                self.draw()?;
            }
            if ready.holder && !self.pressed {
                for msg in self.follower.read() {
                    self.tell_model(msg)?;
                }
            }
            let due = self.model.next_change();
            if due.is_some_and(|due| due <= self.now().ms) {
                self.tell_model(Msg::Time)?;
            }
            self.draw()?;
        }
        Ok(())
    }

    fn now(&self) -> Now {
        let ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Now { ms, wall_secs: jiff::Timestamp::now().as_second() }
    }

    fn wait(&mut self) -> io::Result<Ready> {
        let frame = self.dirty.then(|| self.frame_due());
        let change = self.model.next_change().map(|ms| self.begun + Duration::from_millis(ms));
        let first = [self.escape, frame, change].into_iter().flatten().min();
        let left = first.map(|at| at.saturating_duration_since(Instant::now()));
        // Rounded up: a wait that ends too early would be followed by one of no length, and another.
        let limit = left.map(|left| left + Duration::from_millis(1));
        let limit = limit.and_then(|left| Timespec::try_from(left).ok());
        let Some(tty) = &self.tty else { return Ok(Ready::default()) };
        let mut waiting = vec![
            PollFd::from_borrowed_fd(tty.signals(), PollFlags::IN),
            PollFd::from_borrowed_fd(stdin(), PollFlags::IN),
            PollFd::new(self.inbox.woken(), PollFlags::IN),
        ];
        // While a key waits for its frame, output waits as well: its bytes would only be in the way.
        if let Some(holder) = self.follower.holder().filter(|_| !self.pressed) {
            waiting.push(PollFd::from_borrowed_fd(holder, self.follower.wanted()));
        }
        match poll(&mut waiting, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(fault) => return Err(fault.into()),
        }
        let came = |at: usize| {
            waiting.get(at).is_some_and(|fd| {
                fd.revents().intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR)
            })
        };
        let ready = Ready {
            input: came(1),
            holder: waiting.get(3).is_some_and(|fd| !fd.revents().is_empty()),
        };
        if came(2) {
            self.inbox.quiet();
        }
        Ok(ready)
    }

    fn frame_due(&self) -> Instant {
        match self.drawn {
            Some(drawn) if self.pressed => drawn + KEY_FRAME,
            Some(drawn) => drawn + FRAME,
            None => self.first,
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        if self.left || !self.dirty || self.frame_due() > Instant::now() {
            return Ok(());
        }
        (self.dirty, self.pressed) = (false, false);
        self.drawn = Some(Instant::now());
        let bytes = self.canvas.draw(&self.model);
        self.tell(&bytes)?;
        painted(&mut self.model);
        Ok(())
    }

    fn tell(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.tty.as_mut().map_or(Ok(()), |tty| tty.write_all(bytes))
    }

    fn take_signals(&mut self) -> io::Result<()> {
        while let Some(wake) = self.tty.as_mut().and_then(Tty::wake) {
            match wake {
                Wake::Resized => self.fit()?,
                Wake::Continued => {
                    if let Some(tty) = &self.tty {
                        tty.apply_raw()?;
                    }
                    self.tell(MODES)?;
                    self.fit()?;
                }
                Wake::End(signal) => {
                    if let Some(tty) = &mut self.tty {
                        tty.put_back(Wake::End(signal));
                    }
                    return Err(io::ErrorKind::Interrupted.into());
                }
            }
        }
        Ok(())
    }

    /// The terminal may have another size: everything is drawn anew.
    fn fit(&mut self) -> io::Result<()> {
        let size = glis_tty::size()?;
        let bytes = self.canvas.resize(size.columns, size.rows);
        self.tell(&bytes)?;
        self.tell_model(Msg::Resized { columns: size.columns, rows: size.rows })
    }

    fn take_input(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let count = match rustix::io::read(stdin(), &mut *buffer) {
            // The terminal is gone.
            Ok(0) | Err(Errno::IO) => {
                self.left = true;
                return Ok(());
            }
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => return Ok(()),
            Err(fault) => return Err(fault.into()),
        };
        let found = self.reader.read(buffer.get(..count).unwrap_or_default());
        self.escape = self.reader.waits().then(|| Instant::now() + ESCAPE_WAIT);
        self.take_found(found)
    }

    fn take_found(&mut self, found: Vec<Input>) -> io::Result<()> {
        for input in found {
            if matches!(input, Input::Answered | Input::Background(..)) {
                self.first = self.begun;
            }
            self.pressed = true;
            self.tell_model(Msg::Input(input))?;
        }
        Ok(())
    }

    fn arrive(&mut self, arrived: Arrived) -> io::Result<()> {
        match arrived {
            Arrived::Msg(msg) => self.tell_model(*msg),
            Arrived::Painted(painted) => {
                for msg in self.follower.begin(*painted) {
                    self.tell_model(msg)?;
                }
                Ok(())
            }
        }
    }

    /// Hands a message to the model and does what it wants.
    fn tell_model(&mut self, msg: Msg) -> io::Result<()> {
        if self.left {
            return Ok(());
        }
        self.dirty = true;
        let now = self.now();
        let effects = update(&mut self.model, now, msg);
        for effect in effects {
            if !self.left {
                self.carry_out(effect)?;
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Quit => self.left = true,
            Effect::Suspend => self.suspend()?,
            Effect::Redraw => self.fit()?,
            Effect::StartDaemon => self.calls.start_daemon(),
            Effect::Attach { id } => self.attach(&id)?,
            Effect::Call { ticket, request } => self.calls.call(ticket, *request),
            Effect::Look(ids) => self.looks.look(ids),
            Effect::LookAt(id) => self.calls.look_at(id),
            Effect::Follow(session) => self.follower.follow(session),
            Effect::Fit { session, size } => self.follower.fit(&session, size),
            Effect::Fetch { session, tab, last_seq, task, said } => {
                self.calls.fetch(session, (tab, said), last_seq, task);
            }
            Effect::FindBase { session } => self.calls.find_base(session),
            Effect::CountChanges { session } => self.calls.count_changes(session),
            Effect::KeepDrafts(drafts) => self.keeper.keep(drafts),
            Effect::ReadDraft { id } => self.keeper.read_again(id),
            Effect::FetchPast { session, upto, size } => {
                self.calls.fetch_past(session, upto, size);
            }
            Effect::Type { session, bytes } => {
                if let Err(told) = self.follower.type_in(&session, &bytes) {
                    return self.tell_model(Msg::Failed(told));
                }
            }
            Effect::FindLead { session, request } => self.calls.find_lead(session, request),
            Effect::FetchTrash => self.calls.trash(),
            Effect::FetchJudged => self.calls.judged(),
            Effect::FindChoices => self.calls.find_choices(),
            Effect::KeepFilter { words, keep } => self.calls.keep_filter(words, keep),
            Effect::LookAtPlans(repos) => self.calls.look_at_plans(repos),
            Effect::ReadPlan { repo, file } => self.calls.read_plan(repo, file),
            Effect::Search { words } => self.calls.search(words),
            Effect::Edit { text } => self.edit(&text)?,
            Effect::Copy(text) => self.tell(&notify::clipboard(&text))?,
            Effect::Notify { text, ring } => {
                let bytes = notify::notice(|name| std::env::var(name).ok(), &text, ring);
                self.tell(&bytes)?;
            }
        }
        Ok(())
    }

    /// Gives the terminal away for a while, and takes it back.
    fn lend(&mut self, borrow: impl FnOnce(&mut Self) -> Msg) -> io::Result<()> {
        self.follower.follow(None);
        drop(self.tty.take());
        let msg = borrow(self);
        self.tty = Some(Tty::take()?);
        self.tell(MODES)?;
        self.canvas.forget();
        self.reader = Reader::default();
        self.fit()?;
        self.tell_model(msg)
    }

    fn attach(&mut self, id: &str) -> io::Result<()> {
        let id = id.to_owned();
        self.lend(|runtime| Msg::Returned((runtime.setup.attach)(&id)))
    }

    fn edit(&mut self, text: &str) -> io::Result<()> {
        let text = text.to_owned();
        self.lend(|runtime| Msg::Edited(edit::edit(&runtime.setup.connector.home, &text)))
    }

    /// Back to the shell, until it continues us.
    fn suspend(&mut self) -> io::Result<()> {
        self.lend(|_| {
            let own = rustix::process::getpid();
            // The default action stops us here; we go on when the shell says so.
            let _ = rustix::process::kill_process(own, Signal::TSTP);
            Msg::Returned(Ok(()))
        })
    }

    /// The signal that is waiting to be read. Others may have come before it.
    fn ending(&mut self) -> Option<i32> {
        while let Some(wake) = self.tty.as_mut().and_then(Tty::wake) {
            if let Wake::End(signal) = wake {
                return Some(signal);
            }
        }
        None
    }
}

#[derive(Default)]
struct Ready {
    input: bool,
    holder: bool,
}

fn repository() -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let root = here.ancestors().find(|folder| folder.join(".git").exists());
    root.map(PathBuf::from).and_then(|root| root.into_os_string().into_string().ok())
}

fn deliver(post: &Post, msg: Msg) {
    post.send(Arrived::Msg(Box::new(msg)));
}
