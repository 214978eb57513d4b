import { groupBy } from '../../../src/units/group-by.js';
import { type Instant, instant } from '../../../src/units/units.js';
import type { ContainerItem, PodItem, SandboxItem } from '../format/world-items.js';
import {
  type LivingContainer,
  type LivingPod,
  type LivingSandbox,
  type LogFile,
  logDirOf,
  type PodIdentity,
  splitName,
} from './inhabitants.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const POD_LOGS = '/var/log/pods';

/** Who an object says that it belongs to. A pod that is not listed is gone; its uid is its name. */
export function identityOf(fullName: string, pods: readonly PodItem[]): PodIdentity {
  const { namespace, name } = splitName(fullName);
  const known = pods.find((each) => each.name === fullName);
  if (known !== undefined) return { uid: known.uid, namespace, name };
  return { uid: pods.some((each) => each.uid === name) ? `${namespace}-${name}` : name, namespace, name };
}

/** The sandboxes as they are at the moment of the step. */
export function sandboxesOf(
  items: readonly SandboxItem[],
  pods: readonly PodItem[],
  wall: Instant,
): readonly LivingSandbox[] {
  return items.map((item) => ({
    item,
    pod: identityOf(item.pod, pods),
    createdAt: instant(wall - item.createdAgo),
  }));
}

/** The containers as they are at the moment of the step, each in the newest sandbox of its pod. */
export function containersOf(
  items: readonly ContainerItem[],
  sandboxes: readonly LivingSandbox[],
  pods: readonly PodItem[],
  wall: Instant,
): readonly LivingContainer[] {
  const created = (item: ContainerItem) =>
    wall - (item.createdAgo ?? (item.state === 'exited' ? ago(item) + MINUTE : HOUR));
  const attempts = groupBy(items, (item) => `${item.pod} ${item.name ?? item.id}`);
  for (const [key, group] of attempts)
    attempts.set(
      key,
      group.toSorted((a, b) => created(a) - created(b)),
    );
  return items.map((item) => {
    const name = item.name ?? item.id;
    const attempt = attempts.get(`${item.pod} ${name}`)?.indexOf(item) ?? 0;
    const pod = item.pod === '' ? null : identityOf(item.pod, pods);
    const directory = pod === null ? '' : `${POD_LOGS}/${logDirOf(pod)}/${name}`;
    return {
      item,
      pod,
      name,
      attempt,
      state: item.state,
      sandboxId: pod === null ? '' : newestSandbox(item.pod, sandboxes),
      createdAt: instant(created(item)),
      finishedAt: item.state === 'exited' ? instant(wall - ago(item)) : null,
      logPath: pod === null ? '' : `${directory}/${attempt}.log`,
      logFiles: logFilesOf(item, directory, attempt),
    };
  });
}

/** The pods as they are listed, and what they left behind. */
export function podsOf(items: readonly PodItem[], containers: readonly ContainerItem[]): readonly LivingPod[] {
  return items.map((item) => {
    const names = [...new Set(containers.filter(({ pod }) => pod === item.name).map((each) => each.name ?? each.id))];
    const [first = 'main'] = names;
    const files = Array.from({ length: item.terminationFiles }, (_, attempt) => `${attempt}`.padStart(8, '0'));
    return {
      item,
      identity: { uid: item.uid, ...splitName(item.name) },
      phase: item.phase,
      volumes: item.volumes,
      terminationFiles: new Map(files.length === 0 ? [] : [[first, files]]),
    };
  });
}

function ago({ finishedAgo = HOUR }: ContainerItem): number {
  return finishedAgo;
}

function newestSandbox(pod: string, sandboxes: readonly LivingSandbox[]): string {
  const own = sandboxes.filter(({ item }) => item.pod === pod);
  const [newest] = own.toSorted((a, b) => b.createdAt - a.createdAt || b.item.attempt - a.item.attempt);
  return newest?.item.id ?? `sandbox-of-${pod.replace('/', '-')}`;
}

/** The files that are named, and the rest of the bytes in the current log. A container without a pod has its log elsewhere. */
function logFilesOf(item: ContainerItem, directory: string, attempt: number): readonly LogFile[] {
  const named = item.logFiles.reduce((sum, { bytes }) => sum + bytes, 0);
  const rest = Math.max(0, item.logs.bytes - named);
  const hasCurrent = item.logFiles.some(({ name }) => name === '0.log');
  const all = [
    ...item.logFiles.map(({ name, bytes }) => ({ name, bytes: name === '0.log' ? bytes + rest : bytes })),
    ...(rest > 0 && !hasCurrent ? [{ name: '0.log', bytes: rest }] : []),
  ];
  return all.map(({ name, bytes }) => ({
    givenName: name,
    path: `${directory}/${name.replace(/^0\.log/, `${attempt}.log`)}`,
    bytes,
  }));
}
