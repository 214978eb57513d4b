import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { FlagValue } from '../config/flags.js';
import { type LoadResult, loadSettings } from '../config/load.js';
import { PortError } from '../ports/port-error.js';

/** Where the settings of a command come from. */
export interface SettingsOptions {
  /** Path of our own file. */
  readonly config?: string;
  /** Path of the kubelet's. */
  readonly kubeletConfig?: string;
  /** Path of the directory with the kubelet's drop-ins. */
  readonly kubeletConfigDir?: string;
  readonly flags: readonly FlagValue[];
}

/** A configuration file that cannot be read, or that cannot be one: a mistake on the command line. */
export class UnreadableConfiguration extends PortError {}

/** Hundreds of times what a configuration needs; parsing much more would take minutes. */
const MOST_BYTES = 1024 * 1024;

/** Reads the files that a command names and loads the settings. Throws an `UnreadableConfiguration`. */
export function readSettings(options: SettingsOptions): LoadResult {
  return loadSettings({
    flags: options.flags,
    ...(options.config === undefined ? {} : { file: readSource(options.config) }),
    ...(options.kubeletConfig === undefined ? {} : { kubeletConfig: readSource(options.kubeletConfig) }),
    ...(options.kubeletConfigDir === undefined ? {} : { kubeletDropIns: readDropIns(options.kubeletConfigDir) }),
  });
}

/** The drop-ins in lexical order, as the kubelet applies them. */
function readDropIns(directory: string): readonly { readonly path: string; readonly text: string }[] {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith('.conf'));
    return names.sort().map((name) => readSource(join(directory, name)));
  } catch (cause) {
    if (cause instanceof UnreadableConfiguration) throw cause;
    const rule = 'the directory of drop-ins must be there and readable';
    throw new UnreadableConfiguration(`Cannot read the configuration as ${rule}: ${directory}`, { cause });
  }
}

/** A text file of at most 1 MiB. Throws an `UnreadableConfiguration`. */
export function readSource(path: string): { readonly path: string; readonly text: string } {
  const cannot = (rule: string, cause?: unknown) =>
    new UnreadableConfiguration(`Cannot read the configuration as the file must ${rule}: ${path}`, { cause });
  let content: Buffer;
  try {
    content = readUpTo(path, MOST_BYTES + 1);
  } catch (cause) {
    throw cannot('be there and readable', cause);
  }
  if (content.length > MOST_BYTES) throw cannot('have at most 1 MiB');
  try {
    return { path, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content) };
  } catch {
    throw cannot('be text in UTF-8');
  }
}

/** The beginning of a file. It may be a pipe or a device, which have no size to look at before. */
function readUpTo(path: string, most: number): Buffer {
  const fd = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(most);
    let length = 0;
    for (;;) {
      const taken = readSync(fd, buffer, length, most - length, null);
      length += taken;
      if (taken === 0 || length === most) return buffer.subarray(0, length);
    }
  } finally {
    closeSync(fd);
  }
}
