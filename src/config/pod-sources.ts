import { dirname, resolve } from 'node:path';
import type { SettingReader } from './setting-reader.js';

/** Where static pods are read. A relative path in a file starts from the file's own directory, as the kubelet has it. */
export function staticPodPathOf(read: SettingReader): string | null {
  const value = read.text('staticPodPath');
  const origin = read.originOf('staticPodPath');
  if (value === null || value.startsWith('/') || value.includes('\0') || origin.kind !== 'file') {
    return read.path('staticPodPath');
  }
  return resolve(dirname(origin.file), value);
}

/**
 * Where a kubelet lists its pods. What is said there decides who may be evicted, and nobody vouches for plain HTTP from elsewhere:
 * another machine must be asked for.
 */
export function podsFromOf(read: SettingReader): string | null {
  const value = read.text('podsFrom');
  if (value === null) return null;
  const url = URL.canParse(value) ? new URL(value) : null;
  const rule = url === null ? SHAPE : faultOf(url, read.boolean('podsFromAnywhere'));
  // A password must not come into a log by the message that refuses it.
  const named = url === null || url.password === '' ? value : url.host;
  if (rule !== null) read.tell('error', 'BAD_VALUE', 'podsFrom', rule, named);
  return url === null ? value : url.href;
}

const SHAPE = 'it must be a URL such as http://127.0.0.1:10255/pods';

function faultOf(url: URL, anywhere: boolean): string | null {
  if (url.protocol !== 'http:' || url.hostname === '') return SHAPE;
  if (url.username !== '' || url.password !== '') return 'it must have no user and no password in it';
  if (anywhere || isLoopback(url.hostname)) return null;
  return 'the host must be this machine (127.0.0.1, ::1, localhost) unless podsFromAnywhere is true';
}

/** The parser has brought every way to write an IPv4 address to four numbers. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
