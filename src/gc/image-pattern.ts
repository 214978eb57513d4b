/** What no image reference holds: neither a name, a tag, a digest nor an id. A star stands for anything. */
const FOREIGN = /[^A-Za-z0-9._/:@+*[\]-]/;

/**
 * Why a pattern of `protectedImages` fits no image that could ever be listed, worded to follow "as"; null when one may. Told from
 * the grammar of references alone: a pattern that fits nothing today may fit what is pulled tomorrow.
 */
export function whyNeverFits(pattern: string): string | null {
  const foreign = FOREIGN.exec(pattern);
  if (foreign !== null) {
    return `no image reference has the character ${JSON.stringify(foreign[0])}, here at position ${foreign.index + 1}`;
  }
  if (pattern.includes('//')) return 'no image reference has two slashes in a row';
  if (pattern.startsWith('/')) return 'no image reference begins with a slash';
  if (/[/:@]$/.test(pattern)) return `no image reference ends with ${JSON.stringify(pattern.slice(-1))}`;
  if (pattern.split('@').length > 2) return 'no image reference has more than one @';
  return pattern.includes('*') ? null : whyNoReference(pattern);
}

/** Digits of the digests that registries use. */
const DIGEST_DIGITS: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };
/** A tag's first character is no point and no dash. */
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

function whyNoReference(reference: string): string | null {
  const [name = '', digest] = reference.split('@');
  if (digest !== undefined) {
    const [algorithm = '', digits = ''] = digest.split(':');
    const wanted = DIGEST_DIGITS[algorithm];
    if (wanted !== undefined && !new RegExp(`^[0-9a-f]{${wanted}}$`).test(digits)) {
      return `a ${algorithm} digest has ${wanted} hexadecimal digits`;
    }
  }
  const slash = name.lastIndexOf('/');
  const colon = name.indexOf(':', slash + 1);
  const repository = colon === -1 ? name : name.slice(0, colon);
  if (colon !== -1 && !TAG.test(name.slice(colon + 1))) return 'this is no tag that an image can have';
  const [head = '', ...rest] = repository.split('/');
  // Only the name of a registry may have capitals.
  const isRegistry = rest.length > 0 && /[.:]|^localhost$/.test(head);
  const path = isRegistry ? rest.join('/') : repository;
  return /[A-Z]/.test(path) ? 'no repository has capital letters' : null;
}

/** A rule on labels: the label must be there, and its value fit where one is named. */
export interface LabelRule {
  /** As written. */
  readonly text: string;
  readonly key: string;
  /** `*` = any run of characters; null = any value. */
  readonly value: string | null;
}

/** Reads `key` or `key=value`; null when there is no key. */
export function parseLabelRule(text: string): LabelRule | null {
  const at = text.indexOf('=');
  const key = (at === -1 ? text : text.slice(0, at)).trim();
  return key === '' ? null : { text, key, value: at === -1 ? null : text.slice(at + 1).trim() };
}

/** Tells whether the whole of a text fits one with stars. Between its ends each part is looked for behind the last. */
export function compileGlob(glob: string): (text: string) => boolean {
  const [beginning = '', ...others] = glob.split('*');
  const end = others.pop();
  if (end === undefined) return (text) => text === glob;
  const shortest = beginning.length + end.length;
  return (text) => {
    if (text.length < shortest || !text.startsWith(beginning) || !text.endsWith(end)) return false;
    const limit = text.length - end.length;
    let from = beginning.length;
    for (const part of others) {
      const at = text.indexOf(part, from);
      if (at === -1) return false;
      from = at + part.length;
    }
    return from <= limit;
  };
}
