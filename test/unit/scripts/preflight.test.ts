import { expect } from 'chai';
import { DEMANDED_PROGRAMS, faultsOf, leftOut, type Machine } from '../../../scripts/preflight/machine.ts';

const GIB = 1024 ** 3;

/** A machine that has just what is needed. */
const GOOD: Machine = {
  node: '20.19.0',
  neededNode: '20.19',
  git: '2.36.0',
  programs: ['curl', 'openssl', 'unzip'],
  hasBetterSqlite: true,
  postgres: null,
  chromium: null,
  room: { memory: 2 * GIB, project: 2 * GIB, temporary: GIB },
  missingOptional: [],
};

const faultsWith = (difference: Partial<Machine>) => faultsOf({ ...GOOD, ...difference });

describe('what npm test asks of a machine before it begins', () => {
  it('is met by a machine that has just what is needed', () => {
    expect(faultsOf(GOOD)).to.deep.equal([]);
    expect(leftOut(GOOD)).to.equal(null);
  });

  it('is met by newer versions too', () => {
    expect(faultsWith({ node: '21.0.0', git: '3.0' })).to.deep.equal([]);
  });

  it('names everything that is missing at once, each with its remedy', () => {
    const found = faultsWith({
      node: '20.18.9',
      git: null,
      programs: ['curl'],
      postgres: 'no server: get one',
    });
    expect(found).to.deep.equal([
      'Node.js 20.18.9 is too old: install Node.js 20.19 or later',
      'git is missing: apt-get install git',
      'openssl is missing: apt-get install openssl',
      'unzip is missing: apt-get install unzip',
      'no server: get one',
    ]);
  });

  it('refuses a git that cannot do pushes', () => {
    expect(faultsWith({ git: '2.35.9' })).to.deep.equal(['git 2.35.9 is too old: install git 2.36 or later']);
  });

  it('wants compilers only where better-sqlite3 is not built', () => {
    expect(faultsWith({ hasBetterSqlite: false })).to.deep.equal([
      'g++ is missing: apt-get install g++',
      'make is missing: apt-get install make',
      'python3 is missing: apt-get install python3',
      'better-sqlite3 is not built: npm ci',
    ]);
    expect(faultsWith({ hasBetterSqlite: false, programs: DEMANDED_PROGRAMS })).to.deep.equal([
      'better-sqlite3 is not built: npm ci',
    ]);
  });

  it('says where there is too little room', () => {
    const room = { memory: 1.5 * GIB, project: 0, temporary: GIB - 1 };
    expect(faultsWith({ room })).to.deep.equal([
      'only 1.5 GiB of memory are available: end other programs, or take a machine with more memory (2 GiB are needed)',
      'only 0.0 GiB are free on the disk of this folder: delete files there (2 GiB are needed)',
      'only 0.9 GiB are free in the temporary folder: delete files there, or set TMPDIR to another folder (1 GiB are needed)',
    ]);
  });

  it('says in one line which tests are left out, which is no fault', () => {
    const machine = { ...GOOD, missingOptional: ['nginx', 'zsh'] };
    expect(faultsOf(machine)).to.deep.equal([]);
    expect(leftOut(machine)).to.match(/tests .* nginx, zsh$/);
  });
});
