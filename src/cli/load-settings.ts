import { readFileSync } from 'node:fs';
import type { FlagValue } from '../config/flags.js';
import { type LoadResult, loadSettings } from '../config/load.js';
import { PortError } from '../ports/port-error.js';

/** Where the settings of a command come from. */
export interface SettingsOptions {
  /** Path of our own file. */
  readonly config?: string;
  /** Path of the kubelet's. */
  readonly kubeletConfig?: string;
  readonly flags: readonly FlagValue[];
}

/** Reads the files that a command names and loads the settings. Throws a `PortError` for a file that cannot be read. */
export function readSettings(options: SettingsOptions): LoadResult {
  return loadSettings({
    flags: options.flags,
    ...(options.config === undefined ? {} : { file: readSource(options.config) }),
    ...(options.kubeletConfig === undefined ? {} : { kubeletConfig: readSource(options.kubeletConfig) }),
  });
}

function readSource(path: string): { readonly path: string; readonly text: string } {
  try {
    return { path, text: readFileSync(path, 'utf8') };
  } catch (error) {
    throw new PortError(`Cannot read the configuration as the file must be there and readable: ${path}`, {
      cause: error,
    });
  }
}
