import { closeSync, existsSync, mkdirSync, openSync, renameSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { SHELVES } from '../../ports/store.js';
import type { BegunAnew, EntryText, FileChoice } from './store-protocol.js';

/** Marks a file as ours ("rclm"). */
const APPLICATION_ID = 0x72_63_6c_6d;

/**
 * What makes each version of the schema from the one before. A history of events would add its tables here. Values are JSON text:
 * numbers of this language would be bound as REAL.
 */
const MIGRATIONS = [
  `CREATE TABLE entry (
     shelf TEXT NOT NULL,
     key TEXT NOT NULL,
     value TEXT NOT NULL,
     PRIMARY KEY (shelf, key)
   ) STRICT, WITHOUT ROWID`,
] as const;

/** Some 64 MiB: ten thousand images take 2. Beyond it something is wrong, and a state file must not fill the disk that it is about. */
const MAX_PAGES = 16_384;
/** The log beside the file is folded into it after so many pages, and then takes no more than this. */
const CHECKPOINT_AFTER_PAGES = 64;
const WAL_BYTES = 1 << 20;
/** Less than this is a full disk, whatever the failure says. */
const ROOM_NEEDED = 1 << 20;
/** What the index takes at least. */
const INDEX_BYTES = 32_768;
/** Somebody who reads beside us holds a lock for milliseconds. */
const BUSY_MS = 2_000;

/** The state file is of no use, and no fault of its own content: the directory cannot be written, somebody else has it. */
export class StateFileError extends Error {
  override readonly name: string = 'StateFileError';
  readonly isFull: boolean;

  constructor(path: string, cause: unknown) {
    const said = cause instanceof Error ? cause.message : String(cause);
    super(`Cannot use the state file ${path}: ${said}`, { cause });
    this.isFull = isFullCode(codeOf(cause)) || isDiskFull(path);
  }
}

interface Opened {
  readonly entries: readonly EntryText[];
  readonly begunAnew: BegunAnew | null;
}

/**
 * One file of entries, for one writer. Made to live beside a full disk: what was written is read whatever the disk is like, a
 * failed write changes nothing, and the next one goes on. A file that is none of ours is renamed and never touched. Blocks: it
 * belongs into a thread of its own. All methods throw a `StateFileError`.
 */
export class StateFile {
  readonly #choice: FileChoice;
  #database: Database.Database | null = null;
  #inode: number | null = null;

  constructor(choice: FileChoice) {
    this.#choice = choice;
  }

  /**
   * Opens and reads. A file that is not understood is set aside; one that does not exist has no entries, and is made by the first
   * write when there is no room for it now.
   */
  open(): Opened {
    const { path, readOnly } = this.#choice;
    const isThere = sizeOf(path) > 0;
    if (readOnly && !isThere) return { entries: [], begunAnew: null };
    try {
      return this.#openOrSetAside();
    } catch (error) {
      this.close();
      if (isThere || !(error instanceof StateFileError) || !error.isFull) throw error;
      return { entries: [], begunAnew: null };
    }
  }

  #openOrSetAside(): Opened {
    const { path, readOnly } = this.#choice;
    return this.#guarded(() => {
      if (!readOnly) makeFile(path);
      const first = this.#tryOpen();
      if (typeof first !== 'string') return { entries: first, begunAnew: null };
      if (readOnly) throw new Error(first);
      const renamedTo = setAside(path);
      makeFile(path);
      const second = this.#tryOpen();
      if (typeof second === 'string') throw new Error(second);
      return { entries: second, begunAnew: { message: first, renamedTo } };
    });
  }

  /** Writes all of it or nothing. Says when the file had vanished and was begun anew: then only this lies in it. */
  write(entries: readonly EntryText[], anew: boolean): BegunAnew | null {
    return this.#guarded(() => {
      const begunAnew = this.#reopenIfGone();
      const database = this.#opened();
      database.exec('BEGIN IMMEDIATE');
      try {
        if (anew) database.exec('DELETE FROM entry');
        const put = database.prepare(
          'INSERT INTO entry VALUES (?, ?, ?) ON CONFLICT (shelf, key) DO UPDATE SET value = excluded.value',
        );
        const drop = database.prepare('DELETE FROM entry WHERE shelf = ? AND key = ?');
        for (const [shelf, key, value] of entries) {
          if (value === null) drop.run(shelf, key);
          else put.run(shelf, key, value);
        }
        database.exec('COMMIT');
      } catch (error) {
        if (database.inTransaction) database.exec('ROLLBACK');
        throw error;
      }
      return begunAnew;
    });
  }

  close(): void {
    const database = this.#database;
    this.#database = null;
    if (database === null) return;
    try {
      // This library closes for good only when it collects its garbage: a lock of ours would keep ourselves out until then.
      database.pragma('locking_mode = NORMAL');
      rowsOf(database, 'PRAGMA user_version');
    } catch {
      // What cannot be read has no lock.
    }
    database.close();
  }

  /** The entries, or why this is no file of ours. */
  #tryOpen(): readonly EntryText[] | string {
    // Without room there is none for the index that readers share; alone we need none. To find out by trying would leave a lock.
    const { path } = this.#choice;
    const hasIndex = sizeOf(`${path}-shm`) >= INDEX_BYTES;
    for (const alone of sizeOf(path) > 0 && !hasIndex && isDiskFull(path) ? [true] : [false, true]) {
      try {
        return this.#openAs(alone);
      } catch (error) {
        this.close();
        const code = codeOf(error);
        if (!alone && code.startsWith('SQLITE_IOERR_SHM')) continue;
        if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) return `${messageOf(error)} (${code})`;
        if (error instanceof NotOurs) return error.message;
        throw error;
      }
    }
    throw new Error('Cannot get here as the loop ends by itself');
  }

  #openAs(alone: boolean): readonly EntryText[] {
    const { path, readOnly } = this.#choice;
    const database = new Database(path, readOnly ? { readonly: true, timeout: BUSY_MS } : { timeout: BUSY_MS });
    this.#database = database;
    this.#inode = inodeOf(path);
    if (alone) database.pragma('locking_mode = EXCLUSIVE');
    const id = numberOf(database, 'application_id');
    const version = numberOf(database, 'user_version');
    const isEmpty = id === 0 && version === 0 && rowsOf(database, 'SELECT name FROM sqlite_schema').length === 0;
    if (id !== APPLICATION_ID && !isEmpty) throw new NotOurs('it is a database of another program');
    if (version > MIGRATIONS.length) throw new NotOurs(`it was written by a newer version (schema ${version})`);
    if (isEmpty && readOnly) return [];
    if (!readOnly) {
      prepare(database);
      migrate(database, version);
    }
    const [check] = rowsOf(database, 'PRAGMA quick_check(1)');
    if (check?.[0] !== 'ok') throw new NotOurs(`it is damaged: ${String(check?.[0])}`);
    const known: ReadonlySet<unknown> = new Set(SHELVES);
    return rowsOf(database, 'SELECT shelf, key, value FROM entry')
      .filter(([shelf]) => known.has(shelf))
      .map((row) => row as unknown as EntryText); // the schema is STRICT
  }

  #opened(): Database.Database {
    if (this.#database !== null) return this.#database;
    this.#openOrSetAside();
    if (this.#database === null) throw new Error('it cannot be opened');
    return this.#database;
  }

  /** Somebody may remove the file under us: what is written after that would be lost with the process. */
  #reopenIfGone(): BegunAnew | null {
    if (this.#database === null) return null;
    const { path } = this.#choice;
    if (inodeOf(path) === this.#inode) return null;
    this.close();
    const { begunAnew } = this.#openOrSetAside();
    return begunAnew ?? { message: `${path} was removed or replaced while it was in use`, renamedTo: null };
  }

  #guarded<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw error instanceof StateFileError ? error : new StateFileError(this.#choice.path, error);
    }
  }
}

/** The file is sound, and not one that we may write. */
class NotOurs extends Error {}

/** Pods' names are nobody else's concern. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
}

/** Renames the file and what lies beside it of the same name; answers with the new name. */
function setAside(path: string): string {
  const stamp = new Date(Date.now()).toISOString().replaceAll(/[:.]/g, '-');
  const renamedTo = `${path}.set-aside-${stamp}`;
  for (const suffix of ['-wal', '-shm', '']) {
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${renamedTo}${suffix}`);
  }
  return renamedTo;
}

function prepare(database: Database.Database): void {
  database.pragma('journal_mode = WAL');
  // A commit survives the end of the process; the last second may be lost with the power, and nothing is ever half written.
  database.pragma('synchronous = NORMAL');
  database.pragma(`wal_autocheckpoint = ${CHECKPOINT_AFTER_PAGES}`);
  database.pragma(`journal_size_limit = ${WAL_BYTES}`);
  database.pragma(`max_page_count = ${MAX_PAGES}`);
  database.pragma('cache_size = -256');
  database.pragma('temp_store = MEMORY');
}

function migrate(database: Database.Database, from: number): void {
  if (from === MIGRATIONS.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const statement of MIGRATIONS.slice(from)) database.exec(statement);
    database.pragma(`application_id = ${APPLICATION_ID}`);
    database.pragma(`user_version = ${MIGRATIONS.length}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function rowsOf(database: Database.Database, sql: string): readonly (readonly unknown[])[] {
  return database.prepare(sql).raw().all() as unknown[][]; // what `raw` answers with
}

function numberOf(database: Database.Database, pragma: string): number {
  return Number(rowsOf(database, `PRAGMA ${pragma}`)[0]?.[0]);
}

/** Nothing that cannot be reached has a size: whoever opens it says why. */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

function inodeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isFullCode(code: string): boolean {
  return code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT';
}

function isDiskFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < ROOM_NEEDED;
  } catch {
    return false;
  }
}
