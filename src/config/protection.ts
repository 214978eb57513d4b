import { expressionFault } from '../gc/expression-fault.js';
import { parseLabelRule, whyNeverFits } from '../gc/image-pattern.js';
import type { KeyName } from './keys.js';
import type { SettingReader } from './setting-reader.js';
import type { Settings } from './settings.js';

/** What is never removed and who is never evicted. */
export function protectionOf(
  read: SettingReader,
): Pick<
  Settings,
  | 'protectedImages'
  | 'protectedImageExpressions'
  | 'protectedImageLabels'
  | 'imagesKeptPerRepository'
  | 'protectedNamespaces'
  | 'protectedPriority'
  | 'protectedAnnotation'
  | 'ownerScope'
> {
  return {
    protectedImages: patternsOf(read),
    protectedImageExpressions: expressionsOf(read),
    protectedImageLabels: labelsOf(read),
    imagesKeptPerRepository: keptOf(read),
    protectedNamespaces: nonEmpty(read, 'protectedNamespaces'),
    protectedPriority: read.isSet('protectedPriority') ? read.integer('protectedPriority') : null,
    protectedAnnotation: read.text('protectedAnnotation'),
    ownerScope: read.choice('ownerScope', ['all', 'gone-pods', 'images'], 'all'),
  };
}

function patternsOf(read: SettingReader): readonly string[] {
  const patterns = nonEmpty(read, 'protectedImages');
  for (const pattern of patterns) {
    const why = pattern === '' ? null : whyNeverFits(pattern);
    if (why !== null) read.tell('warning', 'PATTERN_NEVER_FITS', 'protectedImages', why, pattern);
  }
  return patterns;
}

function expressionsOf(read: SettingReader): readonly string[] {
  const expressions = nonEmpty(read, 'protectedImageExpressions');
  for (const expression of expressions) {
    const fault = expressionFault(expression);
    if (fault === null) continue;
    const rule = `${fault.rule}, at position ${fault.position}`;
    read.tell('error', 'BAD_EXPRESSION', 'protectedImageExpressions', rule, expression);
  }
  return expressions;
}

function labelsOf(read: SettingReader): readonly string[] {
  const labels = nonEmpty(read, 'protectedImageLabels');
  for (const label of labels) {
    if (label === '' || parseLabelRule(label) !== null) continue;
    read.tell(
      'error',
      'BAD_VALUE',
      'protectedImageLabels',
      'a label must have a key, such as keep or keep=true',
      label,
    );
  }
  return labels;
}

function keptOf(read: SettingReader): number {
  const many = read.integer('imagesKeptPerRepository');
  if (many < 0) {
    const rule = 'the number must not be negative';
    read.tell('error', 'BAD_VALUE', 'imagesKeptPerRepository', rule, `${many}`);
  }
  return Math.max(0, many);
}

function nonEmpty(read: SettingReader, name: KeyName): readonly string[] {
  const items = read.list(name);
  if (items.includes('')) read.tell('error', 'BAD_VALUE', name, 'an item must not be empty', JSON.stringify(items));
  return items;
}
