import type { Examination } from '../../daemon/examine.js';
import type { DiskAccount } from '../../daemon/space.js';
import { bytesText } from '../../eviction/message.js';
import type { Check } from '../../eviction/threshold-checks.js';
import type { SpaceHolder } from '../../gc/space-account.js';

const MARKS = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' } as const;

/** What `reclaimd doctor` prints: the checks, the worst first, then who holds the space of each disk. */
export function renderExamination(examination: Examination, output: 'text' | 'json'): string {
  if (output === 'json') return `${JSON.stringify(examination, null, 2)}\n`;
  return [
    'Checks:',
    ...[...examination.checks].sort((a, b) => rank(b) - rank(a)).map(checkText),
    ...examination.accounts.flatMap((account) => ['', ...accountText(account)]),
    ...(examination.accounts.length === 0 ? ['', 'Who holds the space cannot be told without the runtime.'] : []),
    '',
  ].join('\n');
}

function rank({ level }: Check): number {
  return ['ok', 'warn', 'fail'].indexOf(level);
}

function checkText({ what, level, text }: Check): string {
  return `  ${MARKS[level]} ${what}: ${text}`;
}

function accountText(account: DiskAccount): readonly string[] {
  const { filesystem, used, capacity, available, holders, unexplained, isMostlyUnexplained } = account;
  return [
    `${filesystem}: ${bytesText(used)} of ${bytesText(capacity)} used, ${bytesText(available)} available`,
    ...holders.map(holderText),
    `  ${sizeText(unexplained)}  not explained by any of these${isMostlyUnexplained ? ': more than half of what is used' : ''}`,
  ];
}

function holderText({ what, bytes, reclaimable, isLowerBound, note }: SpaceHolder): string {
  const size = bytes === null ? 'unknown' : `${isLowerBound ? '>=' : ''}${bytesText(bytes)}`;
  const gain = reclaimable === null || reclaimable === 0 ? '' : `, ${bytesText(reclaimable)} claimed by what could go`;
  return `  ${size.padStart(12)}  ${what}${gain}${note === null ? '' : ` (${note})`}`;
}

function sizeText(bytes: number): string {
  return bytesText(bytes).padStart(12);
}
