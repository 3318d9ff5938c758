//! What is known about the clone that the file belongs to.

use rusqlite::{OptionalExtension, params};

use super::view::SqliteTransaction;
use crate::{CloneFacts, CloneFactsTx, PlanId, StoreError};

impl CloneFacts for SqliteTransaction<'_> {
    fn worktree_plan(&self, worktree: &str) -> Result<Option<PlanId>, StoreError> {
        let sql = "SELECT plan FROM worktree_plan WHERE worktree = ?1";
        let read = self.conn.prepare_cached(sql);
        let read = read.and_then(|mut s| s.query_row([worktree], |row| row.get(0).map(PlanId)).optional());
        self.sql("read the plan of a worktree", read)
    }

    fn plan_file(&self, plan: PlanId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT body FROM plan_file WHERE plan = ?1";
        self.first("read the plan file", sql, [plan.0])
    }
}

impl CloneFactsTx for SqliteTransaction<'_> {
    fn put_worktree_plan(&mut self, worktree: &str) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO worktree_plan (worktree, plan) VALUES (?1, ?2)";
        self.execute("choose the plan of a worktree", sql, params![worktree, self.plan.0]).map(|_| ())
    }

    fn put_plan_file(&mut self, body: Option<&str>) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO plan_file (plan, body) VALUES (?1, ?2)";
        match body {
            Some(body) => self.execute("store the plan file", sql, params![self.plan.0, body]),
            None => self.execute("delete the plan file", "DELETE FROM plan_file WHERE plan = ?1", [self.plan.0]),
        }
        .map(|_| ())
    }
}
