/** `withdraw` of versions and of parameter files: what that does to nodes is told first, and asked about. */

import { splitText } from '../../domain/ways.ts';
import { type Context, YES } from '../declaration.ts';
import { Failure, UsageError } from '../errors.ts';
import { counted } from '../values.ts';

export const WITHDRAW_OPTIONS = {
  message: { value: 'REASON', short: 'm', summary: 'why, which is kept with the version' },
  'dry-run': { summary: 'say what nodes would get, and change nothing' },
  ...YES,
} as const;

/** What a withdrawal would do. Nothing pins a parameter file, so what it says of pins is left out. */
export interface Effect {
  nodes: number;
  direct: number;
  viaComposites: number;
  wouldGet: { version: string | null; nodes: number }[];
  pinned?: number;
  pinnedNodes?: { fqdn: string }[];
  pinnedBy?: { compositeName: string; version: string }[];
}

interface Withdrawal {
  /** How sentences name the version. */
  label: string;
  /** The command that offers it again. */
  restore: string;
  /** Tells what the withdrawal would do. */
  look(): Promise<Effect>;
  withdraw(reason: string): Promise<object>;
}

interface Asked extends Pick<Context, 'ask' | 'out'> {
  options: { message: string | undefined; 'dry-run': boolean; yes: boolean };
}

/** @throws UsageError without a reason; Failure where the answer is no, or nobody can be asked */
export async function withdrawVersion(
  { ask, out, options: { message, 'dry-run': isDry, yes: isYes } }: Asked,
  { label, restore, look, withdraw }: Withdrawal,
): Promise<void> {
  if (message === undefined && !isDry)
    throw new UsageError('Say why it is withdrawn by -m, or see what that does by --dry-run.');
  if (isDry || message === undefined) {
    const effect = await look();
    out.answer(effect, () => showEffect(label, effect, out));
    return;
  }
  if (!isYes) await ask.confirm(`${whatOf(label, await look())} Withdraw it?`, Failure);
  const done = await withdraw(message);
  out.answer(done, () => {
    out.text(`${sentence(label)} is withdrawn. Nodes get the next version that fits at their next poll.`);
    out.note(`"${restore}" offers it again.`);
  });
}

const sentence = (label: string) => label.replace(/^version /, 'Version ');

/** Such as `web 1.2.0 is offered to 3 nodes, of which 2 would get 1.1.0 and 1 nothing.` */
function whatOf(label: string, effect: Effect): string {
  const next = effect.wouldGet.map(({ version, nodes }) => `${nodes} would get ${version ?? 'nothing'}`);
  return `${offeredTo(label, effect)}${next.length === 0 ? '' : `: ${next.join(', ')}`}.`;
}

function offeredTo(label: string, effect: Effect): string {
  return `${sentence(label)} is offered to ${counted(effect.nodes, 'node')}${splitText({ ...effect, pinned: 0 })}`;
}

function showEffect(label: string, effect: Effect, out: Context['out']): void {
  const { wouldGet, pinned = 0, pinnedNodes = [], pinnedBy = [] } = effect;
  out.text(`${offeredTo(label, effect)}. Nothing was changed.`);
  if (wouldGet.length > 0)
    out.table(
      wouldGet,
      [
        { title: 'WOULD GET', cell: (each) => each.version ?? 'nothing' },
        { title: 'NODES', cell: (each) => each.nodes },
      ],
      '',
    );
  if (pinned > 0) {
    const named = pinnedNodes.map(({ fqdn }) => fqdn);
    const more = named.length > 0 && pinned > named.length ? [`${pinned - named.length} more`] : [];
    const names = named.length > 0 ? `: ${[...named, ...more].join(', ')}` : '';
    out.text(
      `${counted(pinned, 'node')} ${pinned === 1 ? 'is' : 'are'} pinned to it and will keep it${names}.`,
    );
  }
  for (const { compositeName, version: each } of pinnedBy)
    out.text(`The composite ${compositeName} ${each} is pinned to it, and keeps it.`);
}
