/** Takes a published version back, after saying what that would do, and offers it again. */

import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, send } from '../client.ts';
import { apiOf, type Kind, links } from '../links.ts';
import { can } from '../session.ts';
import type { WithdrawalEffect } from '../types.ts';
import { DeedDialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Num } from './num.tsx';
import { Skeleton } from './page.tsx';
import { Problem } from './problem.tsx';

interface Props {
  kind: Kind;
  name: string;
  version: string;
  onClose: () => void;
}

export function WithdrawDialog({ kind, name, version, onClose }: Props) {
  const [reason, setReason] = useState('');
  const path = apiOf(kind, name, 'versions', version, 'withdraw');
  return (
    <DeedDialog
      heading={`Withdraw ${name} ${version}`}
      deed="Withdraw"
      isDanger
      onClose={onClose}
      run={async () => {
        await send('PUT', path, { reason });
        return `${version} is withdrawn. Nodes get the next version that fits at their next poll.`;
      }}
    >
      {(problem) => (
        <>
          <Effect {...{ path, kind, name, version }} />
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
function Effect({ path, kind, name, version }: Omit<Props, 'onClose'> & { path: string }) {
  const [effect, setEffect] = useState<WithdrawalEffect | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  useEffect(() => {
    send<WithdrawalEffect>('PUT', `${path}?dryRun=true`).then(
      ({ data }) => setEffect(data),
      (error: unknown) => {
        if (!(error instanceof ApiProblem)) throw error;
        setProblem(error);
      },
    );
  }, [path]);
  if (problem !== null) return <Problem problem={problem} />;
  if (effect === null) return <Skeleton lines={2} />;
  const { nodes, wouldGet, pinnedBy, pinned } = effect;
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
    </section>
  );
}

interface PinnedProps extends Pick<Props, 'name' | 'version'> {
  effect: WithdrawalEffect;
}

/** The nodes that keep the version. In the list of nodes those that are assigned it can be assigned anew. */
function PinnedNodes({ effect: { pinned, pinnedNodes }, name, version }: PinnedProps) {
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

export function OfferAgainDialog({ kind, name, version, onClose }: Props) {
  return (
    <DeedDialog
      heading={`Offer ${name} ${version} again`}
      deed="Offer again"
      onClose={onClose}
      run={async () => {
        await send('DELETE', apiOf(kind, name, 'versions', version, 'withdraw'));
        return `${version} is offered again.`;
      }}
    >
      <p>Nodes for which it is the highest version that fits get it at their next poll.</p>
    </DeedDialog>
  );
}
