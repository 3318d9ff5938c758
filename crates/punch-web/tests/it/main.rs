//! The web board from outside: requests as bytes, answers as a browser or a program gets them.

mod access;
mod answers;
mod client;
mod description;
mod following;
mod page;
