//! Questions to the user, such as requests for permission. The host shows them. They are stored with the plan, so a
//! restarted host knows which are open, and the agent is not continued while one is.

use punch_engine::{AnswerOutcome, QuestionOption, SessionAsk};
use serde::{Deserialize, Serialize};

use crate::{Error, Session};

/// An answer to a question.
pub type Reply = punch_engine::QuestionReply;

/// A question that waits for the user. Its text comes from the agent and is untrusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Question {
    /// Its number in the plan.
    pub id: u64,
    /// When it was asked, in milliseconds since the epoch.
    pub asked_at: i64,
    /// The question, at most 8,000 characters.
    pub text: String,
    /// The possible answers.
    pub options: Vec<QuestionOption>,
    /// The id of the todo that it is about.
    pub todo: Option<String>,
}

impl Session {
    /// Asks the user something, and returns the number of the question. Show it and report what the user says with
    /// [`Session::answer`]. Until then nothing is continued and no reminder comes. A session asks one thing at a time: a
    /// question that was open before is closed.
    ///
    /// ```
    /// # use punchlist::{Finish, Next, Op, Options, QuestionOption, Reason, Reply, Session};
    /// # fn main() -> Result<(), punchlist::Error> {
    /// let session = Session::in_memory(Options::new("my-agent"))?;
    /// session.apply(&[Op::add("Clean up"), Op::start("T-1")])?;
    /// let yes = QuestionOption { id: "yes".into(), label: "Remove it".into(), allows: true };
    /// let id = session.ask("May I remove target?", Some("T-1"), &[yes])?;
    /// assert_eq!(session.questions()?[0].todo.as_deref(), Some("T-1"));
    /// session.answer(id, &Reply::Allow, None)?;
    /// assert!(session.questions()?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn ask(&self, text: &str, todo: Option<&str>, options: &[QuestionOption]) -> Result<u64, Error> {
        let todo = todo.map(|id| self.engine.resolve(self.plan, id)).transpose()?;
        let ask = SessionAsk { session: &self.key, agent: &self.agent, todo, text, options: options.to_vec() };
        Ok(self.engine.ask_in_session(self.plan, &ask)?)
    }

    /// The open questions of this session, newest first.
    pub fn questions(&self) -> Result<Vec<Question>, Error> {
        let open = self.engine.questions_of(self.plan, &self.key)?;
        let plan = self.engine.whole(self.plan)?;
        let one = |question: punch_engine::AgentQuestion| Question {
            id: question.id,
            asked_at: question.asked_at,
            text: question.text,
            options: question.options,
            todo: question.todo.and_then(|uid| plan.get(uid)).map(|todo| todo.id.clone()),
        };
        Ok(open.into_iter().map(one).collect())
    }

    /// Reports the user's answer to a question of this session, with a reason for the agent if there is one. Of several
    /// answers only the first counts.
    pub fn answer(&self, id: u64, reply: &Reply, reason: Option<&str>) -> Result<(), Error> {
        let error = |message: String, hint: &str| Err(Error { code: "invalid", message, hint: hint.to_owned() });
        match self.engine.answer_in_session(self.plan, &self.key, id, reply, reason)? {
            AnswerOutcome::Accepted => Ok(()),
            AnswerOutcome::NotOffered => {
                error(format!("question {id} has no such option"), "answer with one of its options")
            }
            AnswerOutcome::TooLate(_) => {
                error(format!("question {id} was already answered or closed"), "`Session::questions` has the open ones")
            }
            AnswerOutcome::Unknown | AnswerOutcome::OwnTerminalOnly | AnswerOutcome::OtherMachine(_) => {
                error(format!("this session asks no question {id}"), "`Session::questions` has the open ones")
            }
        }
    }
}
