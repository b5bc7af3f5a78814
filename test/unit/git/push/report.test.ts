import { expect } from 'chai';
import { type PushOutcome, pushReport } from '../../../../src/git/push/report.ts';
import { A, B, unpacked, ZERO } from './support.ts';

const REPORT = ['report-status-v2'];
const BANDS = ['report-status-v2', 'side-band-64k'];

function reportTo(capabilities: readonly string[], told: Partial<PushOutcome>): Buffer {
  return pushReport(new Set(capabilities), { unpack: 'ok', outcomes: [], lines: [], ...told });
}

/** What a client with a side-band gets on each band, and the report in the first. Fails without a flush at the end. */
function bandsOf(answer: Buffer): { user: string; report: (string | null)[] } {
  const parts = unpacked(answer);
  expect(parts.pop()).to.equal(null);
  const on = (band: string) =>
    parts
      .filter((part) => part?.startsWith(band))
      .map((part) => part?.slice(1))
      .join('');
  for (const part of parts) expect(part?.[0]).to.be.oneOf(['\u0001', '\u0002']);
  return { user: on('\u0002'), report: unpacked(Buffer.from(on('\u0001'))) };
}

describe('pushReport', () => {
  const outcomes = [
    { name: 'refs/heads/a', error: null },
    { name: 'refs/heads/b', error: 'unknown_ref' },
  ];
  const became = { name: 'refs/tags/v1', from: null, to: B };

  it('tells the lines on one band and the statuses on the other', () => {
    const answer = reportTo(BANDS, { outcomes, lines: ['hawser: one', '', 'é'] });
    const { user, report } = bandsOf(answer);
    expect(user).to.equal('hawser: one\n\né\n');
    expect(report).to.deep.equal(['unpack ok\n', 'ok refs/heads/a\n', 'ng refs/heads/b unknown_ref\n', null]);
  });

  it('leaves out what the client did not ask for', () => {
    const told = { outcomes, lines: ['one'] };
    expect(unpacked(reportTo(REPORT, told))).to.have.length(4);
    expect(unpacked(reportTo(['report-status'], told))).to.have.length(4);
    expect(reportTo([], told)).to.have.length(0);
    expect(unpacked(reportTo(['side-band-64k'], told))).to.deep.equal(['\u0002one\n', null]);
  });

  it('tells what a ref became to a client that knows of that', () => {
    const moved = { name: 'refs/tags/v2', from: A, to: B };
    const told = {
      outcomes: [
        { name: 'refs/heads/a', error: null, became },
        { name: 'refs/heads/b', error: null, became: moved },
        { name: 'refs/heads/c', error: 'no', became },
      ],
    };
    expect(unpacked(reportTo(REPORT, told))).to.deep.equal([
      'unpack ok\n',
      'ok refs/heads/a\n',
      'option refname refs/tags/v1\n',
      `option old-oid ${ZERO}\n`,
      `option new-oid ${B}\n`,
      'ok refs/heads/b\n',
      'option refname refs/tags/v2\n',
      `option old-oid ${A}\n`,
      `option new-oid ${B}\n`,
      'ng refs/heads/c no\n',
      null,
    ]);
    expect(unpacked(reportTo(['report-status'], told))).to.deep.equal([
      'unpack ok\n',
      'ok refs/heads/a\n',
      'ok refs/heads/b\n',
      'ng refs/heads/c no\n',
      null,
    ]);
  });

  it('shows control characters as blanks, and keeps the names as they came', () => {
    const answer = reportTo(BANDS, {
      unpack: 'bad\npack',
      outcomes: [{ name: 'refs/heads/a\r\u001b[31m', error: 'x\nok refs/heads/a\r\0' }],
      lines: ['a\nremote: b', '\u001b[2J\u009b\r\0\t.'],
    });
    const { user, report } = bandsOf(answer);
    expect(user).to.equal('a remote: b\n [2J    .\n');
    expect(report).to.deep.equal([
      'unpack bad pack\n',
      'ng refs/heads/a\r\u001b[31m x ok refs/heads/a  \n',
      null,
    ]);
  });

  it('fits into packets, however long the lines and the list of refs are', () => {
    const many = Array.from({ length: 1_000 }, (_, n) => ({
      name: `refs/heads/${'é'.repeat(300)}${n}`,
      error: null,
    }));
    const lines = ['x'.repeat(65_514), 'y'.repeat(65_515), 'z'.repeat(200_000)];
    const answer = reportTo(BANDS, { outcomes: many, lines });
    // The report holds letters that are cut apart, so its bytes are joined and not its texts.
    const report: Buffer[] = [];
    let user = '';
    for (let at = 0; at < answer.length - 4; ) {
      const length = Number.parseInt(answer.toString('latin1', at, at + 4), 16);
      expect(length).to.be.within(6, 65_520);
      const data = answer.subarray(at + 5, at + length);
      if (answer[at + 4] === 1) report.push(data);
      else user += data.toString('latin1');
      at += length;
    }
    expect(user).to.equal(`${lines.join('\n')}\n`);
    expect(unpacked(Buffer.concat(report))).to.deep.equal([
      'unpack ok\n',
      ...many.map(({ name }) => `ok ${name}\n`),
      null,
    ]);
  });

  it('cuts a reason that has no room behind its name', () => {
    const name = `refs/heads/${'x'.repeat(65_423)}`;
    const lines = unpacked(reportTo(REPORT, { outcomes: [{ name, error: 'e'.repeat(100) }] }));
    expect(lines[1]).to.equal(`ng ${name} ${'e'.repeat(77)}\n`);
    expect(lines).to.have.length(3);
  });
});
