import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

/** A kubelet's read-only port on loopback, whose answer a test can change. */
export interface KubeletEndpoint {
  readonly url: string;
  /** Paths asked for so far. */
  readonly asked: readonly string[];
  answer: RequestListener;
}

/** Opens an endpoint for the time of a test. */
export async function kubeletEndpoint(t: ExecutionContext, answer: RequestListener): Promise<KubeletEndpoint> {
  const asked: string[] = [];
  const endpoint = { asked, answer, url: '' };
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    endpoint.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on TCP has an address with a port.
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`;
  return endpoint;
}

/** Answers with these pods. */
export function listing(...items: readonly object[]): RequestListener {
  return (_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items }));
  };
}

/** A pod as the API writes it. */
export function apiPod(
  name: string,
  spec: object = {},
  more: { readonly metadata?: object; readonly status?: object } = {},
): object {
  return {
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      annotations: { 'kubernetes.io/config.source': 'api' },
      ...more.metadata,
    },
    spec: { containers: [{ name: 'app', image: 'app:1' }], terminationGracePeriodSeconds: 30, ...spec },
    status: { phase: 'Running', ...more.status },
  };
}
