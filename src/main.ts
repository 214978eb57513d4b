import { runCommandLine } from './cli/command-line.js';

process.exitCode = await runCommandLine(process.argv.slice(2));
