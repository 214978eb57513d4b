import { get } from 'node:http';
import type { Clock } from '../../ports/clock.js';
import type { PodsProblem } from '../../ports/pods.js';
import { PortError } from '../../ports/port-error.js';
import { elapsed, type Instant, type Milliseconds, milliseconds } from '../../units/units.js';
import { type PodFacts, readPod } from './pod-object.js';
import { faultText, shown, ValueReader, valueOf } from './value-reader.js';

/** What the endpoint said at one time. */
export interface PodsAnswer {
  /** The wall clock before it was asked: what the runtime had made until then is in it, if the kubelet still knows it. */
  readonly askedAt: Instant;
  /** By the uid under which the runtime knows the pod. */
  readonly pods: ReadonlyMap<string, PodFacts>;
}

/** What is known from the endpoint now. */
export interface KubeletKnowledge {
  /** Null when it has not answered for too long, or never has. */
  readonly answer: PodsAnswer | null;
  /** Whether that is an answer to this question: who is gone and who has finished can be told from no older one. */
  readonly isFresh: boolean;
  readonly problems: readonly PodsProblem[];
}

/** Limits of a conversation with the endpoint. */
export interface KubeletPodsLimits {
  /** How long an answer may take, to its last byte. */
  readonly timeout: Milliseconds;
  /** The longest answer that is read. */
  readonly maxBytes: number;
}

/** A listing of 500 large pods has some 15 MB. */
const LIMITS: KubeletPodsLimits = { timeout: milliseconds(2_000), maxBytes: 32 * 1024 * 1024 };
/** An answer serves for this long: passes that follow each other ten times a second must not keep the kubelet busy. */
const SERVES_FOR = milliseconds(1_000);
/** After a failure it is left alone for this long: each attempt may cost a pass the whole timeout. */
const LEFT_ALONE_FOR = milliseconds(10_000);
/** What was last known holds for this long. */
export const KNOWN_FOR = milliseconds(5 * 60_000);
/** Of one answer that are told; the others are counted. */
const FAULTS_TOLD = 10;

/**
 * The pods that a kubelet lists at its read-only port (`GET /pods`, a PodList). The kubelet's own copies of static pods are in it
 * under the uid that the runtime knows; a listing by the API server has their mirrors, which are found by the hash they carry.
 */
export class KubeletPods {
  readonly #url: URL;
  readonly #clock: Clock;
  readonly #limits: KubeletPodsLimits;
  #last: { readonly answer: PodsAnswer; readonly at: Instant; readonly faults: readonly PodsProblem[] } | null = null;
  #failed: { readonly problem: PodsProblem; readonly at: Instant } | null = null;

  constructor(url: string, clock: Clock, limits: KubeletPodsLimits = LIMITS) {
    this.#url = new URL(url);
    if (this.#url.pathname === '/') this.#url.pathname = '/pods';
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Asks, unless it has answered or failed a moment ago. Never rejects: a failure is among the problems. */
  async ask(signal?: AbortSignal): Promise<KubeletKnowledge> {
    const began = this.#clock.now();
    if (this.#last !== null && this.#failed === null && elapsed(this.#last.at, began) < SERVES_FOR)
      return this.#known();
    if (this.#failed !== null && elapsed(this.#failed.at, began) < LEFT_ALONE_FOR) return this.#known();
    const askedAt = this.#clock.wall();
    try {
      const { pods, faults } = podsOf(await textFrom(this.#url, this.#limits, signal));
      const problems = faults.map((message) => this.#problem(message));
      this.#last = { answer: { askedAt, pods }, at: this.#clock.now(), faults: problems };
      this.#failed = null;
    } catch (error) {
      // Our own end says nothing about the endpoint.
      if (signal?.aborted !== true) {
        this.#failed = { problem: this.#problem(failureText(error)), at: this.#clock.now() };
      }
    }
    return this.#known();
  }

  #known(): KubeletKnowledge {
    const last = this.#last;
    const isKnown = last !== null && (this.#failed === null || elapsed(last.at, this.#clock.now()) < KNOWN_FOR);
    return {
      answer: isKnown ? last.answer : null,
      isFresh: isKnown && this.#failed === null && elapsed(last.at, this.#clock.now()) < SERVES_FOR,
      problems: this.#failed === null ? (last?.faults ?? []) : [this.#failure(isKnown)],
    };
  }

  /** The failure, with what becomes of the facts: that they are not known any more is news of its own. */
  #failure(isKnown: boolean): PodsProblem {
    const { what, message } = this.#failed?.problem ?? this.#problem('');
    return { what, message: `${message}; ${isKnown ? 'what it last said holds for 5m' : 'what it knows is unknown'}` };
  }

  #problem(message: string): PodsProblem {
    return { what: `the pods that ${this.#url.href} knows`, message };
  }
}

function failureText(error: unknown): string {
  if (error instanceof PortError) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : shown(String(error));
  return `Cannot use the answer as the connection must be made and hold: ${code}`;
}

/** The body of a plain 200; redirects are not followed, since they could lead away from this machine. */
async function textFrom(url: URL, limits: KubeletPodsLimits, outer: AbortSignal | undefined): Promise<string> {
  const timeout = AbortSignal.timeout(limits.timeout);
  const signal = outer === undefined ? timeout : AbortSignal.any([timeout, outer]);
  return new Promise((resolve, reject) => {
    // Said here: the connection that is cut for it only says that it was cut.
    timeout.addEventListener('abort', () => {
      reject(new PortError(`Cannot wait longer as an answer must be complete in time: ${limits.timeout} ms`));
    });
    const request = get(url, { agent: false, signal, headers: { accept: 'application/json' } }, (response) => {
      const refuse = (rule: string, value: string | number) => {
        request.destroy();
        reject(new PortError(`Cannot use the answer as ${rule}: ${value}`));
      };
      const { statusCode = 0 } = response;
      if (statusCode >= 300 && statusCode < 400) {
        refuse('redirects are not followed', `${statusCode} to ${shown(response.headers.location ?? 'nowhere')}`);
        return;
      }
      if (statusCode !== 200) {
        refuse('its status must be 200', statusCode);
        return;
      }
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > limits.maxBytes) refuse('it must not be larger than this', `${limits.maxBytes} bytes`);
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        resolve(Buffer.concat(chunks).toString('utf8'));
      });
    });
    request.on('error', reject);
  });
}

/** Reads a PodList. One pod that cannot be used takes no other with it. Throws a `PortError` on anything but a PodList. */
function podsOf(text: string): { pods: ReadonlyMap<string, PodFacts>; faults: readonly string[] } {
  const read = new ValueReader();
  const list = read.map(parsed(text), []);
  const kind = valueOf(list, 'kind');
  const items = valueOf(list, 'items');
  if (kind !== 'PodList') throw new PortError(`Cannot use the answer as its kind must be PodList: ${shown(kind)}`);
  // The kubelet writes null for no pods; a list without the field was cut, or is none.
  const isList = Array.isArray(items) || (items === null && list !== null && Object.hasOwn(list, 'items'));
  if (!isList) throw new PortError(`Cannot use the answer as its items must be a list: ${shown(items)}`);
  const pods = new Map<string, PodFacts>();
  const faults: string[] = [];
  for (const [index, item] of read.list(items, ['items']).entries()) {
    const reading = readPod(item, ['items', index]);
    const { facts } = reading;
    const who = facts === null ? '' : ` of ${shown(`${facts.namespace ?? ''}/${facts.name}`)}`;
    faults.push(...reading.faults.map((fault) => `${faultText(fault)}${who}`));
    const uid = facts === null ? null : facts.isMirror ? (facts.configHash ?? facts.uid) : facts.uid;
    if (facts !== null && uid !== null) pods.set(uid, facts);
    else if (facts !== null)
      faults.push(`items[${index}].metadata.uid: Cannot use this value as a pod must have a uid: none${who}`);
  }
  const more = faults.length - FAULTS_TOLD;
  return { pods, faults: more > 0 ? [...faults.slice(0, FAULTS_TOLD), `and ${more} more faults`] : faults };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Too deeply nested text overflows the stack, which is a fault of the text too.
    throw new PortError(`Cannot use the answer as it must be JSON: ${shown(text.slice(0, 100)) || 'nothing'}`, {
      cause: error,
    });
  }
}
