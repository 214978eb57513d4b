import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';

export type { Logger } from 'pino';

import type { LogDestination } from './destination.js';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
/** `auto` is `pretty` on a terminal and `json` elsewhere. */
export type LogFormat = 'auto' | 'pretty' | 'json';

export interface CreateLoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly destination: LogDestination;
}

/**
 * Makes the logger: one JSON object a line with the level as a word and the time in ISO 8601 (UTC), since the lines are read
 * by people in the journal as often as by machines, and a word and a date need no table. Pretty lines are made in this
 * thread: a transport in a worker dies of the first full disk and takes the log with it.
 */
export async function createLogger({ level, format, destination }: CreateLoggerOptions): Promise<Logger> {
  const pretty = format === 'pretty' || (format === 'auto' && destination.isTTY);
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // A level as a word cannot be mapped back by the pretty printer's numbers, but it takes words as well.
    formatters: { level: (label) => ({ level: label }) },
  };
  return pino(options, pretty ? await prettyStream(destination).catch(() => destination) : destination);
}

/** Loaded on demand: a daemon under a service manager never needs it, and where it is not installed the lines are JSON. */
async function prettyStream(destination: LogDestination): Promise<DestinationStream> {
  const { prettyFactory } = (await import('pino-pretty')).default;
  const prettify = prettyFactory({ colorize: destination.isTTY, translateTime: 'SYS:HH:MM:ss.l', singleLine: true });
  return {
    write(line) {
      // Undefined or an empty text for what it thinks is no line.
      const text: unknown = prettify(line);
      destination.write(typeof text === 'string' && text !== '' ? text : line);
    },
  };
}
