//! Tests of the test tools that are programs in their own right.
#![expect(clippy::unwrap_used, reason = "a test that cannot get at its server has failed")]

mod scripted;
