import { expect } from 'chai';
import { parseTreePath, pointerOfPath, treePathOf } from '../../../src/domain/parameter-tree.ts';

describe('the path of a parameter file in a folder', () => {
  it('says configuration, scope and whether it is a passthrough, both ways', () => {
    const web = { configurationName: 'web', isPassthrough: false };
    const files = {
      'parameters/web/Default.yaml': { ...web, scopeType: 'Default', scopeValue: null },
      'parameters/web/Default.passthrough': {
        ...{ ...web, scopeType: 'Default', scopeValue: null, isPassthrough: true },
      },
      'parameters/web/Environment/prod.yaml': { ...web, scopeType: 'Environment', scopeValue: 'prod' },
      'parameters/web/Node/a.yaml.yaml': { ...web, scopeType: 'Node', scopeValue: 'a.yaml' },
    };
    for (const [path, file] of Object.entries(files)) {
      expect(parseTreePath(path)).to.deep.equal(file);
      expect(treePathOf(file)).to.equal(path);
    }
  });

  it('is no other', () => {
    for (const path of [
      'parameters/web',
      'parameters/web.yaml',
      'parameters/web/prod.yaml',
      'parameters/web/Environment/prod.yml',
      'parameters/web/Environment/prod.YAML',
      'parameters/web/Environment/.yaml',
      'parameters/web/Environment/a/b.yaml',
      'Parameters/web/Default.yaml',
      'web/Default.yaml',
      '',
    ])
      expect(parseTreePath(path), path).to.equal(null);
  });

  it('begins a JSON Pointer', () => {
    expect(pointerOfPath('parameters/we~b/Default.yaml')).to.equal('/parameters/we~0b/Default.yaml');
  });
});
