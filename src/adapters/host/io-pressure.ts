import { readFile } from 'node:fs/promises';
import type { IoPressure, IoPressurePort } from '../../ports/io-pressure.js';

/** Reads `/proc/pressure/io`; a kernel without it, or one that has it switched off, tells nothing. */
export function hostIoPressure(path = '/proc/pressure/io'): IoPressurePort {
  return {
    read: () =>
      readFile(path, 'utf8').then(
        (text) => parseIoPressure(text),
        () => null,
      ),
  };
}

/** The averages over ten seconds; null when the text is none of the kernel's. */
export function parseIoPressure(text: string): IoPressure | null {
  const average = (kind: 'some' | 'full') => {
    const value = new RegExp(`^${kind} avg10=(\\d+(?:\\.\\d+)?) `, 'm').exec(text)?.[1];
    return value === undefined ? null : Number(value);
  };
  const [some, full] = [average('some'), average('full')];
  return some === null || full === null ? null : { some, full };
}
