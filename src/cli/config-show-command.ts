import { PortError } from '../ports/port-error.js';
import { messageOf } from '../reclaim/removal.js';
import { renderConfigShow } from './config-show.js';
import { EXIT } from './exit-code.js';
import { readSettings, type SettingsOptions, UnreadableConfiguration } from './load-settings.js';
import { print } from './print.js';

/** Options of `reclaimd config show`. */
export interface ConfigShowCommandOptions extends SettingsOptions {
  readonly origin: boolean;
  readonly output: 'table' | 'json';
}

/** `reclaimd config show`: prints the effective settings; answers with 2 when the configuration is refused. */
export function configShowCommand(options: ConfigShowCommandOptions): number {
  try {
    const loaded = readSettings(options);
    print(renderConfigShow(loaded, { origin: options.origin, output: options.output }));
    return loaded.kind === 'loaded' ? EXIT.done : EXIT.usage;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    process.stderr.write(`error: ${messageOf(error)}\n`);
    return error instanceof UnreadableConfiguration ? EXIT.usage : EXIT.failed;
  }
}
