/**
 * Image references are compared in full form, since runtimes and users shorten them differently: `nginx`, `nginx:latest` and
 * `docker.io/library/nginx:latest` are one image.
 */
export function fullReference(reference: string): string {
  if (isFull(reference)) return reference;
  const [name, digest] = splitOnce(reference, '@');
  const slash = name.lastIndexOf('/');
  const hasTag = name.indexOf(':', slash + 1) !== -1;
  const tagged = hasTag || digest !== null ? name : `${name}:latest`;
  const [head] = tagged.split('/');
  const hasRegistry = tagged.includes('/') && head !== undefined && /[.:]|^localhost$/.test(head);
  const located = hasRegistry ? tagged.replace(/^index\.docker\.io\//, 'docker.io/') : `docker.io/${tagged}`;
  // A name without a user lies in the library, whether the default registry was written out or not.
  const whole = located.replace(/^docker\.io\/(?=[^/]*$)/, 'docker.io/library/');
  return `${whole}${digest === null ? '' : `@${digest}`}`;
}

/** Whether nothing is to be added, as in nearly all that runtimes list; told without making any text. */
export function isFull(reference: string): boolean {
  const at = reference.indexOf('@');
  const end = at === -1 ? reference.length : at;
  const slash = reference.indexOf('/');
  if (slash === -1 || slash > end || !isRegistry(reference, slash)) return false;
  const lastSlash = reference.lastIndexOf('/', end);
  if (reference.startsWith('docker.io/') && lastSlash === slash) return false;
  return at !== -1 || reference.lastIndexOf(':') > lastSlash;
}

/** Whether what stands before the first slash is a registry, by the name that it has today. */
function isRegistry(reference: string, slash: number): boolean {
  if (reference.startsWith('index.docker.io/')) return false;
  return (
    isBefore(reference.indexOf('.'), slash) ||
    isBefore(reference.indexOf(':'), slash) ||
    reference.startsWith('localhost/')
  );
}

function isBefore(position: number, end: number): boolean {
  return position !== -1 && position < end;
}

/** An image id without its algorithm; ids come with and without `sha256:`. */
export function bareId(id: string): string {
  return id.startsWith('sha256:') ? id.slice('sha256:'.length) : id;
}

/** Whether a text could be an id or the beginning of one: 12 to 64 hex digits, `sha256:` in front or not. */
export function looksLikeId(text: string): boolean {
  return /^(sha256:)?[0-9a-f]{12,64}$/.test(text);
}

function splitOnce(text: string, separator: string): readonly [string, string | null] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + separator.length)];
}
