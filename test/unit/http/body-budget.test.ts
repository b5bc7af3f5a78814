import { expect } from 'chai';
import { BodyBudget, type BodySender, type BodyShare } from '../../../src/http/body-budget.ts';
import { refusalBy } from '../../support/failures.ts';

const MIB = 1024 * 1024;
const known = (key: string): BodySender => ({ key, isKnown: true });
const stranger = (key: string): BodySender => ({ key, isKnown: false });

describe('what bodies hold while they are read', () => {
  const refusal = (work: () => unknown) => {
    const error = refusalBy(work);
    return error && { code: error.code, mayComeAgain: error.retryAfter !== undefined };
  };
  const REFUSED = { code: 'unavailable', mayComeAgain: true };
  /** Takes MiB after MiB until one is refused. */
  const takeAll = (share: BodyShare) => {
    let taken = 0;
    while (refusal(() => share.reserve(MIB)) === null) taken += 1;
    return taken;
  };

  it('is 64 MiB in all, and half of it of one caller, in one body or in many', () => {
    const budget = new BodyBudget(5 * MIB);
    const [first, second] = [budget.open(known('a')), budget.open(known('a'))];
    expect(takeAll(first)).to.equal(32);
    expect(refusal(() => second.reserve(1))).to.deep.equal(REFUSED);
    expect(takeAll(budget.open(known('b')))).to.equal(32);
    expect(refusal(() => budget.open(known('c')).reserve(1))).to.deep.equal(REFUSED);
  });

  it('is to be had again once a body has been read', () => {
    const budget = new BodyBudget(5 * MIB);
    const share = budget.open(known('a'));
    takeAll(share);
    share.close();
    expect(takeAll(budget.open(known('a')))).to.equal(32);
  });

  it('is a quarter of all callers that are not known yet, so that those who are have room', () => {
    const budget = new BodyBudget(5 * MIB);
    const taken = ['x', 'y', 'z'].map((key) => takeAll(budget.open(stranger(key))));
    expect(taken).to.deep.equal([16, 0, 0]);
    expect(takeAll(budget.open(known('a')))).to.equal(32);
  });

  it('is of at most eight bodies from one address of callers not known yet', () => {
    const budget = new BodyBudget(5 * MIB);
    const shares = Array.from({ length: 8 }, () => budget.open(stranger('x')));
    expect(refusal(() => budget.open(stranger('x')))).to.deep.equal(REFUSED);
    expect(refusal(() => budget.open(stranger('y')))).to.equal(null);
    shares[0]?.close();
    expect(refusal(() => budget.open(stranger('x')))).to.equal(null);
  });

  it('has room for the largest body that a route takes, however large that is', () => {
    const budget = new BodyBudget(200 * MIB);
    expect(takeAll(budget.open(known('a')))).to.equal(400);
  });
});
