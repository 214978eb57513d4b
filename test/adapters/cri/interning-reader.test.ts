import { fc, testProp } from '@fast-check/ava';
import test from 'ava';
import { InterningReader, StringTable } from '../../../src/adapters/cri/interning-reader.js';
import { Container, type DeepPartial } from '../../../src/proto/generated/cri.js';

const encode = (fields: DeepPartial<Container>) =>
  Buffer.from(Container.encode(Container.fromPartial(fields)).finish());

const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.string({ minLength: 90, maxLength: 110 }));

// One table for all: what an earlier message left in it must never show up in a later one.
const table = new StringTable();
testProp(
  'a message reads as the plain decoder reads it, whatever was read before',
  [
    fc.record({
      id: text,
      imageRef: text,
      labels: fc.dictionary(
        text.filter((key) => key !== '__proto__'),
        text,
      ),
    }),
  ],
  (t, fields) => {
    const bytes = encode(fields);
    t.deepEqual(Container.decode(new InterningReader(bytes, table)), Container.decode(bytes));
  },
);

test('texts that fall on the same place do not mix', (t) => {
  const own = new StringTable();
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < 20_000; index += 1) {
      const bytes = Buffer.from(`container-${index}`);
      if (own.read(bytes, 0, bytes.length) !== `container-${index}`) t.fail(`container-${index}`);
    }
  }
  t.pass();
});

test('a text that ends beyond the message is an error, not a shorter text', (t) => {
  const bytes = encode({ id: 'abcdef' });
  t.throws(() => Container.decode(new InterningReader(bytes.subarray(0, 5), new StringTable())), {
    instanceOf: RangeError,
    message: /must end inside it/,
  });
});
