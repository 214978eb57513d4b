import test from 'ava';
import { parseProgram, type Step } from '../../src/embedded/program.js';

const sh = (script: string): readonly string[] => ['/bin/sh', '-c', script];

const CASES: readonly (readonly [title: string, words: readonly string[], steps: readonly Step[]])[] = [
  ['no command sleeps for ever', [], [{ kind: 'sleep', ms: Infinity }]],
  ['a plain command', ['/bin/sleep', '2'], [{ kind: 'sleep', ms: 2000 }]],
  [
    'a writer as the tests of real runtimes have it',
    sh('dd if=/dev/urandom of=/data/written bs=1024 count=4096 2>/dev/null && sync; exec sleep 100000000'),
    [{ kind: 'write', path: '/data/written', size: 4 << 20 }, { kind: 'nothing' }, { kind: 'sleep', ms: 1e11 }],
  ],
  ['sizes with a unit', sh('dd if=/dev/zero of=/a bs=1M count=3'), [{ kind: 'write', path: '/a', size: 3 << 20 }]],
  [
    'a trap and a loop',
    sh("trap 'exit 4' TERM; while true; do echo a b; sleep 1; done"),
    [
      { kind: 'trap', onTerm: { exit: 4 } },
      {
        kind: 'forever',
        body: [
          { kind: 'print', text: 'a b' },
          { kind: 'sleep', ms: 1000 },
        ],
      },
    ],
  ],
  ['an empty trap ignores', sh("trap '' TERM"), [{ kind: 'trap', onTerm: 'ignore' }]],
  ['a trap of another signal changes nothing', sh("trap 'exit 1' HUP"), [{ kind: 'nothing' }]],
  [
    'separators in quotes separate nothing',
    sh("echo 'a; b && c'; exit 3"),
    [
      { kind: 'print', text: 'a; b && c' },
      { kind: 'exit', code: 3 },
    ],
  ],
  ['what is not known is named', ['/usr/bin/nginx', '-g'], [{ kind: 'unknown', name: 'nginx' }]],
];

for (const [title, words, steps] of CASES) {
  test(`a program is read as steps: ${title}`, (t) => {
    t.deepEqual(parseProgram(words), steps);
  });
}
