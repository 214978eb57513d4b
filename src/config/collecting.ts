import { readLogLimits } from '../gc/log-limits.js';
import { millisecondsOf } from '../units/duration.js';
import type { ProblemCode } from './problem.js';
import type { SettingReader } from './setting-reader.js';
import type { Settings } from './settings.js';

/** The kubelet's shortest pause between two looks at the logs, in nanoseconds. */
const SHORTEST_MONITOR_INTERVAL = 3_000_000_000n;

type Collecting = Pick<
  Settings,
  | 'periodicCollection'
  | 'containerLogs'
  | 'containerLogLinksDir'
  | 'afterImageCollection'
  | 'runtimeHandlerAwareImages'
  | 'usesRuntimeEvents'
>;

/** The settings of what goes on without pressure: which loops run, and how logs are rotated. */
export function collectingOf(read: SettingReader): Collecting {
  return {
    periodicCollection: {
      containers: read.choice('periodicCollection.containers', ['auto', 'never'], 'auto'),
      images: read.choice('periodicCollection.images', ['auto', 'always', 'never'], 'auto'),
      logRotation: read.choice('periodicCollection.logRotation', ['auto', 'never'], 'auto'),
    },
    containerLogs: containerLogsOf(read),
    containerLogLinksDir: logLinksOf(read),
    afterImageCollection: programOf(read),
    runtimeHandlerAwareImages: read.boolean('runtimeHandlerAwareImages'),
    usesRuntimeEvents: read.choice('runtimeEvents', ['auto', 'never'], 'auto') === 'auto',
  };
}

/** A shell would come from `PATH`, and what it is told would need quoting: a program is named by its path. */
function programOf(read: SettingReader): readonly string[] {
  const words = read.list('afterImageCollection');
  const [program] = words;
  const rule = words.some((word) => word.includes('\0'))
    ? 'a word must have no NUL in it'
    : program !== undefined && !program.startsWith('/')
      ? 'the program must be named by an absolute path'
      : null;
  if (rule !== null) read.tell('error', 'BAD_VALUE', 'afterImageCollection', rule, JSON.stringify(words));
  return words;
}

function logLinksOf(read: SettingReader): Settings['containerLogLinksDir'] {
  const value = read.text('containerLogLinksDir') ?? 'auto';
  if (value === 'auto' || value === 'none') return { kind: value };
  return { kind: 'path', path: read.path('containerLogLinksDir') ?? value };
}

const CODES = {
  'max-files-too-small': 'BAD_VALUE',
  'max-size-unreadable': 'BAD_QUANTITY',
  'max-size-not-an-integer': 'BAD_VALUE',
} as const satisfies Record<string, ProblemCode>;

function containerLogsOf(read: SettingReader): Settings['containerLogs'] {
  const maxFiles = read.integer('containerLogMaxFiles');
  const maxSize = read.text('containerLogMaxSize') ?? '10Mi';
  const workers = read.integer('containerLogMaxWorkers');
  const interval = read.duration('containerLogMonitorInterval', SHORTEST_MONITOR_INTERVAL);
  const result = readLogLimits(maxSize, maxFiles);
  if (result.kind === 'refused') {
    const isOfFiles = result.fault === 'max-files-too-small';
    read.tell(
      'error',
      CODES[result.fault],
      isOfFiles ? 'containerLogMaxFiles' : 'containerLogMaxSize',
      RULES[result.fault],
      isOfFiles ? `${maxFiles}` : maxSize,
    );
  }
  if (workers < 1) read.tell('error', 'BAD_VALUE', 'containerLogMaxWorkers', 'it must be at least 1', `${workers}`);
  return {
    limits: result.kind === 'limits' ? result.limits : null,
    workers,
    monitorInterval: millisecondsOf(interval),
  };
}

const RULES = {
  'max-files-too-small': 'it must be at least 2, the current file included',
  'max-size-unreadable': 'it must be a quantity such as 10Mi; a negative one switches rotation off',
  'max-size-not-an-integer': 'it must be a whole number of bytes, written without a fraction',
} as const;
