import test from 'ava';
import { hostIoPressure, parseIoPressure } from '../../../src/adapters/host/io-pressure.js';

test('the averages over ten seconds are read', (t) => {
  const text =
    'some avg10=5.43 avg60=1.33 avg300=2.77 total=450855839\nfull avg10=0.10 avg60=0.05 avg300=0.08 total=29900245\n';
  t.deepEqual(parseIoPressure(text), { some: 5.43, full: 0.1 });
});

test('another text tells nothing', (t) => {
  t.is(parseIoPressure('some avg10=5.43 avg60=1.33 avg300=2.77 total=450855839\n'), null);
  t.is(parseIoPressure(''), null);
});

test('a kernel without pressure tells nothing', async (t) => {
  t.is(await hostIoPressure('/nonexistent/pressure').read(), null);
});
