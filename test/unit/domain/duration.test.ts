import { expect } from 'chai';
import fc from 'fast-check';
import { parseDuration } from '../../../src/domain/duration.ts';
import { words } from '../../support/words.ts';

const DAY = 86_400_000;

describe('parseDuration', () => {
  const read: [string, string, number][] = [
    ['00:15:00', '00:15:00', 900_000],
    ['60.00:00:00', '60.00:00:00', 60 * DAY],
    ['1.02:03:04.5', '1.02:03:04.5000000', DAY + 7_384_500],
    ['0.00:00:01', '00:00:01', 1000],
    ['007.00:00:00', '7.00:00:00', 7 * DAY],
    ['23:59:59.9999999', '23:59:59.9999999', 86_399_999.9999],
    ['00:00:00.0000001', '00:00:00.0000001', 0.0001],
    ['00:00:01.000', '00:00:01', 1000],
    ['10675199.02:48:05.4775807', '10675199.02:48:05.4775807', 922_337_203_685_477.6],
    ['PT15M', '00:15:00', 900_000],
    ['P60D', '60.00:00:00', 60 * DAY],
    ['P1DT2H', '1.02:00:00', DAY + 7_200_000],
    ['P2W', '14.00:00:00', 14 * DAY],
    ['PT36H', '1.12:00:00', 1.5 * DAY],
    ['PT90S', '00:01:30', 90_000],
    ['PT0.25S', '00:00:00.2500000', 250],
    ['PT1,5S', '00:00:01.5000000', 1500],
    ['P0DT1S', '00:00:01', 1000],
  ];
  for (const [text, canonical, milliseconds] of read) {
    it(`reads ${text}`, () => expect(parseDuration(text)).to.deep.equal({ text: canonical, milliseconds }));
  }

  const refused = [
    ...['', '00:15:00\n', ' 00:15:00', `P${'9'.repeat(5000)}D`],
    ...words(`
      00:00:00 PT0S -00:15:00 -PT15M +PT15M 15 24:00:00 00:60:00 00:00:60 0:15:00 00:15 1:00:00:00
      00:00:00.00000001 .00:15:00 00:15:00. P PT P1DT P1Y P1M P1Y2M3D PT1.5H PT1S2M PT.5S P-1D pt15m
      PT0.12345678S 10675199.02:48:05.4775808 99999999.00:00:00 P10675200D PT999999999999999H ٠٠:١٥:٠٠
    `),
  ];
  for (const text of refused) {
    it(`refuses ${JSON.stringify(text.slice(0, 30))}`, () => expect(parseDuration(text)).to.equal(null));
  }

  it('writes what it reads again the same', () => {
    const ticks = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(ticks, (value) => {
        const fraction = String(value % 10_000_000n).padStart(7, '0');
        const iso = parseDuration(`PT${value / 10_000_000n}.${fraction}S`);
        expect(iso).to.not.equal(null);
        expect(parseDuration(iso?.text ?? '')).to.deep.equal(iso);
        expect(iso?.milliseconds).to.equal(Number(value) / 10_000);
      }),
    );
  });
});
