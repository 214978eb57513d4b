import { splitFlags } from '../../../src/config/flags.js';
import { type LoadResult, loadSettings } from '../../../src/config/load.js';
import type { Profile } from '../../../src/config/settings.js';
import type { ResolvedConfig } from '../format/scenario.js';

/** A configuration as its user gives it. */
export interface RawForm {
  readonly yaml?: string | undefined;
  readonly flags?: readonly string[] | undefined;
}

/** Loads what a user wrote, by the real loader. */
export function loadRaw({ yaml, flags = [] }: RawForm, profile: Profile): LoadResult {
  return loadSettings({
    ...(yaml === undefined ? {} : { kubeletConfig: { path: 'kubelet.yaml', text: yaml } }),
    flags: [...splitFlags(flags), ...(profile === 'kubelet' ? [{ name: 'profile', value: 'kubelet' }] : [])],
  });
}

/** The pods' source of every scenario: it knows all of them, and their limits. */
const PODS_FROM = 'http://127.0.0.1:10255/pods';

/** Keys that are durations: given by flags, as in a file 0s would mean the default. */
const DURATION_FLAGS = {
  evictionPressureTransitionPeriod: 'eviction-pressure-transition-period',
  imageMinimumGCAge: 'minimum-image-ttl-duration',
  imageMaximumGCAge: 'maximum-image-ttl-duration',
  runtimeRequestTimeout: 'runtime-request-timeout',
} as const;

/** Loads an effective configuration by the real loader: as a file of ours, and what only a flag can say by flags. */
export function loadResolved(config: ResolvedConfig): LoadResult {
  const { layout: _, containerGC, protectedImages, ballast = '0', ...rest } = config;
  const durations = Object.keys(DURATION_FLAGS) as (keyof typeof DURATION_FLAGS)[];
  const isDuration = (key: string) => durations.some((each) => each === key);
  const entries = Object.entries(rest).filter(([key, value]) => value !== undefined && !isDuration(key));
  // JSON is YAML.
  const text = JSON.stringify({
    ...Object.fromEntries(entries),
    containerGC,
    protectedImages,
    ballast,
    podsFrom: PODS_FROM,
  });
  return loadSettings({
    file: { path: 'reclaimd.yaml', text },
    flags: durations.flatMap((key) => {
      const value = config[key];
      return value === undefined ? [] : [{ name: DURATION_FLAGS[key], value }];
    }),
  });
}
