use std::{net::SocketAddr, path::PathBuf, sync::Mutex};

use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use s3s::{
    auth::SimpleAuth,
    service::{S3Service, S3ServiceBuilder},
};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::{
    net::TcpListener,
    runtime::Runtime,
    task::{JoinHandle, JoinSet},
};

use super::Builder;

/// The bucket, and the key for it.
const BUCKET: &str = "files";
const KEY_ID: &str = "AKIDOFTHESTORIES";
const KEY: &str = "secret-key-of-the-stories";

/// A server that speaks S3 and checks every signature, with one bucket. It can be halted and started again.
pub struct S3Server {
    folder: TempDir,
    address: SocketAddr,
    service: S3Service,
    running: Mutex<Option<JoinHandle<()>>>,
    /// Its own thread: it answers while a test blocks, too.
    runtime: Option<Runtime>,
}

impl S3Server {
    /// Starts one.
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(BUCKET)).unwrap();
        let mut builder = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
        builder.set_auth(SimpleAuth::from_single(KEY_ID, KEY));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let service = builder.build();
        let server = Self { folder, address, service, running: Mutex::default(), runtime: Some(runtime) };
        server.run(listener.into_std().unwrap());
        server
    }

    /// Ends it and every connection to it.
    pub async fn halt(&self) {
        let running = self.running.lock().unwrap().take().expect("it runs");
        running.abort();
        let _ = running.await;
    }

    /// Starts it again at the same address.
    pub async fn start_again(&self) {
        self.run(TcpListener::bind(self.address).await.unwrap().into_std().unwrap());
    }

    /// The address of the service.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where the objects of the bucket are.
    pub fn bucket(&self) -> PathBuf {
        self.folder.path().join(BUCKET)
    }

    /// The settings of a server that keeps files here, by name.
    pub fn settings(&self) -> [(&'static str, String); 5] {
        [
            ("POLYMNEMO_BLOB_BACKEND", "s3".to_owned()),
            ("POLYMNEMO_BLOB_BUCKET", BUCKET.to_owned()),
            ("POLYMNEMO_BLOB_ENDPOINT_URL", self.url()),
            ("POLYMNEMO_BLOB_ACCESS_KEY_ID", KEY_ID.to_owned()),
            ("POLYMNEMO_BLOB_SECRET_ACCESS_KEY", KEY.to_owned()),
        ]
    }

    fn run(&self, listener: std::net::TcpListener) {
        let service = self.service.clone();
        let running = self.runtime.as_ref().unwrap().spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            // With this task all connections end.
            let mut connections = JoinSet::new();
            let server = auto::Builder::new(TokioExecutor::new());
            while let Ok((socket, _)) = listener.accept().await {
                let (server, service) = (server.clone(), service.clone());
                connections.spawn(async move {
                    let _ = server.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        });
        *self.running.lock().unwrap() = Some(running);
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Builder {
    /// With files kept there.
    pub fn files_at(self, s3: &S3Server) -> Self {
        s3.settings().into_iter().fold(self, |builder, (name, value)| builder.setting(name, &value))
    }
}
