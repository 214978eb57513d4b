import test from 'ava';
import { type SpaceHolder, spaceAccount } from '../../src/gc/space-account.js';

const holder = (what: string, bytes: number | null): SpaceHolder => ({
  what,
  bytes,
  reclaimable: null,
  isLowerBound: false,
  note: null,
});

test('the largest holder comes first, and what nobody explains is left', (t) => {
  const account = spaceAccount({ capacity: 100, available: 20 }, [holder('logs', 10), holder('images', 50)]);
  t.deepEqual(
    account.holders.map(({ what }) => what),
    ['images', 'logs'],
  );
  t.like(account, { used: 80, unexplained: 20, isMostlyUnexplained: false });
});

test('less than half explained is said', (t) => {
  t.true(spaceAccount({ capacity: 100, available: 20 }, [holder('logs', 39)]).isMostlyUnexplained);
  t.false(spaceAccount({ capacity: 100, available: 20 }, [holder('logs', 40)]).isMostlyUnexplained);
});

test('a holder of unknown size explains nothing, and holders never explain more than there is', (t) => {
  t.is(spaceAccount({ capacity: 100, available: 20 }, [holder('logs', null)]).unexplained, 80);
  t.is(spaceAccount({ capacity: 100, available: 20 }, [holder('logs', 90)]).unexplained, 0);
});
