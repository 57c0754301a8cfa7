//! What can be chosen: agents and personas for a new session, and filters that people have kept for every face.

use super::answer::{Answer, bad, trouble};
use super::state::ServerState;
use crate::environments::{Caller, own_environment};
use crate::panics::held;
use crate::pools::Kind;
use glis_record::durable;
use glis_wire::client::Response;
use glis_wire::view::ChoicesView;
use std::io;
use std::path::Path;
use std::sync::Mutex;

/// The file in the state folder: a filter a line.
const FILTERS: &str = "filters";
/// Among more nobody finds one.
const FILTERS_MAX: usize = 50;
const FILTER_CHARS_MAX: usize = 200;

/// One changes the file at a time.
static CHANGING: Mutex<()> = Mutex::new(());

pub(super) async fn tell(state: &ServerState, repo: Option<String>, env: Option<Caller>) -> Answer {
    let env = env.map_or_else(own_environment, |caller| caller.env);
    let (creator, folder) = (state.creator.clone(), state.home.state.clone());
    let look = move || -> io::Result<ChoicesView> {
        let (agents, personas) = creator.choices(repo.as_deref(), &env);
        Ok(ChoicesView { agents, personas, filters: kept(&folder)? })
    };
    let choices = state.pools.run(Kind::Look, look).await.map_err(|fault| not_kept(&fault))?;
    Ok(Response::Choices(Box::new(choices)))
}

/// Keeps one, which then stands last, or forgets it.
pub(super) async fn filter(
    state: &ServerState,
    words: String,
    keep: bool,
    env: Option<Caller>,
) -> Answer {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() || words.chars().count() > FILTER_CHARS_MAX {
        return Err(bad(format!("a filter is some words, of {FILTER_CHARS_MAX} letters at most")))?;
    }
    let folder = state.home.state.clone();
    let change = move || -> io::Result<bool> {
        let _alone = held(&CHANGING);
        let mut all = kept(&folder)?;
        all.retain(|one| *one != words);
        if keep {
            all.push(words);
        }
        let fits = all.len() <= FILTERS_MAX;
        if fits {
            durable::replace(&folder, FILTERS, all.join("\n").as_bytes())?;
        }
        Ok(fits)
    };
    if !state.pools.run(Kind::Look, change).await.map_err(|fault| not_kept(&fault))? {
        let why = format!("{FILTERS_MAX} filters are kept already: forget one of them first");
        return Err(bad(why))?;
    }
    tell(state, None, env).await
}

fn kept(folder: &Path) -> io::Result<Vec<String>> {
    let text = durable::read_file(&folder.join(FILTERS))?;
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}

fn not_kept(fault: &io::Error) -> Response {
    trouble(format!("the file of filters: {fault}"))
}
