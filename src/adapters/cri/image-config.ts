import type { ImageConfig } from '../../ports/image-configs.js';
import { type Instant, instant } from '../../units/units.js';

/** The key under which containerd and CRI-O alike put it. */
const INFO = 'info';

/**
 * The configuration of an image out of what a verbose `ImageStatus` adds. CRI leaves its form to the runtime: containerd (1.6 and
 * 2.x, read and tried) and CRI-O (read) have the image's own configuration in it as `imageSpec`. Null where that is not so.
 */
export function imageConfigOf(info: Readonly<Record<string, string>>): ImageConfig | null {
  const spec = recordOf(recordOf(jsonOf(info[INFO]))?.['imageSpec']);
  if (spec === null) return null;
  const layers = recordOf(spec['rootfs'])?.['diff_ids'];
  return {
    labels: textsOf(recordOf(spec['config'])?.['Labels']),
    builtAt: timeOf(spec['created']),
    layers: Array.isArray(layers) ? layers.filter((each) => typeof each === 'string') : [],
  };
}

function jsonOf(text: string | undefined): unknown {
  if (text === undefined) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | null {
  // What is an object and no list has names and values, whatever they are.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(recordOf(value) ?? {}).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])),
  );
}

function timeOf(value: unknown): Instant | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : instant(time);
}
