import { PortError } from '../../ports/port-error.js';

/** Where a runtime listens. */
export interface Endpoint {
  /** `unix:///…`, the form that messages show and gRPC dials. */
  readonly url: string;
  /** Absolute path of the socket. */
  readonly path: string;
}

/** Where the runtimes listen unless configured otherwise, in the order they are looked for. */
export const DEFAULT_ENDPOINTS: readonly Endpoint[] = [
  parseEndpoint('unix:///run/containerd/containerd.sock'),
  parseEndpoint('unix:///run/crio/crio.sock'),
];

/**
 * Reads the address of a runtime: `unix:///path`, `unix:/path` or just `/path`. CRI is spoken over unix sockets on this
 * node only. Throws a `PortError` for everything else.
 */
export function parseEndpoint(text: string): Endpoint {
  // gRPC would take two leading slashes for a host.
  const path = pathOf(text).replace(/^\/+/, '/');
  if (!path.startsWith('/')) refuse('its path must be absolute', text);
  if (path.endsWith('/')) refuse('it must name a socket, not a directory', text);
  if (path.includes('\0')) refuse('a path holds no zero byte', text);
  // sockaddr_un keeps 108 bytes, the closing zero included; libuv would cut a longer path and dial something else.
  if (new TextEncoder().encode(path).length > 107) refuse('the path of a unix socket may have at most 107 bytes', text);
  return { url: `unix://${path}`, path };
}

/** The first default endpoint whose socket is there. Throws a `PortError` that names all places when none is. */
export function findEndpoint(exists: (path: string) => boolean): Endpoint {
  const found = DEFAULT_ENDPOINTS.find((endpoint) => exists(endpoint.path));
  if (found !== undefined) return found;
  const places = DEFAULT_ENDPOINTS.map((endpoint) => endpoint.url).join(', ');
  throw new PortError(`Cannot find a container runtime as one of these sockets must exist: ${places}`);
}

function pathOf(given: string): string {
  const text = given.trim();
  if (text === '') refuse('it must not be empty', given);
  if (text.startsWith('unix://')) return text.slice('unix://'.length);
  if (text.startsWith('unix:')) return text.slice('unix:'.length);
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1];
  if (scheme !== undefined) refuse('CRI is spoken over a unix socket of this node', given);
  return text;
}

function refuse(rule: string, text: string): never {
  throw new PortError(
    `Cannot use runtime endpoint as ${rule} (as in unix:///run/containerd/containerd.sock): ${JSON.stringify(text)}`,
  );
}
