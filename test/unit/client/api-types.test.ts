import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { PROJECT } from '../../../scripts/support/project.ts';

const { generateApiTypes, readApiDocument } = await import(
  pathToFileURL(join(PROJECT, 'scripts/api-types.js')).href
);

describe('the types of the API for its clients', () => {
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
