//! Taking everything out, and taking it back in: asked for by people and at the terminal, compared byte by byte, and damaged
//! on purpose.

mod asking;
mod backup;
mod command;
mod damaged;
mod everything;
mod generated;
mod others;
mod restarts;
mod round_trip;
mod tenancy;
mod world;
