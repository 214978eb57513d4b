import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeServiceService } from '../../src/proto/generated/cri.js';
import { call } from '../lab/call.js';
import type { LabContainerd } from '../lab/containerd.js';
import { availableInodes, fillDisk } from '../lab/disk.js';
import { runContainer, runPod, runToEnd } from '../lab/pods.js';
import { waitFor } from '../lab/wait.js';
import { HEADROOM, HEADROOM_INODES, type Scenario, SHORTFALL, SHORTFALL_INODES } from './scenario.js';

/** The image that all pods of the duel run. */
export const APP = { name: 'local.test/app:1', layers: [{ kind: 'busybox' }] } as const;

/** Pods of equal priority without requests. */
export const WRITER = 'writer';
export const BYSTANDERS = [
  ['big', 60],
  ['small', 4],
] as const satisfies readonly (readonly [string, number])[];

const CHUNK_KIB = { slow: 900, fast: 15 * 1_024 } as const;
const FILES_A_STEP = 20;
const STEP_SECONDS = 0.09;

/** Starts a pod that holds so much in its emptyDir and resolves to its container's id when it does. */
export async function runBystander(lab: LabContainerd, name: string, mib: number): Promise<string> {
  const pod = await runPod(lab, { name });
  const data = emptyDir(lab, pod.uid, 'data');
  const id = await runContainer(lab, pod, {
    name: 'main',
    image: APP.name,
    command: ['/bin/sh', '-c', `${TERMINABLE} ${hold('/vol/held', mib)}; : > /vol/done; ${STAY}`],
    mounts: [{ hostPath: data, containerPath: '/vol' }],
  });
  await waitFor(`${name} hold ${mib} MiB`, 60_000, () => exists(lab, join(data, 'done')));
  return id;
}

/** Starts the writer's pod, which waits for `go`; resolves to its container's id. */
export async function runWriter(lab: LabContainerd, scenario: Scenario): Promise<string> {
  const pod = await runPod(lab, { name: WRITER });
  return runContainer(lab, pod, {
    name: 'main',
    image: APP.name,
    command: ['/bin/sh', '-c', writerScript(scenario)],
    mounts: [
      { hostPath: emptyDir(lab, pod.uid, 'data'), containerPath: '/vol' },
      { hostPath: controlDirectory(lab), containerPath: '/control' },
    ],
  });
}

/** Lets the writer begin. */
export function go(lab: LabContainerd): void {
  const directory = lab.outside(controlDirectory(lab));
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'go'), '');
}

/** A finished pod with so many dead containers of so many MiB each; resolves to their ids. */
export async function runDead(lab: LabContainerd, count: number, mib: number): Promise<readonly string[]> {
  const pod = await runPod(lab, { name: 'finished' });
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(
      await runToEnd(lab, pod, {
        name: `job-${index}`,
        image: APP.name,
        command: ['/bin/sh', '-c', hold('/data/held', mib)],
      }),
    );
  }
  await call(lab.runtime, RuntimeServiceService.stopPodSandbox, { podSandboxId: pod.sandboxId });
  return ids;
}

/** Something that is nobody's garbage takes the rest of the disk but for the headroom above the line. */
export function pressTo(lab: LabContainerd, scenario: Scenario, line: number): void {
  if (scenario.resource === 'bytes') {
    fillDisk(lab.outside(join(lab.paths.disk, 'filler')), line + HEADROOM);
    return;
  }
  const directory = lab.outside(join(lab.paths.disk, 'fillers'));
  mkdirSync(directory);
  const count = availableInodes(lab.diskPath) - line - HEADROOM_INODES;
  for (let index = 0; index < count; index += 1) writeFileSync(join(directory, String(index)), '');
}

// The first process of a container ignores SIGTERM unless it asks for it.
const TERMINABLE = "trap 'exit 0' TERM;";
const hold = (file: string, mib: number): string => `dd if=/dev/zero of=${file} bs=1048576 count=${mib} 2>/dev/null`;
const STAY = 'while :; do sleep 1; done';

function writerScript({ writer, resource }: Scenario): string {
  const directory = writer.into === 'emptyDir' ? '/vol' : '/data';
  const wait = 'while [ ! -e /control/go ]; do sleep 0.02; done;';
  const kib = CHUNK_KIB[writer.speed];
  const step =
    resource === 'bytes'
      ? `dd if=/dev/zero bs=${kib * 1_024} count=1 2>/dev/null >> ${directory}/written`
      : `n=0; while [ $n -lt ${FILES_A_STEP} ]; do : > ${directory}/$i-$n; n=$((n+1)); done`;
  const steps =
    resource === 'bytes'
      ? Math.ceil((HEADROOM + SHORTFALL) / (kib * 1_024))
      : Math.ceil((HEADROOM_INODES + SHORTFALL_INODES) / FILES_A_STEP);
  const condition = writer.ends ? `[ $i -lt ${steps} ]` : ':';
  return `${TERMINABLE} ${wait} i=0; while ${condition}; do ${step}; i=$((i+1)); sleep ${STEP_SECONDS}; done; ${STAY}`;
}

/** Where the kubelet keeps an emptyDir. */
function emptyDir(lab: LabContainerd, uid: string, name: string): string {
  return join(lab.paths.kubeletRoot, 'pods', uid, 'volumes/kubernetes.io~empty-dir', name);
}

// Not on the small disk: the signal must come through when that is full.
function controlDirectory(lab: LabContainerd): string {
  return join(lab.paths.work, 'control');
}

function exists(lab: LabContainerd, path: string): true | undefined {
  return existsSync(lab.outside(path)) || undefined;
}
