import test from 'ava';
import { type DockerEraContainer, planDockerEra, planDockerEraDeletion } from '../../src/gc/plan-docker-era.js';
import { instant, milliseconds } from '../../src/units/units.js';

const LIMITS = { minAge: milliseconds(100), maxPerPodContainer: 1, maxContainers: null };

function container(id: string, changes: Partial<DockerEraContainer> = {}): DockerEraContainer {
  return { id, podUid: 'u', name: 'web', running: false, createdAt: instant(0), identified: true, ...changes };
}

function plan(...containers: readonly DockerEraContainer[]): { removals: string[]; networkTeardowns: string[] } {
  const pods = { allSourcesReady: true, isKnown: () => true };
  const { removals, networkTeardowns } = planDockerEra(containers, LIMITS, pods, instant(1_000));
  return { removals: removals.map(({ id }) => id), networkTeardowns: networkTeardowns.map(({ id }) => id) };
}

test('the network of a pod is torn down for the dead container that held it, and for no other', (t) => {
  const { networkTeardowns } = plan(
    container('held', { name: 'POD' }),
    container('other'),
    container('alive', { name: 'POD', running: true }),
    container('nameless', { name: 'POD', identified: false }),
  );
  t.deepEqual(networkTeardowns, ['held']);
});

test('a container that nobody can name goes when it is exactly old enough', (t) => {
  const { removals } = plan(
    container('old', { identified: false, createdAt: instant(900) }),
    container('young', { identified: false, createdAt: instant(901) }),
    container('undated', { identified: false, createdAt: null }),
    container('alive', { identified: false, running: true }),
  );
  t.deepEqual(removals, ['old', 'undated']);
});

test('the removal of one container tears the network down where it held it, and spares a running one', (t) => {
  t.deepEqual(planDockerEraDeletion(container('held', { name: 'POD' })), { tearsDownNetwork: true });
  t.deepEqual(planDockerEraDeletion(container('other')), { tearsDownNetwork: false });
  t.deepEqual(planDockerEraDeletion(container('x', { name: 'POD', identified: false })), { tearsDownNetwork: false });
  t.is(planDockerEraDeletion(container('alive', { running: true })), null);
});
