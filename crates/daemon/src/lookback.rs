//! Looking back at an iteration of a loop: its work committed, what is to be reached tried, and what
//! it has left summed up.

use crate::check_list;
use crate::common::Common;
use crate::create::fresh_ref;
use crate::jobs::Jobs;
use crate::pools::Kind;
use crate::shell_line::{End, ShellLine, Ticket};
use crate::trees::Trees;
use crate::worktrees::top;
use glis_core::input::Outcome;
use glis_core::looping::{LookedBack, LoopEnd, LoopTrace};
use glis_core::session::Session;
use glis_record::conversation;
use glis_snapshot::SnapshotFault;
use glis_wire::view::Voice;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the command said by which the end of a loop is known, in the session's folder.
const UNTIL_LOG: &str = "until.log";
/// Names the processes of that command, which a daemon that died has left behind.
const UNTIL_MARK: &str = "until.mark";
/// The last words of an agent stand in the last of these bytes, unless it has said none.
const TAIL_BYTES: u64 = 128 * 1024;

/// What the command says by which the end of a loop is known.
enum Reached {
    Yes,
    No,
    /// A person did not wait for it.
    CutShort,
}

pub(crate) struct LookBack {
    pub(crate) common: Arc<Common>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) trees: Arc<Trees>,
}

impl LookBack {
    /// Looks back at an iteration. Every step may be repeated, so what a kill leaves is done again.
    pub(crate) fn look(self: &Arc<Self>, session: &Session, iteration: u32) {
        let Some(looped) = &session.ahead.looped else { return };
        let (cost_micros, refs) = (looped.cost_micros, session.spec.traits.refs);
        let failed = move |why: String| {
            let (reached, left, note) = (None, None, Some(why));
            let agent_ref = fresh_ref(refs);
            Outcome::LookedBack(LookedBack {
                iteration,
                reached,
                left,
                cost_micros,
                agent_ref,
                note,
            })
        };
        let (own, ticket) = (Arc::clone(self), self.jobs.lines.want(&session.id));
        let what = (Kind::LookBack, "look back at an iteration");
        self.jobs.blocking(session, what, failed, move |session| {
            own.look_now(session, iteration, &ticket).map(Outcome::LookedBack)
        });
    }

    /// What comes of it; nothing where nobody waits for it any more.
    fn look_now(&self, session: &Session, iteration: u32, ticket: &Ticket) -> Option<LookedBack> {
        let mut notes = Vec::new();
        let spec = session.ahead.looped.as_ref().map(|looped| &looped.spec);
        crate::failpoint::reach("look-back", &session.name);
        if spec.is_some_and(|spec| spec.auto_commit)
            && let Err(fault) =
                self.trees.commit_iteration(session, iteration, &self.about(session))
        {
            notes.push(format!("its work was not committed: {fault}"));
        }
        notes.extend(check_list::take_over(session, &self.common.home.session(&session.id.0)));
        let until = spec.and_then(|spec| spec.until.as_deref());
        let reached = match until.map(|line| (line, self.is_reached(session, line, ticket))) {
            Some((_, Ok(Reached::Yes))) => Some(LoopEnd::Until),
            Some((_, Ok(Reached::No))) => None,
            Some((_, Ok(Reached::CutShort))) => return None,
            Some((line, Err(why))) => {
                notes.push(format!("--until {line:?}: {why}"));
                None
            }
            // Where nothing else says so, its list does.
            None => check_list::of(session).filter(check_list::is_done).map(|_| LoopEnd::List),
        };
        let left = match self.left(session) {
            Ok(left) => left,
            Err(why) => {
                notes.push(format!("what it left could not be read: {why}"));
                None
            }
        };
        let agent_ref = fresh_ref(session.spec.traits.refs);
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        let cost_micros = self.cost(session);
        Some(LookedBack { iteration, reached, left, cost_micros, agent_ref, note })
    }

    /// What an iteration was about: what it has ticked in its list, else what its agent said last.
    fn about(&self, session: &Session) -> String {
        let ticked = check_list::ticked(session).join(", ");
        if ticked.is_empty() {
            return last_said(&conversation::file_of(&self.folder(session)));
        }
        ticked
    }

    /// Whether the command that was given succeeds, in the session's environment and worktree. What it
    /// printed is kept for a person who wants to know why a loop goes on; nothing relies on it.
    fn is_reached(
        &self,
        session: &Session,
        command: &str,
        ticket: &Ticket,
    ) -> Result<Reached, String> {
        let dir = self.folder(session);
        let secs_max = self.common.settings.now().looped.until_secs;
        let line = ShellLine {
            command: command.to_owned(),
            env: self.common.environments.of_next_start(session).0,
            worktree: folder_of(session)?,
            log: dir.join(UNTIL_LOG),
            dir,
            mark: UNTIL_MARK,
            secs_max,
            told_bytes_max: 0,
            umask: self.common.umask,
        };
        match line.run(Some(ticket)).map_err(|fault| fault.to_string())? {
            (End::Well, _) => Ok(Reached::Yes),
            (End::Failed(_), _) => Ok(Reached::No),
            (End::CutShort | End::Replaced, _) => Ok(Reached::CutShort),
            (End::TooLate, _) => Err(format!("it was not done after {secs_max} s, and was ended")),
        }
    }

    /// What two iterations are compared by; nothing where there is no repository.
    fn left(&self, session: &Session) -> Result<Option<LoopTrace>, SnapshotFault> {
        if top(session)?.is_none() {
            return Ok(None);
        }
        let tree = self.trees.glance(session)?.digest().to_owned();
        let words = sum(&last_said(&conversation::file_of(&self.folder(session))));
        Ok(Some(LoopTrace { tree, words }))
    }

    fn cost(&self, session: &Session) -> u64 {
        conversation::cost_micros(&conversation::file_of(&self.folder(session))).unwrap_or_default()
    }

    fn folder(&self, session: &Session) -> PathBuf {
        self.common.home.session(&session.id.0)
    }
}

fn folder_of(session: &Session) -> Result<PathBuf, String> {
    let folder = session.place.worktree.as_ref().map(PathBuf::from).filter(|path| path.is_dir());
    folder.ok_or_else(|| "its worktree is gone".to_owned())
}

/// What the agent said last; nothing where it cannot be read.
fn last_said(conversation: &Path) -> String {
    let (entries, _) = conversation::read_tail(conversation, TAIL_BYTES).unwrap_or_default();
    let said = entries.into_iter().rev().find(|entry| entry.voice == Voice::Assistant);
    said.map(|entry| entry.content).unwrap_or_default()
}

/// Only ever compared with the one before: another build may have another.
fn sum(words: &str) -> String {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
