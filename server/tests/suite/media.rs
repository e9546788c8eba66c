//! Files: sent to the storage by signed requests, confirmed, shown and fetched; with the directory of the server as the
//! storage, and with a server that speaks S3 and checks every signature.

mod deleting;
mod fetching;
mod forms;
mod large;
mod names;
mod outage;
mod parts;
mod refusals;
mod tenancy;
mod thumbnails;
mod tools;
mod uploads;
mod world;
