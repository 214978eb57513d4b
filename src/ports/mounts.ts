import type { PathLook } from '../eviction/path-look.js';

export type { FilesystemReading, PathLook } from '../eviction/path-look.js';

/** Looks at filesystems. Never rejects for what the path is like, never hangs longer than its own deadline. */
export interface MountsPort {
  look(path: string): Promise<PathLook>;
}
