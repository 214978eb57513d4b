import test from 'ava';
import { loadSettings } from '../../src/config/load.js';
import { type PodsCgroupPlace, podsCgroupNames } from '../../src/config/pods-cgroup.js';

const placed = test.macro({
  exec(t, place: Partial<PodsCgroupPlace>, names: readonly string[]) {
    t.deepEqual(podsCgroupNames({ root: '/', driver: 'auto', perQos: true, ...place }), names);
  },
  title: (_, place) => `the pods' cgroup of ${JSON.stringify(place)}`,
});

test(placed, {}, ['kubepods.slice', 'kubepods']);
test(placed, { driver: 'systemd' }, ['kubepods.slice']);
test(placed, { driver: 'cgroupfs' }, ['kubepods']);
test(placed, { root: '/a/b' }, ['a.slice/a-b.slice/a-b-kubepods.slice', 'a/b/kubepods']);
test(placed, { root: 'a/', driver: 'cgroupfs' }, ['a/kubepods']);
// A dash would be another level to systemd.
test(placed, { root: '/my-pods', driver: 'systemd' }, ['my_pods.slice/my_pods-kubepods.slice']);
test(placed, { root: '/pods', driver: 'cgroupfs', perQos: false }, ['pods']);
// The root of the hierarchy itself, whichever driver.
test(placed, { perQos: false }, ['']);

test("the kubelet's own file places it", (t) => {
  const text = 'cgroupRoot: /node\ncgroupDriver: systemd\nkernelMemcgNotification: true\n';
  const loaded = loadSettings({ kubeletConfig: { path: 'k.yaml', text } });
  t.like(loaded, {
    kind: 'loaded',
    settings: {
      podsCgroup: { root: '/node', driver: 'systemd', names: ['node.slice/node-kubepods.slice'] },
      kernelMemcgNotification: true,
    },
  });
});

for (const [key, value] of [
  ['cgroupRoot', '/a/../b'],
  ['cgroupDriver', 'openrc'],
] as const) {
  test(`${key} ${value} is refused`, (t) => {
    const refused = loadSettings({ file: { path: 'f.yaml', text: `${key}: ${value}\n` } });
    t.like(refused, { kind: 'refused', problems: [{ code: 'BAD_VALUE', path: key }] });
  });
}
