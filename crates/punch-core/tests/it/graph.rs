//! The graph against oracles that share no code with it.

#[path = "graph/big.rs"]
mod big;
#[path = "graph/bulk.rs"]
mod bulk;
#[path = "graph/net.rs"]
mod net;
#[path = "graph/oracle.rs"]
mod oracle;
#[path = "graph/reason.rs"]
mod reason;
