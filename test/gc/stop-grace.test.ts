import test from 'ava';
import { stopGrace } from '../../src/gc/stop-grace.js';

const DELETION = 'io.kubernetes.pod.deletionGracePeriod';
const OWN = 'io.kubernetes.pod.terminationGracePeriod';

const grace = test.macro((t, annotations: Readonly<Record<string, string>>, expected: number) => {
  t.is(stopGrace(annotations), expected as ReturnType<typeof stopGrace>); // a number of milliseconds, as written in the row
});

test('the grace of a deletion comes before that of the pod', grace, { [DELETION]: '5', [OWN]: '30' }, 5_000);
test('else the pod has its own', grace, { [OWN]: '30' }, 30_000);
test('a grace below two seconds is two seconds', grace, { [DELETION]: '0', [OWN]: '30' }, 2_000);
test('a container that says nothing has two seconds', grace, {}, 2_000);
test('a text that is no number is as good as none', grace, { [DELETION]: 'soon', [OWN]: '7' }, 7_000);
