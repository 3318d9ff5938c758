//! What workers and the store say to each other.

/// Names a todo in the whole fleet: the number of its plan, and its uid there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TodoKey {
    /// Index of the plan.
    pub plan: usize,
    /// The todo in it.
    pub uid: u64,
}

/// A claimed todo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimedTodo {
    /// The todo.
    pub job: TodoKey,
    /// The fence of this claim.
    pub fence: u64,
}

/// What a worker asks of the store.
#[derive(Clone, Copy, Debug)]
pub enum StoreRequest {
    /// The best ready todo of a plan, under a lease.
    Claim {
        /// Index of the plan.
        plan: usize,
    },
    /// A longer lease.
    Renew(ClaimedTodo),
    /// Completion of a claimed todo.
    Done(ClaimedTodo),
}

/// A request, with what is needed to bring the answer back.
#[derive(Clone, Copy, Debug)]
pub struct RequestEnvelope {
    /// Index of the worker.
    pub worker: usize,
    /// Which life of the worker sent it: answers to an earlier one reach nobody.
    pub life: u32,
    /// The seat that waits for the answer.
    pub seat: usize,
    /// Numbers the requests of a seat; answers to older ones are ignored.
    pub number: u64,
    /// When it was sent, by the monotonic clock of its host.
    pub sent: i64,
    /// How long the clock of its host had stood still until then.
    pub lost_time: i64,
    /// The highest revision of the plan that any answer had shown when it was sent.
    pub seen: u64,
    /// What is asked.
    pub ask: StoreRequest,
}

/// The store's answer.
#[derive(Clone, Copy, Debug)]
pub enum StoreReply {
    /// A todo, or nothing is ready.
    Claimed(Option<ClaimedTodo>),
    /// The lease is longer now.
    Renewed,
    /// The todo is completed.
    Completed,
    /// The rules say no: the claim is gone.
    Refused,
}
