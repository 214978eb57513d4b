import test from 'ava';
import {
  graceOverrideSeconds,
  type LayoutProbe,
  layoutOfProbe,
  workerGrace,
} from '../../src/eviction/kubelet-quirks.js';
import { milliseconds } from '../../src/units/units.js';
import { threshold } from '../fakes/builders.js';

const LAYOUTS: readonly [dedicated: boolean, split: LayoutProbe['splitContainerFs'], on: string, off: string][] = [
  [false, false, 'one-disk null', 'one-disk null'],
  [true, false, 'image-disk null', 'image-disk null'],
  [true, true, 'split-disks null', 'split-disks refused'],
  [false, true, 'one-disk underived', 'one-disk refused'],
  [true, 'failed', 'image-disk null', 'image-disk null'],
  [false, 'failed', 'one-disk null', 'one-disk null'],
];

for (const [dedicatedImageFs, splitContainerFs, on, off] of LAYOUTS) {
  test(`dedicated ${dedicatedImageFs}, split ${splitContainerFs}: ${on}, and ${off} without the feature`, (t) => {
    const text = (feature: boolean) => {
      const { layout, quirk } = layoutOfProbe({ dedicatedImageFs, splitContainerFs }, feature);
      return `${layout} ${quirk}`;
    };
    t.is(text(true), on);
    t.is(text(false), off);
  });
}

const SOFT = threshold('nodefs.available', '10%', { graceSeconds: 60 });
const GRACES: readonly [title: string, own: number | null, cap: number, override: number, worker: number][] = [
  ['the cap', 30, 5, 5, 5_000],
  ['the pod’s own where that is less', 3, 5, 3, 3_000],
  ['the cap for a pod that has none', null, 600, 600, 600_000],
  ['zero as configured, and a second from the worker', 30, 0, 0, 1_000],
  ['less than zero as configured, and a second from the worker', 30, -1, -1, 1_000],
  ['a pod that wants none', 0, 5, 0, 1_000],
];

for (const [title, own, cap, override, worker] of GRACES) {
  test(`a soft eviction gives ${title}`, (t) => {
    const given = graceOverrideSeconds(SOFT, own === null ? null : milliseconds(own * 1_000), cap);
    t.is(given, override);
    t.is(workerGrace(given), milliseconds(worker));
  });
}

test('a pod’s own grace holds up to the cap and not a second beyond it', (t) => {
  t.is(graceOverrideSeconds(SOFT, milliseconds(2_001_000), 2_000), 2_000);
  t.is(graceOverrideSeconds(SOFT, milliseconds(1_999_000), 2_000), 1_999);
});

test('a hard eviction gives a second, whatever the pod wants', (t) => {
  t.is(graceOverrideSeconds(threshold('nodefs.available', '10%'), milliseconds(30_000), 600), 1);
});
