import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import test from 'ava';
import { startEmbeddedRuntime } from '../../src/embedded/embedded-runtime.js';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
/** Every disk that somebody uses is short of this, and none of that. */
const PRESSED = '--eviction-hard=nodefs.available<99.99%';
const AT_EASE = '--eviction-hard=nodefs.available<1Ki';

const CRITICAL = `apiVersion: v1
kind: Pod
metadata: { name: agent, namespace: kube-system }
spec: { priority: 2000000000, containers: [{ name: agent, image: agent:1 }] }
`;

/** Runs `reclaimd admit` against a runtime of its own. */
async function admit(t: ExecutionContext, args: readonly string[], manifest: string | null = null) {
  const directory = mkdtempSync(join(tmpdir(), 'admit-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'pod.yaml');
  if (manifest !== null) writeFileSync(file, manifest);
  const runtime = await startEmbeddedRuntime({ disk: { sizeBytes: 16 << 20, layout: 'shared' } });
  t.teardown(() => runtime.close());
  const all = [
    MAIN,
    'admit',
    `--runtime-endpoint=${runtime.endpoint}`,
    `--root-dir=${directory}`,
    '--state-file=none',
    ...args,
  ];
  if (manifest !== null) all.push(`--pod-file=${file}`);
  return new Promise<{ code: unknown; out: string; said: string }>((resolve) => {
    execFile(process.execPath, all, (error, out, said) => {
      resolve({ code: error === null ? 0 : error.code, out, said });
    });
  });
}

test('a pod that nothing stands against is admitted', async (t) => {
  const { code, out, said } = await admit(t, [AT_EASE]);
  t.is(code, 0, said);
  t.regex(out, /^a BestEffort pod of priority 0: admitted\n {2}node conditions: none\n/);
});

test('under disk pressure it is refused with the condition and the line, and the exit code is 3', async (t) => {
  const { code, out, said } = await admit(t, [PRESSED, '--qos=Guaranteed', '--priority=1000']);
  t.is(code, 3, said);
  t.regex(out, /^a Guaranteed pod of priority 1000: refused, Evicted: the node reports DiskPressure$/m);
  t.regex(out, /nodefs\.available.*99\.99%.* available, line .* -> met$/m);
});

test('a critical pod is admitted whatever is short', async (t) => {
  const { code, out } = await admit(t, [PRESSED], CRITICAL);
  t.is(code, 0);
  t.regex(out, /^kube-system\/agent: admitted\n {2}node conditions: DiskPressure\n/);
});

test('with less free than is held back a pod is refused, under no pressure, and a critical one too', async (t) => {
  const { code, out } = await admit(t, [AT_EASE, '--low-diskspace-threshold-mb=1000000000', '--output=json'], CRITICAL);
  t.is(code, 3);
  t.like(JSON.parse(out), {
    pod: 'kube-system/agent',
    admitted: false,
    reason: 'OutOfDisk: less is free than is held back',
    conditions: [],
    outOfDisk: { root: { kind: 'no-room' } },
  });
});

test('a manifest that is none, and a pod that is described twice, are mistakes of the command line', async (t) => {
  t.is((await admit(t, [], 'kind: Job\n')).code, 2);
  t.is((await admit(t, ['--priority=1'], CRITICAL)).code, 2);
  t.is((await admit(t, ['--priority=high'])).code, 2);
});

test('without a runtime nobody can tell', async (t) => {
  const { code, said } = await admit(t, ['--runtime-endpoint=/run/none.sock']);
  t.is(code, 1);
  t.regex(said, /\/run\/none\.sock/);
});
