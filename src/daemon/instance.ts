import type { InstanceHolder } from '../adapters/host/instance-lock.js';
import { productVersion } from './version.js';

/** Who we are, for whoever finds something held by us. */
export function thisInstance(): InstanceHolder {
  return { pid: process.pid, startedAt: new Date(Date.now()).toISOString(), version: productVersion() };
}
