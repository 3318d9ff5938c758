//! Foreign formats: golden files in, the extended format out; what goes out comes back; hostile input.

mod bad;
mod golden;
mod round_trip;
