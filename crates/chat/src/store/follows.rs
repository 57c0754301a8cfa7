//! Which chats hear of which sessions and plans, and how much they were told.

use super::{Change, Look, StoreFault};
use rusqlite::params;
use serde::{Deserialize, Serialize};

/// A chat that hears of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follow {
    pub session: String,
    pub chat: i64,
    /// The topic of this session.
    pub thread: Option<i64>,
    /// Who last spoke to it there: whom its questions are for.
    pub user: i64,
    pub name: String,
    /// The last entry that was told.
    pub told: Mark,
}

/// An entry of a conversation, to be found again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// When it was written; nothing before is told, whatever becomes of the file.
    pub at: String,
    /// A sum over all of it.
    pub sum: i64,
}

/// A chat that hears of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFollow {
    pub plan: String,
    pub chat: i64,
    pub thread: Option<i64>,
    /// Who asked for it: whom its buttons are for.
    pub user: i64,
    /// A folder of its repository.
    pub place: String,
    pub told: String,
}

impl PlanFollow {
    /// The same chat hears of a session that works on it, from behind what was told.
    pub fn session(&self, session: &str, name: &str, told: Mark) -> Follow {
        Follow {
            session: session.to_owned(),
            chat: self.chat,
            // A topic is one session's.
            thread: None,
            user: self.user,
            name: name.to_owned(),
            told,
        }
    }
}

impl Look<'_> {
    /// The chats that hear of this session.
    pub fn follows_of(&self, session: &str) -> Result<Vec<Follow>, StoreFault> {
        self.find("follow", "key", session)
    }

    pub fn follow_in(&self, session: &str, chat: i64) -> Result<Option<Follow>, StoreFault> {
        self.get("follow", session, chat)
    }

    /// Every session that a chat hears of, once.
    pub fn followed(&self) -> Result<Vec<String>, StoreFault> {
        let mut rows =
            self.db.prepare_cached("SELECT DISTINCT key FROM docs WHERE kind = 'follow'")?;
        let found = rows.query_map([], |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// The session whose topic this is.
    pub fn of_topic(&self, chat: i64, thread: i64) -> Result<Option<String>, StoreFault> {
        let follows: Vec<Follow> = self.find("follow", "chat", chat)?;
        let own = follows.into_iter().find(|follow| follow.thread == Some(thread));
        Ok(own.map(|follow| follow.session))
    }

    /// Every plan that a chat hears of.
    pub fn followed_plans(&self) -> Result<Vec<PlanFollow>, StoreFault> {
        self.find("plan", "kind", "plan")
    }

    pub fn plan_follow(&self, plan: &str, chat: i64) -> Result<Option<PlanFollow>, StoreFault> {
        self.get("plan", plan, chat)
    }
}

impl Change<'_> {
    /// A chat hears of a session from now on. What it was told already stays told.
    pub fn follow(&self, follow: &Follow) -> Result<(), StoreFault> {
        let known = self.look().follow_in(&follow.session, follow.chat)?;
        let mut follow = follow.clone();
        if let Some(Follow { thread, told, .. }) = known {
            (follow.thread, follow.told) = (follow.thread.or(thread), told);
        }
        self.put("follow", &follow.session, follow.chat, &follow)
    }

    /// Changes how a chat hears of a session.
    pub fn edit_follow(
        &self,
        session: &str,
        chat: i64,
        edit: impl FnOnce(&mut Follow),
    ) -> Result<(), StoreFault> {
        self.edit(("follow", session, chat), edit)
    }

    /// A topic is gone: what was for it is for its chat. The names of the sessions whose it was.
    pub fn leave_topic(&self, chat: i64, thread: i64) -> Result<Vec<String>, StoreFault> {
        let follows: Vec<Follow> = self.look().find("follow", "chat", chat)?;
        let own = follows.into_iter().filter(|follow| follow.thread == Some(thread));
        let sql = "UPDATE docs SET body = json_remove(body, '$.thread') \
                   WHERE chat = ?1 AND body ->> '$.thread' = ?2";
        self.run(sql, params![chat, thread])?;
        Ok(own.map(|follow| follow.name).collect())
    }

    pub fn unfollow(&self, session: &str) -> Result<(), StoreFault> {
        self.run("DELETE FROM docs WHERE kind = 'follow' AND key = ?1", [session])
    }

    /// A chat hears of a plan from now on, and was told all that is.
    pub fn follow_plan(&self, follow: &PlanFollow) -> Result<(), StoreFault> {
        self.put("plan", &follow.plan, follow.chat, follow)
    }

    pub fn unfollow_plan(&self, plan: &str, chat: i64) -> Result<(), StoreFault> {
        self.remove("plan", plan, chat)
    }
}
