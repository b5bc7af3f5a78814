import { Writable } from 'node:stream';
import { expect } from 'chai';
import { type Column, Out } from '../../../src/cli/out.ts';

function makeOut(columns: number | null, settings: { isJson?: boolean; isPlain?: boolean } = {}) {
  const printed = { stdout: '', stderr: '' };
  const streamTo = (name: 'stdout' | 'stderr') =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          printed[name] += String(chunk);
          done();
        },
      }),
      columns === null ? {} : { isTTY: true, columns },
    );
  const out = new Out({
    ...{ stdout: streamTo('stdout'), stderr: streamTo('stderr') },
    ...{ isJson: false, isPlain: true, ...settings },
  });
  return { out, printed };
}

const COLUMNS: Column<{ name: string; note: string | null }>[] = [
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'NOTE', cell: ({ note }) => note },
];

describe('what hawserctl prints', () => {
  it('fits a table into the terminal by cutting what is widest', () => {
    const { out, printed } = makeOut(30);
    const items = [
      { name: 'web', note: 'a note that is much too long for a terminal' },
      { name: 'database', note: '日本語の長い説明がここにあります' },
      { name: 'cache', note: null },
    ];
    out.table(items, COLUMNS, 'none');
    expect(printed.stdout.split('\n')).to.deep.equal([
      'NAME      NOTE',
      'web       a note that is much…',
      'database  日本語の長い説明が…',
      'cache     -',
      '',
    ]);
  });

  it('cuts nothing where it is piped, and colours nothing', () => {
    const { out, printed } = makeOut(null, { isPlain: false });
    out.table([{ name: 'web', note: 'x'.repeat(300) }], COLUMNS, 'none');
    out.diff('--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n');
    expect(printed.stdout).to.include('x'.repeat(300)).and.not.include('\u001b');
  });

  it('colours a diff on a terminal, unless NO_COLOR is set', () => {
    const diff = '@@ -1 +1 @@\n-x\n+y\n';
    const coloured = makeOut(80, { isPlain: false });
    coloured.out.diff(diff);
    expect(coloured.printed.stdout).to.include('\u001b[32m+y');
    const plain = makeOut(80);
    plain.out.diff(diff);
    expect(plain.printed.stdout).to.equal(diff);
  });

  it('shows control characters by their numbers, and lets none break a line of a table', () => {
    const { out, printed } = makeOut(80);
    out.table([{ name: 'a\u001b[2Jb\nc', note: '\u202eevil' }], COLUMNS, 'none');
    out.text('x\u0007');
    expect(printed.stdout).to.include('a\\u001b[2Jb\\u000ac  \\u202eevil\n').and.include('x\\u0007\n');
  });

  it('shows progress on a terminal alone, and takes it away', () => {
    const { out, printed } = makeOut(80);
    out.progress('1 of 2');
    out.text('done');
    expect(printed.stderr).to.equal('1 of 2\r\u001b[K');
    const piped = makeOut(null);
    piped.out.progress('1 of 2');
    expect(piped.printed.stderr).to.equal('');
  });

  it('says on stderr that there is nothing', () => {
    const { out, printed } = makeOut(null);
    out.table([], COLUMNS, 'There is nothing.');
    expect(printed).to.deep.equal({ stdout: '', stderr: 'There is nothing.\n' });
  });
});
