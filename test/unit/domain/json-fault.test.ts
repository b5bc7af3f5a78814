import { expect } from 'chai';
import fc from 'fast-check';
import { jsonFault } from '../../../src/domain/json-text.ts';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('the place where a text is no JSON', () => {
  const SPOILERS = ['', ',', ']', '}', '"', '\\', ':', '0', '-', 'x', '\n', '\u0001'];
  const spoilt = fc
    .tuple(fc.json({ maxDepth: 4 }), fc.nat(), fc.nat(2), fc.constantFrom(...SPOILERS))
    .map(([text, at, cut, put]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + put + text.slice(place + cut);
    });

  it('is found in whatever JSON.parse refuses, and in nothing else', () => {
    fc.assert(
      fc.property(spoilt, (text) => {
        expect(jsonFault(text) === null, text).to.equal(isJson(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is none in what only the rules for documents refuse', () => {
    for (const text of ['[1]', '{"a":1,"a":2}', '"\\ud800"', `${'9'.repeat(2_000)}`, '1e999'])
      expect(jsonFault(text), text).to.equal(null);
  });

  it('is not looked for beyond a hundred levels', () => {
    expect(jsonFault(`${'['.repeat(5_000)}x`)).to.equal(null);
  });
});
