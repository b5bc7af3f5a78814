import { expect } from 'chai';
import { printJson } from '../../../src/domain/json-text.ts';
import { redactAt, redactDocument, secureNames } from '../../../src/domain/secrets.ts';
import type { Value } from '../../../src/domain/value.ts';
import { definitionsOf, fromJs, mappingOf } from '../../support/parameter-values.ts';

const DEFINED = definitionsOf({
  password: { type: 'secureString' },
  'a/b~c': { type: 'secureObject' },
  user: { type: 'string' },
});

describe('what people are shown of secure parameters', () => {
  const secrets = secureNames(DEFINED, null);
  const at = (pointer: string, value: unknown) => printJson(redactAt(pointer, fromJs(value), secrets));

  it('is nothing at them and below them', () => {
    expect(at('/parameters/password', 'x')).to.equal('"<redacted>"');
    expect(at('/parameters/a~1b~0c/deep/er', [1])).to.equal('"<redacted>"');
    expect(at('/parameters/a~1b~0c', { x: 1 })).to.equal('"<redacted>"');
  });

  it('is everything elsewhere, also at a place of the same name', () => {
    expect(at('/parameters/user', 'x')).to.equal('"x"');
    expect(at('/parameters/user/password', 'x')).to.equal('"x"');
    expect(at('/parameters/passwords', 'x')).to.equal('"x"');
    expect(at('/password', 'x')).to.equal('"x"');
    expect(at('/other/password', 'x')).to.equal('"x"');
  });

  it('is nothing of them in a block that something else has replaced as a whole', () => {
    expect(at('/parameters', { password: 'x', user: 'y' })).to.equal('{"password":"<redacted>","user":"y"}');
    expect(at('/parameters', null)).to.equal('null');
  });

  it('is nothing of them in a document, and nothing at all where nobody can tell which they are', () => {
    const document = mappingOf({ parameters: { password: 'x', user: 'y' }, password: 'z' });
    const shown = (value: Value) => printJson(value);
    expect(shown(redactDocument(document, secrets))).to.equal(
      '{"parameters":{"password":"<redacted>","user":"y"},"password":"z"}',
    );
    expect(shown(redactDocument(document, 'all'))).to.equal(
      '{"parameters":{"password":"<redacted>","user":"<redacted>"},"password":"z"}',
    );
    expect(redactAt('/parameters/user', 'y', 'all')).to.equal('<redacted>');
  });
});
