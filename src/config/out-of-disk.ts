import { reserveFault } from '../gc/disk-space.js';
import { millisecondsOf } from '../units/duration.js';
import type { SettingReader } from './setting-reader.js';
import type { OutOfDiskSettings } from './settings.js';

/** The guard against new pods on a disk that is nearly full; its one line holds for both filesystems, as in the kubelet. */
export function outOfDiskOf(read: SettingReader): OutOfDiskSettings {
  const megabytes = read.isSet('lowDiskSpaceThresholdMB') ? read.integer('lowDiskSpaceThresholdMB') : null;
  const reserve = megabytes === null ? null : { runtimeFreeMegabytes: megabytes, rootFreeMegabytes: megabytes };
  if (reserve !== null && reserveFault(reserve) !== null) {
    read.tell('error', 'BAD_VALUE', 'lowDiskSpaceThresholdMB', 'it must be at least 0', `${megabytes}`);
  }
  return { reserve, transition: millisecondsOf(read.duration('outOfDiskTransitionFrequency')) };
}
