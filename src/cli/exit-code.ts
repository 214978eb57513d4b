/** Exit codes: 0 done, 1 it failed, 2 the command line or the configuration is wrong, 3 refused, 130 interrupted. */
export const EXIT = { done: 0, failed: 1, usage: 2, refused: 3, interrupted: 130 } as const;
