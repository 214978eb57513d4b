import type { SettingReader } from './setting-reader.js';

/** What a path of a socket must keep to; whoever dials it would refuse it later and with less to go by. */
const PATH_RULES: readonly { readonly rule: string; readonly breaks: (path: string) => boolean }[] = [
  { rule: 'it must name a socket, not a directory', breaks: (path) => path.endsWith('/') },
  { rule: 'a path must have no NUL in it', breaks: (path) => path.includes('\0') },
  {
    rule: 'the path of a unix socket may have at most 107 bytes',
    // sockaddr_un keeps 108 bytes, the closing zero included; a longer path would be cut, and something else dialled.
    breaks: (path) => new TextEncoder().encode(path).length > 107,
  },
];

const SHAPE = 'the runtime must be named by a unix socket, such as unix:///run/containerd/containerd.sock';

/** The runtime's socket as it was written; null = the usual ones are looked for. */
export function runtimeEndpointOf(read: SettingReader): string | null {
  const value = read.text('containerRuntimeEndpoint');
  if (value === null) return null;
  const rule = ruleBrokenBy(value);
  if (rule !== null) read.tell('error', 'BAD_VALUE', 'containerRuntimeEndpoint', rule, value);
  return value;
}

function ruleBrokenBy(value: string): string | null {
  if (!/^(?:unix:\/\/)?\/./.test(value)) return SHAPE;
  const path = value.replace(/^unix:\/+/, '/');
  return PATH_RULES.find(({ breaks }) => breaks(path))?.rule ?? null;
}
