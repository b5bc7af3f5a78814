import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { API_TYPES, generateApiTypes, readApiDocument } from '../../../scripts/api-types.ts';

describe('the types of the API for its clients', () => {
  it('are those of docs/openapi.json ("npm run api-types" writes them anew)', () => {
    expect(readFileSync(API_TYPES, 'utf8') === generateApiTypes(readApiDocument())).to.equal(true);
  });

  it('follow a change of the API', () => {
    const document = readApiDocument();
    const before = generateApiTypes(document);
    const { Configuration } = document.components.schemas;
    if (Configuration?.properties) Configuration.properties['owner'] = { type: ['string', 'null'] };
    expect(generateApiTypes(document)).to.not.equal(before);
    expect(generateApiTypes(document)).to.include('    owner?: string | null | undefined;\n');
  });

  it('refuse what they do not know', () => {
    const { paths, components } = readApiDocument();
    const schemas = { ...components.schemas, Odd: { type: 'tuple' } };
    expect(() => generateApiTypes({ paths, components: { schemas } })).to.throw('unknown type tuple');
  });
});
