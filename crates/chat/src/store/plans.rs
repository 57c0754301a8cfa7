//! Which chats hear of which plans, and what they were told.

use super::{Change, Follow, Look, Mark, StoreFault};
use rusqlite::{Row, params};

/// A chat that hears of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFollow {
    /// The plan's id.
    pub plan: String,
    /// The chat.
    pub chat: i64,
    /// The topic in it.
    pub thread: Option<i64>,
    /// Who asked for it: whom its buttons are for.
    pub user: i64,
    /// A folder of its repository.
    pub place: String,
    /// What was told of it.
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

const FIELDS: &str = "plan, chat, thread, user, place, told";

fn plan_follow(row: &Row<'_>) -> rusqlite::Result<PlanFollow> {
    Ok(PlanFollow {
        plan: row.get(0)?,
        chat: row.get(1)?,
        thread: row.get(2)?,
        user: row.get(3)?,
        place: row.get(4)?,
        told: row.get(5)?,
    })
}

impl Look<'_> {
    /// Every plan that a chat hears of.
    pub fn followed_plans(&self) -> Result<Vec<PlanFollow>, StoreFault> {
        let sql = format!("SELECT {FIELDS} FROM plans ORDER BY plan, chat");
        let mut rows = self.db.prepare_cached(&sql)?;
        let found = rows.query_map([], plan_follow)?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// How a chat hears of a plan.
    pub fn plan_follow(&self, plan: &str, chat: i64) -> Result<Option<PlanFollow>, StoreFault> {
        let all = self.followed_plans()?;
        Ok(all.into_iter().find(|follow| follow.plan == plan && follow.chat == chat))
    }
}

impl Change<'_> {
    /// A chat hears of a plan from now on, and was told all that is.
    pub fn follow_plan(&self, follow: &PlanFollow) -> Result<(), StoreFault> {
        let sql = "INSERT INTO plans VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET \
                   thread = ?3, user = ?4, place = ?5, told = ?6";
        self.db.prepare_cached(sql)?.execute(params![
            follow.plan,
            follow.chat,
            follow.thread,
            follow.user,
            follow.place,
            follow.told
        ])?;
        Ok(())
    }

    /// What a chat was told of a plan.
    pub fn set_plan_told(&self, plan: &str, chat: i64, told: &str) -> Result<(), StoreFault> {
        let sql = "UPDATE plans SET told = ?3 WHERE plan = ?1 AND chat = ?2";
        self.db.prepare_cached(sql)?.execute(params![plan, chat, told])?;
        Ok(())
    }

    /// A chat hears no more of a plan.
    pub fn unfollow_plan(&self, plan: &str, chat: i64) -> Result<(), StoreFault> {
        let sql = "DELETE FROM plans WHERE plan = ?1 AND chat = ?2";
        self.db.prepare_cached(sql)?.execute(params![plan, chat])?;
        Ok(())
    }
}
