import test from 'ava';
import { splitFlags } from '../../src/config/flags.js';
import { loadSettings } from '../../src/config/load.js';
import { milliseconds } from '../../src/units/units.js';

test('the flags of the old kubelet set what is held back, on both filesystems, and how long OutOfDisk stays', (t) => {
  const flags = splitFlags(['--low-diskspace-threshold-mb=256', '--outofdisk-transition-frequency=1m']);
  const reserve = { runtimeFreeMegabytes: 256, rootFreeMegabytes: 256 };
  t.like(loadSettings({ flags }), { settings: { outOfDisk: { reserve, transition: milliseconds(60_000) } } });
});

test('a reserve below zero is refused, as the guard refuses it', (t) => {
  const refused = loadSettings({ file: { path: 'f.yaml', text: 'lowDiskSpaceThresholdMB: -1\n' } });
  t.like(refused, { kind: 'refused', problems: [{ code: 'BAD_VALUE', path: 'lowDiskSpaceThresholdMB' }] });
});
