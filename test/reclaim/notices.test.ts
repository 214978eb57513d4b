import test from 'ava';
import { Notices } from '../../src/reclaim/notices.js';
import { VirtualClock } from '../fakes/virtual-clock.js';

const HOUR = 3_600_000;

test('a state is news when it begins, and again an hour later', (t) => {
  const clock = new VirtualClock();
  const notices = new Notices(clock);
  t.true(notices.begins('FULL a'));
  clock.skip(HOUR - 1);
  t.false(notices.begins('FULL a'));
  clock.skip(1);
  t.true(notices.begins('FULL a'));
});

test('a state that has ended is news when it begins again', (t) => {
  const notices = new Notices(new VirtualClock());
  notices.begins('FULL a');
  notices.ends('FULL a');
  t.true(notices.begins('FULL a'));
});

test('what is said once for good is not said again however long it lasts', (t) => {
  const clock = new VirtualClock();
  const notices = new Notices(clock);
  t.true(notices.beginsForGood('DOUBT a'));
  clock.skip(10 * HOUR);
  t.false(notices.beginsForGood('DOUBT a'));
});

test('the states of a code that are no longer there have ended, those of other codes have not', (t) => {
  const notices = new Notices(new VirtualClock());
  t.deepEqual(notices.last('FULL', ['a', 'b']), ['a', 'b']);
  notices.begins('FULLER b');
  t.deepEqual(notices.last('FULL', ['a', 'c']), ['c']);
  t.deepEqual(notices.last('FULL', ['b']), ['b']);
  t.false(notices.begins('FULLER b'));
});
