import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { validate } from 'dockerfile-utils';
import { PROJECT } from '../../scripts/support/project.ts';
import { health } from '../../src/operations/commands.ts';

const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');

describe('the Containerfile', () => {
  const text = read('scripts/container/Containerfile');
  /** Instructions with their arguments on one line, without comments. */
  const instructions = text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const argumentsOf = (name: string) =>
    instructions.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));

  it('has no fault that a linter finds', () => {
    expect(validate(text)).to.deep.equal([]);
  });

  it('runs as a user that is not root, by number so that an engine can tell', () => {
    expect(argumentsOf('USER').at(-1)).to.match(/^[1-9]\d*:[1-9]\d*$/);
  });

  it('takes in what it names and nothing else, so no key or database of the checkout', () => {
    const taken = argumentsOf('COPY')
      .filter((words) => !words.startsWith('--from='))
      .flatMap((words) => words.split(/\s+/).slice(0, -1));
    const scripts = ['api-types', 'build', 'build-clients', 'build-console', 'required-node'].map(
      (name) => `scripts/${name}.js`,
    );
    expect(taken).to.have.members([
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'docs/openapi.json',
      ...scripts,
      'src',
    ]);
    const [everything, ...exceptions] = read('.containerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(everything).to.equal('*');
    expect(exceptions).to.have.members(taken.map((path) => `!${path}`));
  });

  it('asks for the health of the server by a command that there is', () => {
    expect(argumentsOf('HEALTHCHECK').join()).to.match(new RegExp(`CMD \\["hawser", "${health.name}"\\]$`));
  });
});
