//! Bringing in what other products know of a person.
//!
//! What is in the files is read by `polymnemo_imports`; here it becomes sessions and memories. Each thing that is found is
//! noted in the order of reading, before it is written and after, so that an import that was killed goes on where it was,
//! a second one adds nothing, and each can be taken back as a whole.

mod own;
mod plan;
mod run;
mod undo;
mod unit;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use polymnemo_imports::{Found, Input, OpenError};
use polymnemo_types::{
    EraseTarget, Import, ImportId, ImportLine, ImportOptions, ImportOutcome, ImportPlan, ImportState, Page, limits,
};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::{MemoryService, cursor, export::made, validate};
use crate::{
    Ctx, Error, Result,
    ports::{ImportNote, ImportToDo, Lease, NewImport},
    when,
};

/// For how long a worker takes an import on; it renews that in time.
const LEASE: SignedDuration = SignedDuration::from_secs(30);
/// How often it does, and tells how far it is.
const RENEWAL: Duration = Duration::from_secs(1);
/// How often is asked whether one that was stopped is let go.
const LETTING_GO: Duration = Duration::from_millis(50);
/// Which lists cursors belong to.
const LIST: char = 'i';
const REPORT: char = 'l';
/// What the client is called that writes what an import brings.
const CLIENT: &str = "Import";

/// How far reading is: bytes read, of how many.
type Progress<'a> = &'a mut (dyn FnMut(u64, u64) + Send);

/// How work on an import ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// It came to its end.
    Finished,
    /// Someone stopped it, or someone else is at work on it.
    Halted,
}

impl MemoryService {
    /// Says what an import would do. Nothing is written.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for options that make no sense and for files that are gone; [`Error::Forbidden`],
    /// [`Error::Unavailable`].
    pub async fn plan_import(
        &self,
        ctx: &Ctx,
        input: Arc<Input>,
        options: &ImportOptions,
        progress: Progress<'_>,
    ) -> Result<ImportPlan> {
        ctx.check_person()?;
        let options = self.checked(ctx, options)?;
        self.plan(ctx, input, &options, progress).await
    }

    /// Imports from where the person has the files, in this process; gives the import as it is then. One that was
    /// interrupted with the same files goes on.
    ///
    /// # Errors
    ///
    /// As [`MemoryService::plan_import`]. What had come in by then is in, and the same call goes on from there.
    pub async fn import_here(
        &self,
        ctx: &Ctx,
        input: Arc<Input>,
        files: Vec<String>,
        options: ImportOptions,
        plan: ImportPlan,
        progress: Progress<'_>,
    ) -> Result<Import> {
        ctx.check_person()?;
        let checked = self.checked(ctx, &options)?;
        let ctx = &as_import(ctx);
        let now = self.now();
        let mut lease = Lease { import: ImportId(Uuid::now_v7()), worker: Uuid::now_v7(), until: now + LEASE };
        match self.interrupted(ctx, &files, &options, input.total_bytes()).await? {
            Some(id) => {
                lease.import = id;
                if !self.store.hold_import(ctx, lease, ImportState::Running, now).await? {
                    return Err(Error::Invalid(
                        "Another process is importing these files. Wait for it, or try again in half a minute if it was \
                         stopped."
                            .into(),
                    ));
                }
            }
            None => {
                let new = NewImport {
                    id: lease.import,
                    state: ImportState::Running,
                    files,
                    options,
                    plan: Some(plan),
                    folder: None,
                    total_bytes: input.total_bytes(),
                    at: now,
                };
                self.store.create_import(ctx, new, Some(lease)).await?;
            }
        }
        match self.run(ctx, &mut lease, input, &checked, progress).await? {
            Ended::Finished => {
                self.end_import(ctx, lease.import, ImportState::Running, ImportState::Done, None).await?
            }
            Ended::Halted => self.store.let_import_go(ctx, lease).await?,
        }
        self.import(ctx, lease.import).await
    }

    /// The import of the same files that was interrupted.
    async fn interrupted(
        &self,
        ctx: &Ctx,
        files: &[String],
        options: &ImportOptions,
        bytes: u64,
    ) -> Result<Option<ImportId>> {
        let last = self.store.imports(ctx, None, limits::PAGE_MAX).await?.items;
        Ok(last
            .into_iter()
            .find(|import| {
                import.state == ImportState::Running
                    && import.files == files
                    && import.options == *options
                    && import.total_bytes == bytes
            })
            .map(|import| import.id))
    }

    /// A folder of its own for the files of a new import that come from a browser.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] where it can't be made, or where this server keeps none.
    pub async fn folder_for_import(&self, ctx: &Ctx) -> Result<(ImportId, PathBuf)> {
        ctx.check_person()?;
        let id = ImportId(Uuid::now_v7());
        let folder = self.import_folders()?.join(id.to_string());
        made(&folder)?;
        Ok((id, folder))
    }

    /// Begins an import whose files are in the folder that [`MemoryService::folder_for_import`] made, each in a folder of its
    /// own in it, whose names are in the order of the files: it is looked through in
    /// the background, and then waits for [`MemoryService::confirm_import`].
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn begin_import(
        &self,
        ctx: &Ctx,
        id: ImportId,
        files: Vec<String>,
        options: ImportOptions,
    ) -> Result<Import> {
        ctx.check_person()?;
        self.checked(ctx, &options)?;
        if files.is_empty() {
            return Err(Error::Invalid("Choose the file to import: the zip as it was downloaded.".into()));
        }
        let new = NewImport {
            id,
            state: ImportState::Planning,
            files,
            options,
            plan: None,
            folder: Some(id.to_string()),
            total_bytes: 0,
            at: self.now(),
        };
        self.store.create_import(ctx, new, None).await?;
        self.imports.notify_one();
        self.import(ctx, id).await
    }

    /// Deletes the files of an import that was not begun, or is over.
    pub async fn drop_import_folder(&self, id: ImportId) {
        let Ok(folders) = self.import_folders() else { return };
        let folder = folders.join(id.to_string());
        match tokio::fs::remove_dir_all(&folder).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(import = %id, %error, "the files of an import could not be deleted");
            }
            _ => {}
        }
    }

    /// Lets an import come in that was looked through.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn confirm_import(&self, ctx: &Ctx, id: ImportId) -> Result<Import> {
        ctx.check_person()?;
        self.change_import(ctx, id, &[ImportState::Planned], ImportState::Running).await?;
        self.imports.notify_one();
        self.import(ctx, id).await
    }

    /// Stops an import. What has come in stays in; one of which nothing has come in is forgotten. Nothing is left of one that
    /// was only looked through.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn cancel_import(&self, ctx: &Ctx, id: ImportId) -> Result<()> {
        ctx.check_person()?;
        if self.store.delete_import(ctx, id, &[ImportState::Planning, ImportState::Planned]).await? {
            self.drop_import_folder(id).await;
            return Ok(());
        }
        self.change_import(ctx, id, &[ImportState::Running], ImportState::Cancelled).await?;
        self.drop_import_folder(id).await;
        Ok(())
    }

    /// Takes an import back: what it brought goes to the trash, sessions that it added to are as they were before. What the
    /// person changed since stays, and the report says so. It goes on in the background; asking again changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn undo_import(&self, ctx: &Ctx, id: ImportId) -> Result<Import> {
        ctx.check_person()?;
        if !matches!(self.import(ctx, id).await?.state, ImportState::Undoing | ImportState::Undone) {
            let mut from = vec![ImportState::Done, ImportState::Cancelled, ImportState::Failed];
            // One that was killed is taken back as far as it came.
            if !self.store.is_import_held(ctx, id, self.now()).await? {
                from.push(ImportState::Running);
            }
            self.change_import(ctx, id, &from, ImportState::Undoing).await?;
        }
        self.imports.notify_one();
        self.import(ctx, id).await
    }

    /// An import of the caller.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn import(&self, ctx: &Ctx, id: ImportId) -> Result<Import> {
        ctx.check_read()?;
        self.store.import(ctx, id).await?.ok_or_else(missing)
    }

    /// The imports of the caller, the last ones first.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn imports(&self, ctx: &Ctx, cursor: Option<&str>, limit: Option<u32>) -> Result<Page<Import>> {
        ctx.check_read()?;
        let limit = validate::limit(limit)?;
        let before = cursor.map(|cursor| cursor::to_key(LIST, cursor)).transpose()?;
        let mut page = self.store.imports(ctx, before, limit + 1).await?;
        page.next_cursor = cursor::next(LIST, &mut page.items, limit, |import| import.id);
        Ok(page)
    }

    /// The report of an import of the caller, in the order of reading; only these outcomes where there are any.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Missing`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn import_lines(
        &self,
        ctx: &Ctx,
        id: ImportId,
        outcomes: &[ImportOutcome],
        cursor: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Page<ImportLine>> {
        ctx.check_read()?;
        let limit = validate::limit(limit)?;
        let after = cursor.map(|cursor| cursor::to_key(REPORT, cursor)).transpose()?;
        self.import(ctx, id).await?;
        let mut page = self.store.import_lines(ctx, id, outcomes, after, limit + 1).await?;
        page.next_cursor = cursor::next(REPORT, &mut page.items, limit, |line| line.ordinal);
        Ok(page)
    }

    /// Ends the imports that would bring back what is about to be erased.
    pub(super) async fn end_imports(&self, ctx: &Ctx, target: &EraseTarget) -> Result<()> {
        let mut before = None;
        loop {
            let imports = self.store.imports(ctx, before, limits::PAGE_MAX).await?.items;
            for import in &imports {
                let goes_to = import.options.namespace.as_deref().unwrap_or(&ctx.user.default_namespace);
                let is_hit = match target {
                    EraseTarget::Namespace(name) => name == goes_to,
                    EraseTarget::Import(id) => import.id == *id,
                    EraseTarget::Account => true,
                    EraseTarget::Memories(_) | EraseTarget::App(_) => false,
                };
                // An export of our own may hold whatever is erased.
                let is_own = import.plan.as_ref().is_some_and(|plan| plan.is_own_export);
                let is_open = import.state.is_under_way() || import.state == ImportState::Planned;
                if (is_hit || is_own) && is_open && import.state != ImportState::Undoing {
                    self.cancel_import(ctx, import.id).await?;
                    self.until_let_go(ctx, import.id).await?;
                }
                if is_hit && *target == EraseTarget::Account {
                    self.drop_import_folder(import.id).await;
                }
            }
            let Some(last) = imports.last() else { return Ok(()) };
            before = Some(last.id);
        }
    }

    /// Waits until whoever is at work on an import that was stopped knows it, or is dead.
    async fn until_let_go(&self, ctx: &Ctx, id: ImportId) -> Result<()> {
        while self.store.is_import_held(ctx, id, self.now()).await? {
            tokio::time::sleep(LETTING_GO).await;
        }
        Ok(())
    }

    /// Works on one import of any user that there is something to do on; gives 1 where there was one. For the background.
    ///
    /// # Errors
    ///
    /// [`Error::Model`], [`Error::Unavailable`]: it is taken up again later.
    pub async fn work_on_imports(&self) -> Result<u32> {
        let worker = Uuid::now_v7();
        let now = self.now();
        let Some(todo) = self.store.take_import(worker, now, now + LEASE).await? else { return Ok(0) };
        let ImportToDo { user, import, folder } = todo;
        let ctx = as_import(&Ctx::of_person(user));
        let mut lease = Lease { import: import.id, worker, until: now + LEASE };
        let done = self.work_on(&ctx, &mut lease, &import, folder.as_deref()).await;
        match done {
            Err(error @ (Error::Invalid(_) | Error::Forbidden(_))) => {
                self.end_import(&ctx, import.id, import.state, ImportState::Failed, Some(error.to_string())).await?;
                self.drop_import_folder(import.id).await;
                Ok(1)
            }
            done => done.map(|()| 1),
        }
    }

    /// Waits until there is something to do on an import.
    pub async fn import_arrived(&self) {
        self.imports.notified().await;
    }

    async fn work_on(&self, ctx: &Ctx, lease: &mut Lease, import: &Import, folder: Option<&str>) -> Result<()> {
        let mut quiet = |_, _| {};
        let ended = match import.state {
            ImportState::Undoing => self.take_back(ctx, lease).await?,
            ImportState::Planning => return self.look_through(ctx, *lease, import, folder).await,
            ImportState::Running => {
                let input = self.open(folder).await?;
                let options = self.checked(ctx, &import.options)?;
                self.run(ctx, lease, input, &options, &mut quiet).await?
            }
            _ => return Ok(()),
        };
        if ended == Ended::Halted {
            return self.store.let_import_go(ctx, *lease).await;
        }
        let to = if import.state == ImportState::Undoing { ImportState::Undone } else { ImportState::Done };
        self.end_import(ctx, import.id, import.state, to, None).await?;
        self.drop_import_folder(import.id).await;
        Ok(())
    }

    /// Looks through the files of an import, so that the person can decide.
    async fn look_through(&self, ctx: &Ctx, lease: Lease, import: &Import, folder: Option<&str>) -> Result<()> {
        let input = self.open(folder).await?;
        let options = self.checked(ctx, &import.options)?;
        let total_bytes = input.total_bytes();
        let mut quiet = |_, _| {};
        let plan = tokio::select! {
            plan = self.plan(ctx, input, &options, &mut quiet) => plan?,
            () = self.keep_until_halted(ctx, lease, ImportState::Planning) => return Ok(()),
        };
        if plan.is_own_export {
            let erasures = self.store.erasures(ctx, None, 1).await?.0.items;
            if erasures.iter().any(|erasure| erasure.requested_at >= import.created_at) {
                return Err(Error::Invalid(
                    "You erased something while this export was looked through, and it may be in it. Choose the file again \
                     if it is to come back."
                        .into(),
                ));
            }
        }
        let note = ImportNote { plan: Some(plan), total_bytes: Some(total_bytes), ..ImportNote::default() };
        let from = [ImportState::Planning];
        self.store.set_import_state(ctx, import.id, &from, ImportState::Planned, note, self.now()).await?;
        Ok(())
    }

    /// Renews the lease for as long as the import is in this state.
    async fn keep_until_halted(&self, ctx: &Ctx, mut lease: Lease, state: ImportState) {
        loop {
            tokio::time::sleep(RENEWAL).await;
            lease.until = self.now() + LEASE;
            if !self.store.keep_import(ctx, lease, state, 0).await.unwrap_or(true) {
                return;
            }
        }
    }

    /// What waits in the folder of an import.
    async fn open(&self, folder: Option<&str>) -> Result<Arc<Input>> {
        let folder = self.import_folders()?.join(folder.unwrap_or_default());
        let opening = tokio::task::spawn_blocking(move || {
            let entries = |folder: &Path| -> std::io::Result<Vec<PathBuf>> {
                std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
            };
            let mut folders = entries(&folder)?;
            folders.sort();
            let mut files = Vec::with_capacity(folders.len());
            for folder in folders {
                files.extend(entries(&folder)?);
            }
            Ok::<_, std::io::Error>(Input::open(&files))
        });
        let opened = opening.await.map_err(|_| Error::internal("opening an import panicked"))?;
        let input = opened.map_err(|_| {
            Error::Invalid("The files of this import are not on this server any more. Choose them again.".into())
        })?;
        let input = input.map_err(|error| {
            // Where the server keeps the file is nobody's business.
            let error = match error {
                OpenError::Unusable { path, reason } => {
                    OpenError::Unusable { path: path.file_name().map(PathBuf::from).unwrap_or_default(), reason }
                }
                other => other,
            };
            Error::Invalid(format!("Nothing can be imported: {error}."))
        });
        Ok(Arc::new(input?))
    }

    fn import_folders(&self) -> Result<&Path> {
        self.import_folder.as_deref().ok_or_else(|| Error::internal("there is no folder for imports"))
    }

    async fn change_import(&self, ctx: &Ctx, id: ImportId, from: &[ImportState], to: ImportState) -> Result<()> {
        if self.store.set_import_state(ctx, id, from, to, ImportNote::default(), self.now()).await? {
            return Ok(());
        }
        self.import(ctx, id).await?;
        Err(Error::Invalid(
            "The import is in another state by now. Look again; one whose process was killed is let go after half a minute."
                .into(),
        ))
    }

    async fn end_import(
        &self,
        ctx: &Ctx,
        id: ImportId,
        from: ImportState,
        to: ImportState,
        error: Option<String>,
    ) -> Result<()> {
        let note = ImportNote { error, ..ImportNote::default() };
        self.store.set_import_state(ctx, id, &[from], to, note, self.now()).await?;
        Ok(())
    }

    /// Options, as they are to be understood.
    fn checked(&self, ctx: &Ctx, options: &ImportOptions) -> Result<Options> {
        let namespace = options.namespace.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let is_chosen = namespace.is_some();
        let namespace = validate::namespace(namespace.unwrap_or(&ctx.user.default_namespace))?;
        ctx.check_write(&namespace)?;
        let since = options.since.as_deref().map(str::trim).filter(|since| !since.is_empty());
        let since = since.map(|since| when::parse("since", since, &ctx.user.time_zone)).transpose()?;
        if options.limit == Some(0) {
            return Err(Error::Invalid("`limit` is at least 1. Leave it out to import everything.".into()));
        }
        let is_everything = !is_chosen && since.is_none() && options.limit.is_none() && !options.again;
        Ok(Options { namespace, since, limit: options.limit.unwrap_or(u64::MAX), again: options.again, is_everything })
    }
}

/// What of the files is imported, and where to.
struct Options {
    namespace: String,
    since: Option<Timestamp>,
    limit: u64,
    again: bool,
    /// Whether nothing was asked but to import it.
    is_everything: bool,
}

/// Reads on a thread of its own; what is found waits there until it is taken, so that no more of it is held at once.
fn read(input: Arc<Input>) -> mpsc::Receiver<Result<Found>> {
    let (sender, receiver) = mpsc::channel(2);
    tokio::task::spawn_blocking(move || {
        let read = input.read(&mut |found| match sender.blocking_send(Ok(found)) {
            Ok(()) => std::ops::ControlFlow::Continue(()),
            Err(_) => std::ops::ControlFlow::Break(()),
        });
        if let Err(error) = read {
            // Where nobody listens any more, nobody wants to know.
            let _ = sender.blocking_send(Err(Error::Invalid(format!("The reading broke off: {error}."))));
        }
    });
    receiver
}

/// The same caller, as the one who brings in what they have elsewhere.
fn as_import(ctx: &Ctx) -> Ctx {
    Ctx { client: Some(CLIENT.to_owned()), app: None, ..ctx.clone() }
}

fn missing() -> Error {
    Error::Missing("There is no such import. The page Import lists those that there are.".into())
}
