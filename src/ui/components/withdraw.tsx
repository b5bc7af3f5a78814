/** Takes a published version back, after saying what that would do, and offers it again. */

import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, send } from '../client.ts';
import { type Kind, links } from '../links.ts';
import { can } from '../session.ts';
import type { FileWithdrawalEffect, PreviewChange, WithdrawalEffect } from '../types.ts';
import { DeedDialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Num } from './num.tsx';
import { Skeleton } from './page.tsx';
import { Problem } from './problem.tsx';

interface Props {
  /** What is withdrawn, such as `web 1.0.0`. */
  label: string;
  /** The address of its withdrawal. */
  path: string;
  /** Whose version it is; null for a parameter file, which nothing is pinned to. */
  of: { kind: Kind; name: string } | null;
  /** The names by which a change set knows it. */
  named: Names;
  onClose: () => void;
}

type Names =
  | { configurationName: string; version: string }
  | { compositeName: string; version: string }
  | { configurationName: string; scopeTypeName: string; scopeValue: string | null; version: string };

const deedOn = (deed: 'Withdraw' | 'Restore', named: Names, more: { reason?: string } = {}) =>
  ({ kind: 'scopeTypeName' in named ? `${deed}Parameters` : deed, ...named, ...more }) as PreviewChange;

export function WithdrawDialog({ label, path, of, named, onClose }: Props) {
  const [reason, setReason] = useState('');
  return (
    <DeedDialog
      heading={`Withdraw ${label}`}
      deed="Withdraw"
      isDanger
      onClose={onClose}
      collected={{ title: `Withdraw ${label}`, deeds: () => [deedOn('Withdraw', named, { reason })] }}
      run={async () => {
        await send('PUT', path, { reason });
        return `${named.version} is withdrawn. Nodes get the next version that fits at their next poll.`;
      }}
    >
      {(problem) => (
        <>
          <Effect {...{ path, of }} version={named.version} />
          <TextField
            label="Reason"
            name="reason"
            required
            value={reason}
            onInput={setReason}
            hint="Git keeps it, and everybody who reads the versions sees it."
            problem={problem}
          />
        </>
      )}
    </DeedDialog>
  );
}

/** What the dry run says. It is asked once, when the dialog opens. */
function Effect({ path, version, of }: Pick<Props, 'path' | 'of'> & { version: string }) {
  const [effect, setEffect] = useState<AnyEffect | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  useEffect(() => {
    send<AnyEffect>('PUT', `${path}${path.includes('?') ? '&' : '?'}dryRun=true`).then(
      ({ data }) => setEffect(data),
      (error: unknown) => {
        if (!(error instanceof ApiProblem)) throw error;
        setProblem(error);
      },
    );
  }, [path]);
  if (problem !== null) return <Problem problem={problem} />;
  if (effect === null) return <Skeleton lines={2} />;
  const { nodes, wouldGet } = effect;
  return (
    <section class="part" aria-label="What would happen">
      {nodes === 0 ? (
        <p>No node would get another version.</p>
      ) : (
        <>
          <p>
            <Num value={nodes} /> {nodes === 1 ? 'node is' : 'nodes are'} offered this version now
            {effect.viaComposites > 0 && `, ${effect.viaComposites} of them by composites`}. At their next
            poll:
          </p>
          <ul class="bullets">
            {wouldGet.map((next) => (
              <li key={next.version ?? ''}>
                <Num value={next.nodes} /> would get{' '}
                {next.version === null ? <strong>nothing</strong> : <strong>{next.version}</strong>}
              </li>
            ))}
          </ul>
        </>
      )}
      {of !== null && 'pinned' in effect && <Keepers {...{ effect, version }} {...of} />}
    </section>
  );
}

type AnyEffect = WithdrawalEffect | FileWithdrawalEffect;

interface KeepersProps {
  effect: WithdrawalEffect;
  kind: Kind;
  name: string;
  version: string;
}

/** Who is pinned to the version. */
function Keepers({ effect, kind, name, version }: KeepersProps) {
  const { pinned, pinnedBy } = effect;
  return (
    <>
      {pinned > 0 && <PinnedNodes {...{ effect, name, version }} />}
      {pinnedBy.length > 0 && (
        <>
          <p>{kind === 'composites' ? 'These are' : 'These composites are'} pinned to it and keep it:</p>
          <ul class="bullets">
            {pinnedBy.map((pin) => (
              <li key={`${pin.compositeName} ${pin.version}`}>
                <a href={links.version('composites', pin.compositeName, pin.version)}>
                  {pin.compositeName} {pin.version}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** The nodes that keep the version. In the list of nodes those that are assigned it can be assigned anew. */
function PinnedNodes({ effect: { pinned, pinnedNodes }, name, version }: Omit<KeepersProps, 'kind'>) {
  return (
    <>
      <p>
        <Num value={pinned} /> {pinned === 1 ? 'node is' : 'nodes are'} pinned to it and{' '}
        {pinned === 1 ? 'keeps' : 'keep'} it.
      </p>
      <ul class="bullets" aria-label="Pinned nodes">
        {pinnedNodes.map(({ nodeId, fqdn }) => (
          <li key={nodeId}>
            <a href={links.node(nodeId)}>{fqdn}</a>
          </li>
        ))}
        {pinnedNodes.length > 0 && pinned > pinnedNodes.length && (
          <li class="muted">and {pinned - pinnedNodes.length} more</li>
        )}
      </ul>
      {can('nodes.read') && can('nodes.assign-configuration') && (
        <p>
          <a href={links.nodes({ configurationName: name, version })}>Assign them anew</a> in the list of
          nodes, so that they follow.
        </p>
      )}
    </>
  );
}

export function OfferAgainDialog({ label, path, named, onClose }: Props) {
  return (
    <DeedDialog
      heading={`Offer ${label} again`}
      deed="Offer again"
      onClose={onClose}
      collected={{ title: `Offer ${label} again`, deeds: () => [deedOn('Restore', named)] }}
      run={async () => {
        await send('DELETE', path);
        return `${named.version} is offered again.`;
      }}
    >
      <p>Nodes for which it is the highest version that fits get it at their next poll.</p>
    </DeedDialog>
  );
}
