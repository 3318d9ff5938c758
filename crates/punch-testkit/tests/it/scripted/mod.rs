//! The scripted model over plain HTTP, one file per wire format, and the scripted agent.

mod agent;
mod anthropic;
mod chat;
mod client;
mod gemini;
mod play;
mod responses;
mod rough;
