import type { BigIntStats } from 'node:fs';
import { constants, type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../ports/clock.js';
import type { PodsProblem } from '../../ports/pods.js';
import { elapsed, type Instant, type Milliseconds, milliseconds } from '../../units/units.js';
import { KNOWN_FOR } from './kubelet-pods.js';
import { kindOf, readManifestText } from './manifest-text.js';
import { type PodFacts, readPod } from './pod-object.js';
import { faultText, shown } from './value-reader.js';

/** What the manifests say now. */
export interface StaticKnowledge {
  readonly pods: readonly PodFacts[];
  readonly problems: readonly PodsProblem[];
}

/** The kubelet reads ten times as much; the API stores no object of more than 1.5 MiB, and reading YAML holds up all else. */
const MOST_BYTES = 1024 * 1024;
/** More manifests than a node can run are no manifests. */
const MOST_FILES = 500;
/** A disk that does not answer must not hold up a pass. */
const READ_WITHIN = milliseconds(2_000);

interface KnownFile {
  readonly stamp: string;
  readonly facts: PodFacts | null;
  readonly problems: readonly string[];
}

/**
 * Static pods from the manifests in a directory, or from one file, read as the kubelet reads its `staticPodPath`: names that
 * begin with a dot and directories are passed over, links are followed, and a file holds one Pod in YAML or JSON. A file is read
 * again when it has changed. One bad file takes no other with it.
 */
export class StaticPods {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #within: Milliseconds;
  #files: ReadonlyMap<string, KnownFile> = new Map();
  #lastRead: Instant | null = null;
  #reading: Promise<string | null> | null = null;

  constructor(path: string, clock: Clock, within: Milliseconds = READ_WITHIN) {
    this.#path = path;
    this.#clock = clock;
    this.#within = within;
  }

  /** Reads what has changed. Never rejects: when the path cannot be read, what it last held is known for five minutes more. */
  async read(): Promise<StaticKnowledge> {
    // One that hangs is waited for again instead of a second one being started beside it.
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
    });
    const failure = await this.#inTime(this.#reading);
    const now = this.#clock.now();
    if (failure === null) this.#lastRead = now;
    const isKnown = this.#lastRead !== null && elapsed(this.#lastRead, now) < KNOWN_FOR;
    const files = isKnown ? [...this.#files.values()] : [];
    const messages = [...(failure === null ? [] : [failure]), ...files.flatMap(({ problems }) => problems)];
    return {
      pods: files.flatMap(({ facts }) => (facts === null ? [] : [facts])),
      problems: messages.map((message) => ({ what: `the static pods in ${this.#path}`, message })),
    };
  }

  async #inTime(reading: Promise<string | null>): Promise<string | null> {
    const over = new AbortController();
    const late = this.#clock.sleep(this.#within, over.signal).then(() => 'late' as const);
    const first = await Promise.race([reading, late]);
    over.abort();
    return first === 'late' ? `Cannot wait longer as the disk must answer in time: ${this.#within} ms` : first;
  }

  /** Answers with what failed for the path as a whole, or null. */
  async #readAll(): Promise<string | null> {
    try {
      const isDirectory = (await stat(this.#path)).isDirectory();
      const names = isDirectory ? (await readdir(this.#path)).filter((name) => !name.startsWith('.')).toSorted() : [];
      const paths = isDirectory ? names.map((name) => join(this.#path, name)) : [this.#path];
      const files = new Map<string, KnownFile>();
      for (const path of paths.slice(0, MOST_FILES)) {
        const file = await readFileAnew(path, this.#files.get(path));
        if (file !== null) files.set(path, file);
      }
      if (paths.length > MOST_FILES) {
        const problem = `Cannot read the others as no more than ${MOST_FILES} files are read: ${paths.length} files`;
        files.set(this.#path, { stamp: '', facts: null, problems: [problem] });
      }
      this.#files = files;
      return null;
    } catch (error) {
      return `Cannot read the path as it must be a directory or a file that is there: ${codeOf(error)}`;
    }
  }
}

/** Null for what is no manifest: a directory, and what went away meanwhile. */
async function readFileAnew(path: string, known: KnownFile | undefined): Promise<KnownFile | null> {
  let file: FileHandle | null = null;
  const refused = (stamp: string, rule: string, value: string | number, line?: number): KnownFile => ({
    stamp,
    facts: null,
    problems: [`${shown(path)}${line === undefined ? '' : `:${line}`}: Cannot use this file as ${rule}: ${value}`],
  });
  try {
    // Opening a pipe would wait for its other end.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat({ bigint: true });
    const stamp = stampOf(stats);
    if (stats.isDirectory()) return null;
    if (known?.stamp === stamp) return known;
    if (!stats.isFile()) return refused(stamp, 'it must be a plain file', 'something else');
    const bytes = await readAtMost(file, MOST_BYTES + 1);
    if (bytes.length > MOST_BYTES)
      return refused(stamp, `it must not be larger than ${MOST_BYTES} bytes`, `${stats.size} bytes`);
    const text = readManifestText(bytes.toString('utf8'));
    if (text.kind === 'refused') return refused(stamp, text.message, 'no pod', text.line);
    const kind = kindOf(text.value);
    if (kind !== 'v1 Pod') return refused(stamp, 'it must hold a v1 Pod', shown(kind), text.lineOf(['kind']));
    const { facts, faults } = readPod(text.value);
    const problems = faults.map((fault) => `${shown(path)}:${text.lineOf(fault.path)}: ${faultText(fault)}`);
    return { stamp, facts, problems };
  } catch (error) {
    const code = codeOf(error);
    return code === 'ENOENT' || code === 'EISDIR' ? null : refused('', 'it must be readable', code);
  } finally {
    await file?.close();
  }
}

async function readAtMost(file: FileHandle, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let size = 0; size < limit; ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(65_536, limit - size)));
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    size += bytesRead;
  }
  return Buffer.concat(chunks);
}

/** Changes with every change of the file's content. */
function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
