import { expect } from 'chai';
import { pushAdvertisement } from '../../../../src/git/push/advertisement.ts';
import { A, B, unpacked, ZERO } from './support.ts';

const CAPABILITIES =
  'report-status report-status-v2 delete-refs quiet atomic ofs-delta side-band-64k push-options object-format=sha1 agent=hawser';

describe('pushAdvertisement', () => {
  it('lists refs by the bytes of their names, with the capabilities behind the first', () => {
    const refs = new Map([
      ['refs/heads/draft/\u{1f600}', A],
      ['refs/heads/draft/\uff5e', B],
      ['refs/tags/v1.0.0', A],
      ['refs/heads/Main', B],
    ]);
    expect(unpacked(pushAdvertisement(refs, []))).to.deep.equal([
      '# service=git-receive-pack\n',
      null,
      `${B} refs/heads/Main\0${CAPABILITIES}\n`,
      `${B} refs/heads/draft/\uff5e\n`,
      `${A} refs/heads/draft/\u{1f600}\n`,
      `${A} refs/tags/v1.0.0\n`,
      null,
    ]);
  });

  it('names the capabilities of a repository without refs', () => {
    expect(unpacked(pushAdvertisement([], []))).to.deep.equal([
      '# service=git-receive-pack\n',
      null,
      `${ZERO} capabilities^{}\0${CAPABILITIES}\n`,
      null,
    ]);
  });

  it('says where the history of the repository is cut', () => {
    const lines = unpacked(pushAdvertisement([['refs/heads/a', A]], [A, B]));
    expect(lines.slice(3)).to.deep.equal([`shallow ${A}\n`, `shallow ${B}\n`, null]);
  });
});
