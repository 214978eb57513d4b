/**
 * Exit codes: 0 done, 1 it failed, 2 the command line or the configuration is wrong, 3 refused, 4 all was done and it was not
 * enough, 130 interrupted.
 */
export const EXIT = { done: 0, failed: 1, usage: 2, refused: 3, notEnough: 4, interrupted: 130 } as const;
