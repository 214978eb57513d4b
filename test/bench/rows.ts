import type { Row } from './row.js';
import { crossingRow } from './rows/crossing.js';
import { idleRow } from './rows/idle.js';
import { listRow } from './rows/list.js';
import { passRow } from './rows/pass.js';
import { sampleRow } from './rows/sample.js';
import { startRow } from './rows/start.js';
import { walkRow } from './rows/walk.js';

/** All rows, in the order in which they run. A new one is a file in rows/ and a line here. */
export const ROWS: readonly Row[] = [sampleRow, startRow, listRow, passRow, walkRow, crossingRow, idleRow];
