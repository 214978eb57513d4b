/** Where links to container logs lie for collectors of logs that know the old layout. */
export const LOG_LINKS_DIR = '/var/log/containers';

const SUFFIX = '.log';
/** The longest file name of common filesystems. */
const MAX_NAME_LENGTH = 255;
/** Shorter texts are no container id, nor the beginning of one. */
const MIN_ID_LENGTH = 6;

/** The link to a container's log: `<pod>_<namespace>_<container>-<id>.log`, cut to what a filesystem takes, the id first. */
export function logLinkPath(
  directory: string,
  podFullName: string,
  container: { readonly name: string; readonly id: string },
): string {
  const name = `${podFullName}_${container.name}-${container.id}`.slice(0, MAX_NAME_LENGTH - SUFFIX.length);
  return `${directory}/${name}${SUFFIX}`;
}

/** The container id in the name of a link, possibly cut short; null when there is none. The directory is not looked at. */
export function containerIdOfLink(path: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (!name.endsWith(SUFFIX)) return null;
  const dash = name.lastIndexOf('-');
  const id = dash === -1 ? '' : name.slice(dash + 1, -SUFFIX.length);
  return id.length < MIN_ID_LENGTH ? null : id;
}

/** Whether a file is a link to a container's log by its name. */
export function isLogLinkName(name: string): boolean {
  return name.endsWith(SUFFIX);
}
