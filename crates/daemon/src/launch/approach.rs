//! How the next process of a session begins: afresh, or by the conversation that there is.

use crate::environments::Env;
use crate::last_words::last_lines;
use crate::program::{self, End};
use glis_agent::{Agent, Approach, LaunchPlan, Places, Rows};
use glis_core::refusal::ResumeFault;
use glis_core::session::Session;
use glis_record::location::{self, Files};
use glis_record::vault::{Standing, Vault};
use glis_record::{conversation, durable, rows};
use glis_wire::home::Home;
use glis_wire::view::Voice;
use std::ffi::OsStr;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use tracing::warn;

/// A conversation of 23 MB in 2500 pieces took 4 s.
const TAKE_BACK_SECS_MAX: u32 = 120;

/// How a process begins, and by what.
pub(super) struct Found {
    pub(super) approach: Approach,
    pub(super) transcript: Option<Transcript>,
    /// The copy that comes in the place of a transcript that is gone.
    pub(super) vault: Option<Vault>,
    /// A transcript without a message, which keeps the agent from beginning under its id, or one that
    /// has less in it than the copy.
    pub(super) in_the_way: Option<PathBuf>,
    /// What a person should know about the transcript.
    pub(super) warning: Option<String>,
}

/// What there is of a transcript: the agent's own, or our copy.
pub(super) enum Transcript {
    /// Of a conversation in several files some may be here twice: as they are, and as a copy.
    Files(Vec<PathBuf>),
    Rows(Rows),
}

impl Transcript {
    /// All of it. What is not there any more is empty.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        match self {
            Self::Files(paths) => {
                let read = paths.iter().map(|path| durable::read_file(path));
                Ok(read.collect::<io::Result<Vec<_>>>()?.concat())
            }
            Self::Rows(rows) => {
                let found = rows::text(rows)?;
                Ok(found.map(|(_, text)| text.into_bytes()).unwrap_or_default())
            }
        }
    }
}

/// How the next process begins. A session id whose transcript is gone, from its place and from the
/// vault, is an error, unless the agent never said anything under it: then there is nothing that
/// could be missing.
pub(super) fn find(
    home: &Home,
    session: &Session,
    agent: &dyn Agent,
    places: &Places,
    said: &SaidSoFar,
) -> Result<Found, ResumeFault> {
    let begin = |approach, transcript, vault| Found {
        approach,
        transcript,
        vault,
        in_the_way: None,
        warning: None,
    };
    let fresh = begin(Approach::Fresh, None, None);
    let resume = |transcript, vault| begin(Approach::Resume, transcript, vault);
    let Some(id) = &session.agent.agent_ref else { return Ok(fresh) };
    let vault = Vault::of(&home.session(&session.id.0), id);
    let spoke = said.agent_spoke;
    if let Some(rows) = agent.rows(id, places) {
        return match rows::state(&rows) {
            Ok(Some(state)) if !vault.is_coming() => {
                let warning = vault.had_more_than(&state).then(|| rewritten(&vault));
                Ok(Found { warning, ..resume(Some(Transcript::Rows(rows)), None) })
            }
            Ok(_) if vault.is_filled() => {
                Ok(resume(Some(Transcript::Files(vec![vault.copy()])), Some(vault)))
            }
            Ok(_) if spoke => Err(ResumeFault::NoTranscript(rows::describe(&rows))),
            Ok(_) => Ok(fresh),
            Err(fault) => {
                // Tables of a later version, or a disk that fails: whether the conversation is there,
                // the agent itself will say.
                warn!("{fault}");
                Ok(if session.agent.ran { resume(None, None) } else { fresh })
            }
        };
    }
    let Some(place) = agent.transcript(id, places) else {
        // Nothing to look at: what ran before under an id goes on under it.
        return Ok(if session.agent.ran { resume(None, None) } else { fresh });
    };
    // Of an agent that has spoken, whatever is there is what there is.
    let is_useful =
        |path: &Path| spoke || agent.holds_messages(&durable::read_file(path).unwrap_or_default());
    // Gemini CLI leaves files beside the real one, which are found if that has lost everything.
    let noted = vault.place().filter(|path| path.exists() && location::may_be(&place, path));
    let found = noted.or_else(|| location::find(&place));
    // What cannot be read now, the agent may read later, or say why not.
    let standing = found.as_deref().map(|path| vault.judge(path).unwrap_or(Standing::Whole));
    let copy_helps = matches!(standing, None | Some(Standing::Damaged))
        && vault.is_filled()
        && is_useful(&vault.copy());
    let further = || {
        let segments = Files::find(agent, id, places).segments.into_iter();
        segments.chain(vault.parts().into_iter().map(|part| part.copy()))
    };
    let with_further =
        |path: PathBuf| Transcript::Files(iter::once(path).chain(further()).collect());
    if copy_helps {
        let warning = found.as_deref().map(|path| {
            format!(
                "its transcript was incomplete: our copy was put back, {} was set aside",
                path.display()
            )
        });
        let back = resume(Some(with_further(vault.copy())), Some(vault));
        return Ok(Found { in_the_way: found, warning, ..back });
    }
    if let Some(transcript) = found.clone().filter(|path| is_useful(path)) {
        let warning = (standing == Some(Standing::Rewritten)).then(|| rewritten(&vault));
        return Ok(Found { warning, ..resume(Some(with_further(transcript)), None) });
    }
    if spoke {
        return Err(ResumeFault::NoTranscript(location::describe(&place)));
    }
    Ok(Found { in_the_way: found, ..fresh })
}

fn rewritten(vault: &Vault) -> String {
    let copy = vault.copy();
    let folder = copy.parent().unwrap_or(&copy).display();
    format!("another program rewrote its transcript; the former one is kept in {folder}")
}

/// Lets the agent's own program take the copy back into its database, in the folder and with the
/// variables that the agent is about to get: they say which database that is, and the folder becomes
/// the one of the conversation. It goes on message by message, so it counts only when all are there.
pub(super) fn take_back(
    session: &Session,
    vault: &Vault,
    rows: &Rows,
    plan: &LaunchPlan,
    env: &Env,
) -> Result<(), ResumeFault> {
    let copy = vault.copy();
    let lost = |why: String| {
        ResumeFault::NoTranscript(format!("{}; {}: {why}", rows::describe(rows), copy.display()))
    };
    vault.comes().map_err(|fault| lost(fault.to_string()))?;
    let arguments: Vec<&OsStr> =
        rows.take_back.iter().map(OsStr::new).chain([copy.as_os_str()]).collect();
    let folder = Path::new(session.place.worktree.as_deref().unwrap_or_default());
    let told = program::run(Path::new(plan.program()), &arguments, env, folder, TAKE_BACK_SECS_MAX)
        .map_err(|fault| lost(fault.to_string()))?;
    let program = || format!("`{} {}`", plan.program(), rows.take_back.join(" "));
    let words = last_lines(&[told.output, told.errors].concat());
    match told.end {
        End::Well => {}
        End::Failed(status) => {
            return Err(lost(format!("{} failed, {status}: {words}", program())));
        }
        End::TooLate => {
            let secs = TAKE_BACK_SECS_MAX;
            return Err(lost(format!("{} was not done after {secs} s: {words}", program())));
        }
    }
    match vault.came(rows) {
        Ok(true) => Ok(()),
        Ok(false) => Err(lost(format!("{} did not bring all of it back", program()))),
        Err(fault) => Err(lost(fault.to_string())),
    }
}

/// Refuses a conversation that a process has open which is none of ours: both would write to it, and
/// each would go on without what the other said.
pub(super) fn check_alone(
    agent: &dyn Agent,
    id: Option<&str>,
    places: &Places,
) -> Result<(), ResumeFault> {
    let Some(folder) = agent.register(&places.home) else { return Ok(()) };
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let files = entries.filter_map(|entry| durable::read_file(&entry.path()).ok());
    let mut others = files.filter_map(|file| agent.registered(&file));
    let alive = others.find(|other| {
        Some(other.id.as_str()) == id && glis_os::process::runs(other.pid, other.start_ticks)
    });
    match alive {
        Some(other) => {
            Err(ResumeFault::Locked(format!("process {} has the conversation open", other.pid)))
        }
        None => Ok(()),
    }
}

/// What the conversation under the present session id of the agent holds.
#[derive(Default)]
pub(super) struct SaidSoFar {
    pub(super) messages: Vec<String>,
    agent_spoke: bool,
}

pub(super) fn said(home: &Home, session: &Session) -> SaidSoFar {
    let file = conversation::file_of(&home.session(&session.id.0));
    let current = session.agent.agent_ref.as_deref();
    let mut found = SaidSoFar::default();
    let read = conversation::each(&file, |entry| {
        if conversation::under(&entry) != current {
            return;
        }
        match entry.voice {
            // What was said again is one message.
            Voice::User if found.messages.contains(&entry.content) => {}
            Voice::User => found.messages.push(entry.content),
            Voice::Assistant | Voice::Tool => found.agent_spoke = true,
            Voice::System => {}
        }
    });
    // What cannot be read may have been anything.
    found.agent_spoke |= read.is_err();
    found
}
