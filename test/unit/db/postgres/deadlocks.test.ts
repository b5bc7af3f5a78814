import { expect } from 'chai';
import { againAfterDeadlock } from '../../../../src/db/postgres/deadlocks.ts';

/** An error as PostgreSQL sends it. */
const errorOf = (code: string) => Object.assign(new Error(code), { code, severity: 'ERROR' });

describe('work on PostgreSQL that ends in a deadlock', () => {
  /** @returns how often the work was begun, and how it ended */
  async function begun(...codes: string[]): Promise<[number, string]> {
    let tries = 0;
    const work = async () => {
      const code = codes[tries];
      tries += 1;
      if (code !== undefined) throw errorOf(code);
      return 'done';
    };
    const end = await againAfterDeadlock(work).catch((error: Error) => error.message);
    return [tries, end];
  }

  it('is done again, and ends after the third deadlock', async () => {
    expect(await begun()).to.deep.equal([1, 'done']);
    expect(await begun('40P01', '40P01')).to.deep.equal([3, 'done']);
    expect(await begun('40P01', '40P01', '40P01')).to.deep.equal([3, '40P01']);
  });

  it('is not done again after another error', async () => {
    expect(await begun('23505')).to.deep.equal([1, '23505']);
    expect(await begun('40P01', '57014')).to.deep.equal([2, '57014']);
  });
});
