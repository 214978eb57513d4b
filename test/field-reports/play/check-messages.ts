import type { EvictionEvent } from '../../../src/eviction/event.js';
import { storageMessage } from '../../../src/eviction/message.js';
import type { Expectation, ExpectedWarning } from '../format/expectations.js';
import { holds } from './outcome.js';
import type { Check } from './record.js';

/** Whether each warning was given, and not more often than expected. */
export const checkWarnings: Check<readonly ExpectedWarning[]> = (path, expected, { told, allMessages }) =>
  expected.flatMap(({ code, contains, max, over }, index) => {
    const given = (over === 'scenario' ? allMessages : told.messages).filter((each) => each.code === code);
    const isGiven = given.some(({ text }) => contains.every((part) => text.includes(part)));
    const actual = given.length === 0 ? told.messages.map((each) => each.code) : given.map(({ text }) => text);
    return [
      ...holds(isGiven, `${path}[${index}] ${code}`, contains, actual),
      ...holds(max === undefined || given.length <= max, `${path}[${index}] ${code}: times`, max, given.length),
    ];
  });

/** Whether codes were not given. */
export const checkSilence: Check<readonly string[]> = (path, expected, { told }) => {
  const given = told.messages.filter(({ code }) => expected.includes(code));
  return holds(given.length === 0, path, expected, given);
};

/** What the eviction messages of a step say. */
export const checkMessage: Check<NonNullable<Expectation['message']>> = (path, expected, { told }) => {
  const messages = told.events.flatMap(messageOf);
  const isSaid = messages.some(
    (text) =>
      expected.contains.every((part) => text.includes(part)) &&
      !expected.notContains.some((part) => text.includes(part)),
  );
  return holds(isSaid, path, expected, messages);
};

function messageOf(event: EvictionEvent): readonly string[] {
  if (event.kind === 'eviction-decided') return [event.message];
  return event.kind === 'storage-limit-exceeded' ? [storageMessage(event.violation)] : [];
}
